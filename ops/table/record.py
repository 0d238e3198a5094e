"""What is known of an operator: its record in the table, and what a declaration may say.

A declaration says what differs from the default; readers ask the record, or the table for all
records of which something holds.  A new field is a row in `Known`, an attribute of `Operator` with
its default, and whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, TypedDict, Unpack

from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.schema import Signature
from ...typecheck.definitions.schema_text import parse_schema
from ..memory.dtype import Array
from ..memory.overlap import OutOverlap, Written
from .faces import Face
from .formula import Formula, Part
from .inline import Inline, Native
from .layouts import OutLayout
from .out_dtypes import CASTABLE, OutDtype
from .refusals import Refusal
from .without_data import Rows

__all__ = [
    "GENERATOR",
    "Cost",
    "Known",
    "Later",
    "Lazily",
    "Look",
    "OnSlices",
    "Operator",
    "Policy",
    "Told",
    "Traced",
    "of_twin",
]


Policy = Literal["", "lower", "full", "full-unless-dtype", "full-on-gpu", "widest", "banned"]
"""In which precision an operator takes its tensors where autocast is on."""


Look = Literal["", "again", "count", "dtype", "itself", "rank", "whole"]
"""What an operator tells of an array at a look (`ops/eager/looks.py`)."""


OnSlices = (
    Literal["", "dims", "elements", "folds", "products", "refused", "sizes"]
    | Literal["matrices", "pictures", "borders", "norms", "groups", "lookups", "einsum", "made"]
    | Literal["repeats", "classes", "places", "rows", "joined"]
)
"""How an operator that is no view runs on all slices of a batch at once: along dimensions that its
arguments name, or folds all where they name none, on each element by itself (where its record does
not tell), on matrices that broadcast, or to sizes that it is given; not at all where it is told
places in memory; the others are told in `ops/batching/families.py`."""


Told = Literal["", "elements", "place"]
"""What a forward takes after its arguments, which only the graph of a call knows: the type of the
elements of a list, which an empty one does not tell, or where the call stands."""


Traced = Literal["", "convolution", "correction", "factors", "sizes", "to"]
"""The form in which traces write an operator, where it is not the one that was called
(`ir/tracing/trace_arguments.py`)."""


Lazily = Literal["", "complex", "all"]
"""Of which tensors an operator gives a view that computes its elements when they are read."""


Cost = Literal[
    "",
    "added-product",
    "aligned",
    "attention",
    "attention-of-heads",
    "chain",
    "convolved",
    "convolved-back",
    "matrices",
    "pairs",
    "product",
    "product-transposed",
    "products-by-letters",
    "products-of-rows",
    "reads",
    "recurrent",
    "trilinear",
    "windows",
]
"""How the steps of an operator are counted (`interpreter/bounds/work.py`): "" and "reads" are a few
for each element that it reads."""


GENERATOR: Final = "Generator? "
"""What the schema of an operator that takes a generator holds."""

_WRITES_OUT: Final = re.compile(
    r"\*, .*Tensor\(\w!\)(\[\])? \w+\) -> |Tensor\(a!\) out\) -> ",
)


class Known(TypedDict, total=False):
    """The fields of a record that a declaration may give, as keywords; `Operator` explains them."""

    asks_if_lazy: bool
    autocast: Policy
    autocast_in_graphs: Policy
    between_devices: bool
    by_numbers: str
    cost: Cost
    counts_apart: bool
    cuts_off: bool
    data_dependent: Callable[..., bool]
    effects: bool
    face: Face
    first_in_python: bool
    first_name: str
    formula: tuple[Formula, ...]
    gradients: Mapping[str, Callable[..., object]]
    inline: tuple[Inline, ...]
    instruction: str
    is_given_numbers: bool
    later: Callable[..., Later | None] | None
    layout: str
    lazily: Lazily
    native: tuple[Native, ...]
    neutral: int
    numbers_between: bool
    of_form: bool
    of_layout: bool
    looks: Look
    of_leaves: bool
    on_slices: OnSlices
    order: str
    out: str
    parts: Callable[..., Sequence[Part]] | None
    prepared: bool
    quantized_prepared: bool
    out_dtype: OutDtype
    out_layout: OutLayout
    out_overlap: OutOverlap
    random: bool
    refuses: Refusal
    takes_numbers: bool
    told: Told
    traced: Traced
    trains_by: str
    unchosen: str
    row_fold: str
    rows: Rows
    scales: Callable[..., tuple[Array, Array] | None] | None
    slices: bool
    undefined: bool
    views: bool
    views_of_each: bool
    written: Written


def of_twin(known: Known) -> Known:
    """What is known of the in-place twin of an operator of which this is known."""
    twin = known.copy()
    twin.pop("autocast", None)
    twin.pop("autocast_in_graphs", None)
    twin.pop("first_in_python", None)
    twin.pop("first_name", None)
    twin.pop("formula", None)
    twin.pop("inline", None)
    twin.pop("instruction", None)
    twin.pop("later", None)
    twin.pop("layout", None)
    twin.pop("native", None)
    twin.pop("neutral", None)
    twin.pop("on_slices", None)
    twin.pop("order", None)
    twin.pop("out", None)
    twin.pop("out_dtype", None)
    twin.pop("out_layout", None)
    twin.pop("out_overlap", None)
    twin.pop("parts", None)
    twin.pop("prepared", None)
    twin.pop("takes_numbers", None)
    twin.pop("traced", None)
    twin.pop("unchosen", None)
    twin.pop("row_fold", None)
    twin.pop("rows", None)
    twin.pop("scales", None)
    return twin


class Later(Protocol):
    """A result that is not there yet: `fill` computes it, and what is done to it after that.

    `out` is the array it will be in, which nobody reads before.  What comes after is told as the
    kernels want it (`kernels/code/convolutions/frame.py`), with the arrays and numbers it takes.
    """

    out: Any

    @property
    def is_alone_at_hand(self) -> bool:
        """Whether the kernel that computes it with nothing after need not be compiled, or there is
        none."""

    def is_at_hand(self, after: object, operands: Sequence[object]) -> bool:
        """Whether the kernel that does all of it need not be compiled."""

    def prepare(self, after: object, operands: Sequence[object]) -> None:
        """Compile it."""

    def fill(self, after: object = ..., operands: Sequence[object] = ()) -> None:
        """Compute."""


class Operator:
    """One overload: its schema, its forward function, and what its declaration says of it."""

    autocast: Policy = ""
    """What becomes of its tensors where autocast is on in Python."""

    autocast_in_graphs: Policy = ""
    """The same in scripts that enter autocast: torch has two lists, and they differ."""

    between_devices: bool = False
    """Whether it copies what a tensor holds to another device; one overload says it for all."""

    cost: Cost = ""
    """How long it may take, by the sizes of its arguments, where it takes more than it reads."""

    counts_apart: bool = False
    """Whether writes to its result are not counted for the tensor whose memory it gives."""

    cuts_off: bool = False
    """Whether it gives a tensor's memory without its history."""

    data_dependent: Callable[..., bool] | None = None
    """Says of its arguments whether the sizes of the result depend on what tensors hold."""

    effects: bool = False
    """Whether it does something besides computing and changing its inputs, or asks for a mode."""

    face: Face = ""
    """Where Python finds it, if not by the rule (see `faces`); one overload says it for all."""

    first_in_python: bool = False
    """Whether calls from Python try it before the others of its name, where scripts do not."""

    first_name: str = ""
    """The name that its own is another word for; one overload says it for all, and for their
    in-place twins.  What is declared for operators of the first name holds for these, too."""

    formula: tuple[Formula, ...] = ()
    """How its elements are computed, where it is nothing but a function of theirs."""

    gradients: Mapping[str, Callable[..., object]] = MappingProxyType({})
    """Its gradients by argument, as rows give them (`ops/gradients/table/rows.py`), where they are
    written with nothing but tensors; else a row of a file of its own is joined to it by name."""

    inline: tuple[Inline, ...] = ()
    """How plans write it out."""

    instruction: str = ""
    """The instruction of the machine's own that does the same."""

    is_given_numbers: bool = False
    """Whether it is given, as they are, the plain numbers that stand where its schema has tensors.
    """

    unwatched: Operator | None = None
    """The operator itself, of one whose forward asks a mode, which computes with tensors
    (`ops/dispatching/`)."""

    later: Callable[..., Later | None] | None = None
    """Checks its operands and tells how its result can be computed together with what is done to
    that; None of operands for which there is no such way."""

    native: tuple[Native, ...] = ()
    """How native code writes it out."""

    neutral: int | None = None
    """The second operand with which graphs take it to give the first one (`n / 1`, too, is `n`);
    of tensors, where that has the result's dtype."""

    lazily: Lazily = ""
    """Of which tensors eager calls give a view in which elements are computed when they are read
    (`ops/conjugates/`); its forward computes them."""

    asks_if_lazy: bool = False
    """Whether it tells such views from others."""

    numbers_between: bool = False
    """Whether its keywords may stand between its tensors, as torch once had them."""

    scales: Callable[..., tuple[Array, Array] | None] | None = None
    """Checks its operands, without reading the first one, and gives the factor and the term of each
    channel by whose fused product and sum it is computed; None where it is not."""

    refuses: Refusal | None = None
    """The dtypes of its first tensor that it does not take, with torch's sentence about them."""

    of_form: bool = False
    """Whether it asks what kind of tensor it is given, not what that holds."""

    of_layout: bool = False
    """Whether it asks how a tensor lies: for sizes or steps, of which its result follows."""

    looks: Look = ""
    """What it tells of an array at a look, where nobody hears of it: its number of dimensions or of
    elements, whether they lie in one piece, what its dtype is like, or the array itself, if it lies
    in one piece, or the same once more."""

    of_leaves: bool = False
    """Whether it says what a tensor is to gradients: the one that it makes, or `self` in place."""

    on_slices: OnSlices = ""
    """How it runs on all slices of a batch; one overload says it for all."""

    order: str = ""
    """Overloads of its name, `-` the nameless one, that torch tries in this order, not by the rule.

    They share out the places that they have by rule (see `Table`); any overload may say it.
    """

    out: str | None = None
    """The overload of its `out=` form, "" where there is none; else `out`, or its own and `_out`.

    Operators over tensors that return new ones have such a form.  Names that its arguments for
    several results have of their own follow: `dim_max max max_values`.
    """

    out_dtype: OutDtype = CASTABLE
    """What the dtype of `out=` must be."""

    out_layout: OutLayout = ""
    """How an `out=` of another shape lies afterwards."""

    out_overlap: OutOverlap = ""
    """Whether `out=` may share memory with inputs."""

    parts: Callable[..., Sequence[Part]] | None = None
    """Says of a result and the arguments of which parts it is put together, if it is and they lie
    so that kernels can do it."""

    prepared: bool = False
    """Whether native code may learn its calls (`kernels/code/calls/prepared.py`): what it does
    follows from dtypes, sizes, strides and numbers, and kernels look for all elements that it
    refuses."""

    by_numbers: str = ""
    """The overload that takes numbers where this one takes tensors of one element, by full name."""

    quantized_prepared: bool = False
    """Whether, where tensors are quantized, kernels do all of it, or it says that they do not."""

    layout: str = ""
    """How its results lie in memory, a letter for each, where not as computed (see `layouts`)."""

    takes_numbers: bool = False
    """Whether Python may give its function a plain number where a tensor stands in the schema."""

    told: Told = ""
    """What its forward is told after its arguments."""

    traced: Traced = ""
    """How a trace writes it."""

    trains_by: str = ""
    """The argument that has it train: it then writes its running mean and variance, which its
    schema does not say.  They are the two arguments before."""

    unchosen: str = ""
    """Overloads of its name that a script never means by that name (a dtype is an int there)."""

    row_fold: str = ""
    """Which of the folds of `kernels/code/rows/expressions.py` it is of dimensions: its second
    argument, or its third one where "length" is a norm of an order.  Others are whether to keep
    them and, if there is one, a dtype."""

    rows: Rows | None = None
    """Which rows pass through it, where its results' sizes are to be had without computing."""

    slices: bool = False
    """Whether its several views are each made by itself, so that one of them may be written."""

    undefined: bool = False
    """Whether what its result holds is left open."""

    views: bool = False
    """Whether its result may be a view, though its schema does not say so."""

    views_of_each: bool = False
    """Whether its results are views of the tensors in its list, one of each."""

    written: Written = "checked"
    """What is looked at before it writes its first argument, if it does."""

    on_tensors: Callable[[Sequence[object]], object] | None = None
    """How it runs on tensors where gradients are wanted, if its own kernels record themselves."""

    quantized: Callable[..., object] | None = None
    """Its form for quantized tensors, joined to it (see `join_quantized`)."""

    on_arrays: Callable[..., object] | None = None
    """What the forward calls where its first argument is an ordinary array, if it has two forms."""

    def __init__(self, schema: str, forward: Callable[..., object], **known: Unpack[Known]) -> None:
        self.schema = schema
        self.full_name = schema[: schema.index("(")].strip()
        self.name, _, self.overload = self.full_name.partition(".")
        self.forward = forward
        if known:
            self.__dict__.update(known)

    @property
    def asks_form(self) -> bool:
        """Whether it asks what kind of tensor it is given, or how that lies."""
        return self.of_form or self.of_layout

    @property
    def makes_networks(self) -> bool:
        """Whether networks are made of it: convolutions, and what their kernels may do besides."""
        return self.later is not None or (self.quantized_prepared and self.cost == "convolved")

    def join_quantized(
        self,
        quantized: Callable[..., object],
        forward: Callable[..., object],
        *,
        prepared: bool = False,
    ) -> None:
        """Add a form for quantized tensors; `forward` chooses between it and the one there was.

        Raises:
            ValueError: there is one already.
        """
        if self.quantized is not None:
            raise ValueError(f"{self.full_name} has two forms for quantized tensors")
        self.quantized, self.on_arrays, self.forward = quantized, self.forward, forward
        self.quantized_prepared = prepared

    @made_once
    def random(self) -> bool:
        """Whether it draws random numbers: never computed at definition, though removed if unused.

        What takes a generator does; others say it, and draw from the default one.
        """
        return GENERATOR in self.schema

    @made_once
    def signature(self) -> Signature:
        """The parsed schema."""
        return parse_schema(self.schema)

    @made_once
    def is_in_place(self) -> bool:
        """Whether it writes into its first argument, `self`."""
        return self.schema.startswith("(Tensor(a!) self", len(self.full_name))

    @made_once
    def changes(self) -> bool:
        """Whether it would be noticed if it ran twice."""
        return self.effects or self.random or self.may_write

    @made_once
    def may_write(self) -> bool:
        """Whether it writes into what it is given, or does so if it trains."""
        return self.signature.is_mutable or bool(self.trains_by)

    @made_once
    def is_out_form(self) -> bool:
        """Whether it writes its results into arguments that are there for nothing else."""
        return _WRITES_OUT.search(self.schema) is not None

    @made_once
    def is_view(self) -> bool:
        """Whether results may be views of the first tensor that gradients follow."""
        returned = self.signature.returns
        alias = returned[0].alias if returned else None
        is_said = alias is not None and not alias.is_write and not self.cuts_off
        return is_said or self.views

    @made_once
    def views_by_form(self) -> bool:
        """Whether results may be views, and which follows from how its tensors lie and numbers."""
        is_view = self.is_view or self.views_of_each
        return is_view and not self.is_in_place and self.data_dependent is None

    @made_once
    def only_moves(self) -> bool:
        """Whether it gives views, or copies, of its first tensor and computes nothing."""
        is_view = self.is_view and not self.is_in_place
        return is_view and not self.formula and "dtype" not in self.schema

    @made_once
    def makes_memory(self) -> bool:
        """Whether it makes a tensor by options: of nothing, of sizes, or like another one."""
        return "bool? pin_memory" in self.schema and "non_blocking" not in self.schema

    @made_once
    def gives_number(self) -> bool:
        """Whether it gives a Python number."""
        return self.schema.rpartition("-> ")[2] in ("int", "float", "bool", "Scalar")

    def __repr__(self) -> str:
        return f"<operator {self.schema}>"

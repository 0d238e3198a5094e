"""The operator table: one entry an operator, everything else is derived from it.

    @operator("aten::tanh(Tensor self) -> Tensor")
    def tanh(self: Array) -> Array:
        return unary(np.tanh, self)

The function is the operator's forward over run-time values: a Tensor is a bare `numpy.ndarray` (0-d
stays an array), an int, float, bool, complex or str is the Python value, lists and dicts are the
Python ones and may be changed in place, a dtype, layout or memory format is its number, a device a
`Device`, None is None.  It is called with all arguments of the schema, in order, by position;
several results are returned as a tuple.  Schema text is parsed when it is first needed.

A forward that works in place returns its own argument.  Floating-point warnings of NumPy are the
caller's to switch off (`numpy.errstate`), once for as many forwards as it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, TypeVar, Unpack, get_args

from ...frontend.foundations.locks import fork_safe_lock
from ...frontend.foundations.made_once import made_once
from ...typecheck.definitions.schema import AliasInfo, Argument, Signature
from ...typecheck.types.types import TENSOR
from ..memory.overlap import guarded
from .faces import Face, face_of
from .layouts import laid_out
from .out_forms import Outs, into_out, into_outs, out_schema, outs_of
from .places import placed
from .record import GENERATOR, Known, Operator
from .refusals import refusing

__all__ = ["TABLE", "Operator", "Table", "operator"]

Forward = TypeVar("Forward", bound=Callable[..., object])
Said = TypeVar("Said")
Mark = Literal[
    "asks_if_lazy",
    "effects",
    "lazily",
    "of_form",
    "of_leaves",
    "random",
    "trains_by",
    "undefined",
]


class _OutForm(Operator):
    """The out= form of an operator that returns new tensors."""

    def __init__(self, plain: Operator, outs: Outs) -> None:
        schema = out_schema(plain.name, outs, plain.schema)
        forward: Callable[..., object] = into_out(plain, plain.forward)
        if len(outs.names) > 1:
            forward = into_outs(plain, plain.forward, outs.returned)
        known: Known = {"cost": plain.cost, "random": plain.random, "trains_by": plain.trains_by}
        super().__init__(schema, forward, **known)
        self._plain = plain
        self._outs = outs

    @made_once
    def signature(self) -> Signature:
        """The other form's, with more arguments: much quicker than parsing."""
        plain = self._plain.signature
        written = [AliasInfo((letter,), is_write=True) for letter in self._outs.letters]
        outs = [
            Argument(name, TENSOR, keyword_only=True, alias=alias)
            for name, alias in zip(self._outs.names, written, strict=True)
        ]
        return replace(
            plain,
            overload=self.overload,
            arguments=(*plain.arguments, *outs),
            returns=tuple(
                Argument(name, TENSOR, alias=alias)
                for name, alias in zip(self._outs.returned, written, strict=True)
            ),
        )


def _is_of_tensors(entry: Operator) -> bool:
    """Whether it takes or gives tensors; those of dicts, whose keys they may be, are none."""
    return "Tensor" in entry.schema and "Dict(" not in entry.schema


def _rearranged(entries: list[Operator], order: str) -> list[Operator]:
    """Overloads of which some, named in `order`, share out their places in that order."""
    named = {entry.overload or "-": entry for entry in entries}
    moved = iter([named[word] for word in order.split() if word in named])
    words = set(order.split())
    return [next(moved) if (entry.overload or "-") in words else entry for entry in entries]


_ORDERING: Final = fork_safe_lock()


def _left_out() -> frozenset[str]:
    """The lines of a file that only bundles have beside this one."""
    names = Path(__file__).with_name("left_out.txt")
    return frozenset(names.read_text("utf-8").split()) if names.exists() else frozenset()


class Table:
    """The operators by name; the overloads of a name are kept in the order torch tries them."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[Operator]] = {}
        self._by_full_name: dict[str, Operator] = {}
        self._in_order: set[str] = set()
        self.unchosen: set[str] = set()
        """The full names of overloads that scripts do not mean by the name alone."""
        self.left_out = _left_out()
        """The names of operators that a bundle of part of the library does not have."""
        self._later: dict[str, Callable[[], object]] = {}
        self._starts: tuple[str, ...] = ()
        self._names_with: dict[Mark, frozenset[str]] = {}
        self._first_names: dict[str, str] = {}
        self._signatures: dict[str, Sequence[Signature]] = {}

    def add(self, entry: Operator) -> None:
        """Add an overload.

        Raises:
            ValueError: there is one of that name already.
        """
        if entry.full_name in self._by_full_name:
            raise ValueError(f"{entry.full_name} is declared twice")
        self._by_full_name[entry.full_name] = entry
        self._names_with, self._first_names, self._signatures = {}, {}, {}
        self.unchosen.update(f"{entry.name}.{word}" for word in entry.unchosen.split())
        self._by_name.setdefault(entry.name, []).append(entry)
        self._in_order.discard(entry.name)

    def remove(self, entry: Operator) -> None:
        """Take an overload away that somebody added."""
        del self._by_full_name[entry.full_name]
        self._names_with, self._first_names, self._signatures = {}, {}, {}
        left = [other for other in self._by_name[entry.name] if other is not entry]
        if left:
            self._by_name[entry.name] = left
        else:
            del self._by_name[entry.name]

    def later(self, start: str, declare: Callable[[], object]) -> None:
        """Have operators whose names start so (`prims::`) declared when one is first asked for."""
        self._later[start] = declare
        self._starts = tuple(self._later)

    def _declared_late(self, name: str) -> list[Operator] | None:
        """The overloads of a name that is declared later, if it is one."""
        if not name.startswith(self._starts):
            return None
        with _ORDERING:
            for start in [each for each in self._later if name.startswith(each)]:
                self._later[start]()
                del self._later[start]
            self._starts = tuple(self._later)
        return self._by_name.get(name)

    def operators(self, name: str) -> Sequence[Operator]:
        """The overloads of `aten::add`; empty for an unknown name."""
        found = self._by_name.get(name)
        if found is None:
            found = self._declared_late(name)
        if found is None:
            return []
        if name not in self._in_order:
            with _ORDERING:
                if name not in self._in_order:
                    self._put_in_order(name)
            found = self._by_name[name]
        return found

    def _put_in_order(self, name: str) -> None:
        """Exchange a name's overloads for a list with the out= forms, in the order of trying.

        By rule those of tensors come first, as declared, then out= forms, then all others.
        """
        declared = self._by_name[name]
        first = [entry for entry in declared if _is_of_tensors(entry)]
        rest = [entry for entry in declared if not _is_of_tensors(entry)]
        found = [*first, *self._out_forms(name), *rest]
        for order in dict.fromkeys(entry.order for entry in declared if entry.order):
            found = _rearranged(found, order)
        self._by_name[name] = found
        self._in_order.add(name)

    def _out_forms(self, name: str) -> list[Operator]:
        """The out= forms of a name's overloads, where torch has them and nobody wrote one."""
        found: list[Operator] = []
        for plain in self._by_name[name]:
            outs = outs_of(plain.schema, plain.overload, plain.out)
            if outs is not None and f"{name}.{outs.overload}" not in self._by_full_name:
                form = _OutForm(plain, outs)
                self._by_full_name[form.full_name] = form
                found.append(form)
        return found

    def operator(self, full_name: str) -> Operator | None:
        """The overload `aten::add.Tensor`, or None."""
        if full_name not in self._by_full_name:
            self.operators(full_name.partition(".")[0])
        return self._by_full_name.get(full_name)

    def of(self, signature: Signature) -> Operator:
        """The operator that a signature of this table belongs to."""
        return self._by_full_name[signature.full_name]

    def overloads(self, name: str) -> Sequence[Signature]:
        """The signatures of `aten::add`'s overloads, in order; empty for an unknown name."""
        known = self._signatures
        found = known.get(name)
        if found is None:
            found = known[name] = [entry.signature for entry in self.operators(name)]
        return found

    def names(self) -> list[str]:
        """All qualified names."""
        return list(self._by_name)

    def said(self, name: str, ask: Callable[[Operator], Said]) -> Said | None:
        """What the first overload of a name that has an answer answers; None if none has."""
        answers = map(ask, self._by_name.get(name, ()))
        return next((answer for answer in answers if answer), None)

    def first_name(self, name: str) -> str:
        """The name that stands for a second one (`aten::abs_` for `aten::absolute_`), or itself."""
        known = self._first_names
        if name not in known:
            twin = "_" if name.endswith("_") else ""
            first = self.said(name.removesuffix("_"), lambda entry: entry.first_name)
            known[name] = f"aten::{first}{twin}" if first else name
        return known[name]

    def taking_numbers(self, name: str) -> Operator | None:
        """The overload of a name, or of its twin, to whose tensors Python may give numbers."""
        plain = self.first_name(name.removesuffix("_"))
        return next((e for e in self._by_name.get(plain, ()) if e.takes_numbers), None)

    def names_with(self, what: Mark) -> frozenset[str]:
        """The qualified names of the operators of which an overload is marked so."""
        known = self._names_with
        if not known:
            known = self._names_with = self._by_marks()
        return known[what]

    def _by_marks(self) -> dict[Mark, frozenset[str]]:
        """The names of marked operators: one goes through the table for all marks."""
        marks: tuple[Mark, ...] = get_args(Mark)
        found = {mark: set[str]() for mark in marks}
        for entry in self:
            said = vars(entry)  # all else is as the class has it, and that is no mark
            for mark in found.keys() & said.keys():
                if said[mark]:
                    found[mark].add(entry.name)
            if "random" not in said and GENERATOR in entry.schema:
                found["random"].add(entry.name)
        return {mark: frozenset(names) for mark, names in found.items()}

    @property
    def effects(self) -> frozenset[str]:
        """See `typecheck.definitions.schema.OperatorTable`."""
        return self.names_with("effects") | self.names_with("random")

    def faces(self) -> dict[str, Face]:
        """Where Python finds the operators of `aten`, by qualified name."""
        return {
            name: face_of(name.removeprefix("aten::"), entries)
            for name, entries in self._by_name.items()
            if name.startswith("aten::")
        }

    def __iter__(self) -> Iterator[Operator]:
        """All overloads known so far; out= forms are derived when their name is looked up."""
        return iter(list(self._by_full_name.values()))

    def __len__(self) -> int:
        return len(self._by_full_name)


TABLE = Table()
"""The operators of rushlight; the family files of this folder fill it when `ops` is imported."""


def operator(*schemas: str, **known: Unpack[Known]) -> Callable[[Forward], Forward]:
    """Declare the decorated function as the forward of one or more overloads.

    Keywords are the fields of their records (see `Operator`).
    """

    def declare(forward: Forward) -> Forward:
        for schema in schemas:
            name = schema[: schema.index("(")].partition(".")[0]
            taken = laid_out(known.get("layout", ""), refusing(known.get("refuses"), forward))
            taken = placed(schema, taken)
            in_place = name.endswith("_") and schema.startswith(
                "(Tensor(a!) self", schema.index("(")
            )
            if in_place:
                taken = guarded(known.get("written", "checked"), taken)
            TABLE.add(Operator(schema, taken, **known))
        return forward

    return declare

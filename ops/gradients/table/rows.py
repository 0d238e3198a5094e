"""The table of gradients: one row an operator.

    gradient(
        "aten::mul",
        self=lambda g, other: g * conj(other),
        other=lambda g, self: g * conj(self),
    )

A formula stands for one argument.  Its own parameters say by name what it needs, and only that is
kept: `g` is the result's gradient, `result` the result (`result1` the second), `gs` and `results`
those of all results, `other` an argument of the operator, `other_sizes` and `other_dtype` just its
sizes or its dtype.  A parameter that the overload does not have gets the formula's default.  A
formula may give a gradient of another shape or dtype than its argument's: broadcasting is summed
up, dtypes are converted back.  Formulas call operators, so gradients have gradients.

`joint` declares a formula that gives the gradients of several arguments at once, `composite` an
operator by others: its gradient is theirs; `rewritten` does so while it runs.  A row without an
overload's name is for all overloads, and for the in-place twin too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, NoReturn, TypeVar, overload

from ....frontend.foundations.declared import Declared
from ...eager.aten import Several, aten
from ...memory.dtype import Scalar
from ...table.table import TABLE, Operator
from ...tensors.tensor import Tensor

__all__ = [
    "DIRECT",
    "Formula",
    "Grads",
    "Ints",
    "Lies",
    "ROWS",
    "Row",
    "Run",
    "Several",
    "Tensors",
    "Wanted",
    "aten",
    "composite",
    "conj",
    "constant",
    "direct",
    "gradient",
    "joint",
    "lying",
    "moving",
    "node_name",
    "refused",
    "rewritten",
    "same_as",
    "undifferentiated",
]

Ints = Sequence[int]
Tensors = Sequence[Tensor]
Grads = Sequence[Tensor | None]
"""Gradients of several tensors; None of one that nothing depends on."""
Wanted = Mapping[str, bool]
"""Of each argument whether its gradient is asked for."""
Lies = Literal[
    "",
    "by rows",
    "by columns",
    "all by columns",
    "as the first",
    "as the gradient",
    "as images",
    "as convolved",
    "as solved",
]
"""How gradients lie: contiguous, or matrices by columns, wide ones by rows or by columns, too; like
the first argument; images with channels last where the result's gradient has them last, or where
the arguments had.  What is convolved lies as images, but for volumes of float64, which torch
convolves in another way; solutions by columns if they stand on the right of the matrix, else by
rows."""
Formula = Callable[..., Any]
F = TypeVar("F", bound=Formula)
Run = Callable[..., Any]
"""Runs an overload, `aten::mul.Tensor`, on machine values, and records it."""
Refusing = str | Callable[[Sequence[Any]], str | None]
"""What an error calls the operator, empty for its own name, or a function of its arguments that
tells it; None where they may have gradients."""
Rewriting = Callable[..., Any]
"""Like a forward, with `Run` before its arguments; None where the operator itself is to run."""


@dataclass
class Row:
    """The gradient of an operator.

    `formulas` are by argument; `joint` gives the gradients of the arguments `of`, and gets
    `wanted`, which says of each whether it is asked for; `composite` computes the operator from
    others.  Of one that is `rewritten` others run and are recorded in its place, unless that gives
    None; one that is the `first_of` the results of another operator of the same arguments is so
    rewritten where nobody listens.  An operator that
    `moves` puts the elements of the arguments `of` somewhere else, and nothing more but the number
    `filled_by` an argument, where that is named.  `name` is the
    node's, `AddBackward0`, or a function of the arguments.  Results that stand `apart`, by number,
    need no gradients though they hold floats.  `lays` says how torch lays its gradients, all or
    those of single arguments, where that is not how formulas leave them.  The gradients of an
    operator with arguments `together` are results of one operator in torch, which depend on those.
    Arguments that it `refuses` may not require gradients.
    """

    operator: str
    formulas: dict[str, Formula] = field(default_factory=dict)
    joint: Formula | None = None
    of: tuple[str, ...] = ()
    composite: Formula | None = None
    name: str | Callable[..., str] | None = None
    rewritten: Rewriting | None = None
    is_constant: bool = False
    moves: bool = False
    filled_by: str = ""
    first_of: str = ""
    apart: tuple[int, ...] = ()
    lays: Lies | Mapping[str, Lies] = ""
    together: tuple[str, ...] = ()
    refuses: Mapping[str, Refusing] = field(default_factory=dict)


ROWS: Final[Declared[str, Row]] = Declared()
"""By operator, `aten::mul` or `aten::mul.Scalar`."""

DIRECT: Final[Declared[str, tuple[Formula, tuple[str, ...], bool]]] = Declared()
"""Forms of gradients beside those of rows, whose they are, and whether they can be differentiated
themselves."""


def _put(row: Row) -> None:
    ROWS.put([row.operator], row)


def gradient(
    *operators: str,
    name: str | Callable[..., str] | None = None,
    apart: tuple[int, ...] = (),
    lays: Lies | Mapping[str, Lies] = "",
    **formulas: Formula,
) -> None:
    """Declare the gradients of operators by formulas, one an argument."""
    for operator in operators:
        _put(Row(operator, formulas=formulas, name=name, apart=apart, lays=lays))


def joint(
    *operators: str, of: str, name: str | None = None, lays: Lies | Mapping[str, Lies] = ""
) -> Callable[[F], F]:
    """Declare the decorated function to give the gradients of several arguments, as a tuple."""

    def declare(formula: F) -> F:
        for operator in operators:
            given = tuple(of.split())
            _put(Row(operator, joint=formula, of=given, name=name, lays=lays))
        return formula

    return declare


def composite(
    *operators: str,
    name: str | Callable[..., str] | None = None,
    apart: tuple[int, ...] = (),
    lays: Lies | Mapping[str, Lies] = "",
) -> Callable[[F], F]:
    """Declare the decorated function to compute what operators do, from others."""

    def declare(formula: F) -> F:
        for operator in operators:
            _put(Row(operator, composite=formula, name=name, apart=apart, lays=lays))
        return formula

    return declare


def direct(*operators: str, of: str, of_operators: bool = False) -> Callable[[F], F]:
    """Declare the decorated function to give the gradients of several arguments, as a tuple of
    tensors, where these need no gradients of their own, or everywhere if it is made of operators;
    None for calls that it leaves to the operator's formulas or its composite.

    Beside formulas it may read `g`, `result`, sizes, arguments, None in the place of tensors that
    the formulas did not keep, and `asked`: of each argument `of` whether its gradient is asked for.
    """

    def declare(formula: F) -> F:
        DIRECT.put(operators, (formula, tuple(of.split()), of_operators))
        return formula

    return declare


def rewritten(operator: str, first_of: str = "") -> Callable[[F], F]:
    """Declare the decorated function to run in an operator's place where gradients are recorded:
    what the operator draws at random is then an argument of another one, which keeps it.  A row
    that there is stands for the calls that are not rewritten."""

    def declare(rewriting: F) -> F:
        row = ROWS.get(operator, Row(operator))
        ROWS.exchange(operator, replace(row, rewritten=rewriting, first_of=first_of))
        return rewriting

    return declare


def moving(*operators: str, of: str = "self", name: str | None = None, filled_by: str = "") -> None:
    """Declare operators that do nothing but put elements somewhere else, or several times, or not
    at all: where they come from is found by running the operator on the numbers of their places.
    """
    for operator in operators:
        _put(Row(operator, of=tuple(of.split()), name=name, moves=True, filled_by=filled_by))


def constant(*operators: str) -> None:
    """Declare operators whose results do not depend on any tensor's values smoothly, or have their
    history by then: none of them needs gradients."""
    for operator in operators:
        _put(Row(operator if "::" in operator else f"aten::{operator}", is_constant=True))


def lying(lies: Lies | Mapping[str, Lies], *operators: str) -> None:
    """Say how the gradients of operators lie that have rows, all or those of single arguments."""
    for operator in operators:
        name = f"aten::{operator}"
        ROWS.exchange(name, replace(ROWS[name], lays=lies))


def giving_together(of: str, *operators: str) -> None:
    """Say that the gradients of operators that have rows are results of one operator of the
    gradient and these arguments: if any of them requires gradients, all results do."""
    for operator in operators:
        name = f"aten::{operator}"
        ROWS.exchange(name, replace(ROWS[name], together=tuple(of.split())))


def undifferentiated(of: str, *operators: str, called: Refusing = "") -> None:
    """Say which arguments of operators that have rows may not require gradients, and what the error
    calls the operator where that is not its own name."""
    for operator in operators:
        name = f"aten::{operator}"
        ROWS.exchange(name, replace(ROWS[name], refuses=dict.fromkeys(of.split(), called)))


def same_as(operator: str, *others: str) -> None:
    """Give other operators the row of one."""
    ROWS.put(others, ROWS[operator])


def refused(what: str) -> Formula:
    """The formula of an argument that torch has no gradient for."""

    def formula(g: Tensor) -> NoReturn:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return formula


def node_name(entry: Operator, row: Row | None, in_script: bool) -> str:
    """The name of an operator's nodes, where that does not depend on arguments."""
    if row is None:
        return "NotImplemented"
    if isinstance(row.name, str):
        return row.name
    words = TABLE.first_name(entry.name).partition("::")[2].strip("_").split("_")
    # Python calls the overload of tensors for numbers, too
    is_scripts = in_script and entry.overload == "Scalar"
    number = int(is_scripts and TABLE.taking_numbers(entry.name) is not None)
    name = "".join(w[:1].upper() + w[1:] for w in words)
    return re.sub(r"(?<=\d)[a-z]", lambda m: m[0].upper(), name) + f"Backward{number}"


@overload
def conj(value: Tensor) -> Tensor: ...
@overload
def conj(value: Scalar) -> Scalar: ...
def conj(value: Tensor | Scalar) -> Tensor | Scalar:
    """The complex conjugate of a tensor or number; real ones are their own."""
    if isinstance(value, Tensor):
        return value.conj_physical() if value.dtype.is_complex else value
    return value.conjugate() if isinstance(value, complex) else value

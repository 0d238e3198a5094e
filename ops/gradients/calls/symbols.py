"""Formulas of gradients by symbols: the pointwise operators that a formula calls are written down.

A `Symbol` stands for an array.  What is done with symbols becomes a list of tasks, operators with
formulas of single elements; a formula that does something else, or looks at numbers or sizes, is
left to run on tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ....typecheck.types.types import TENSOR
from ...table.formula import Formula
from ...table.record import Operator
from ...table.table import TABLE
from ...tensors.tensor import Tensor

__all__ = ["NotPointwise", "Symbol", "Task", "Writing"]


class NotPointwise(Exception):
    """A formula does something else than to call pointwise operators."""


class Task(NamedTuple):
    """An operator, the formula that stands for it, its arguments with symbols among them, and the
    symbol of its result."""

    entry: Operator
    formula: Formula
    args: tuple[object, ...]
    result: Symbol


class Writing:
    """The tasks that symbols leave behind, in order."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def call(
        self, name: str, args: Sequence[object], given: Mapping[str, object] | None = None
    ) -> Symbol:
        """Write down a call of an operator.

        Raises:
            NotPointwise: no overload of single elements takes such arguments.
        """
        for entry in TABLE.operators(name):
            full = _filled(entry, args, given or {})
            formula = None if full is None else _formula(entry, full)
            if formula is not None and full is not None:
                made = Symbol(self)
                self.tasks.append(Task(entry, formula, full, made))
                return made
        raise NotPointwise(name)


def _filled(
    entry: Operator, args: Sequence[object], given: Mapping[str, object]
) -> tuple[object, ...] | None:
    """The arguments of an overload, with its defaults; None if it does not take them."""
    if entry.is_in_place or entry.is_out_form:
        return None
    full = list(args)
    arguments = entry.signature.arguments
    if len(full) > len(arguments) or not given.keys() <= {each.name for each in arguments}:
        return None
    for argument in arguments[len(full) :]:
        if argument.name in given:
            full.append(given[argument.name])
        elif argument.has_default:
            full.append(argument.default)
        else:
            return None
    for argument, value in zip(arguments, full, strict=True):
        if argument.type == TENSOR:
            if type(value) is not Symbol:
                return None
        elif value is not None and type(value) not in _NUMBERS:
            return None
    return tuple(full)


_NUMBERS: Final = (int, float, bool)


def _formula(entry: Operator, args: Sequence[object]) -> Formula | None:
    for each in entry.formula:
        at = each.at.items()
        if all(type(args[place]) is type(one) and args[place] == one for place, one in at):
            taken = [args[place] for place in each.operands]
            return None if any(value is None for value in taken) else each
    return None


def _operator(name: str) -> Callable[..., Any]:
    def call(self: Symbol, other: object) -> Symbol:
        return self.writing.call(f"aten::{name}", (self, other))

    return call


class _Real:
    """An array of which only the kind of its elements is known."""

    class dtype:
        """A dtype of floats."""

        kind = "f"


_REAL: Final = _Real()


class Symbol:
    """Stands for an array of floats in a formula, which takes it for a tensor."""

    __slots__ = ("writing",)
    __hash__ = object.__hash__

    def __init__(self, writing: Writing) -> None:
        self.writing = writing

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return Tensor

    @property
    def _array(self) -> object:
        """What formulas look at to find out whether it is complex."""
        return _REAL

    __add__ = __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub"), _operator("rsub")
    __mul__ = __rmul__ = _operator("mul")
    __truediv__, __pow__ = _operator("div"), _operator("pow")
    __lt__, __le__ = _operator("lt"), _operator("le")
    __gt__, __ge__ = _operator("gt"), _operator("ge")
    __eq__, __ne__ = _operator("eq"), _operator("ne")

    def __rtruediv__(self, other: object) -> Symbol:
        found: Symbol = self.reciprocal() * other
        return found

    def __neg__(self) -> Symbol:
        return self.writing.call("aten::neg", (self,))

    def __bool__(self) -> bool:
        raise NotPointwise("bool")

    def __getattr__(self, name: str) -> Callable[..., Symbol]:
        if name.startswith("_") or name in _FACTS:
            raise NotPointwise(name)

        def call(*args: object, **given: object) -> Symbol:
            return self.writing.call(f"aten::{name}", (self, *args), given)

        return call

    @classmethod
    def __torch_function__(
        cls,
        func: object,
        types: object,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> Symbol:
        """Functions of operators are written down, too."""
        name = getattr(func, "operator_name", None)
        symbol = next((each for each in args if type(each) is Symbol), None)
        if name is None or symbol is None:
            raise NotPointwise(str(func))
        return symbol.writing.call(name, args, kwargs)


_FACTS: Final = frozenset(
    "shape dtype ndim device layout is_sparse T mT H mH real imag grad data names".split()
)

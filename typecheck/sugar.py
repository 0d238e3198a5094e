"""What an expression can stand for besides a value: things that exist only while checking.

`range(3)`, `x.tanh` without its call, a module `math`: each has a form here.  `Sugar` is whatever
the checker gets from an expression; only a `typed.Expr` can be kept in a graph.
"""

from __future__ import annotations

from dataclasses import field

from ..frontend.source import Span
from ..frontend.value_class import value_class
from . import typed
from .functions import Function
from .names import Meaning, PythonName, TypeName, Unusable

__all__ = [
    "BoundMethod",
    "CASTS",
    "BoundOperator",
    "BoundOverloads",
    "BoundPython",
    "Closure",
    "ContainerMethod",
    "EnumerateValue",
    "ExceptionValue",
    "Item",
    "Iterated",
    "MemberSequence",
    "RangeValue",
    "SliceValue",
    "StaticMethod",
    "Sugar",
    "ZipValue",
    "as_called",
    "describe",
]


CASTS = {
    **{"byte": 0, "char": 1, "short": 2, "int": 3, "long": 4, "half": 5, "float": 6, "double": 7},
    **{"cfloat": 9, "cdouble": 10},
}
"""Methods of tensors that stand for `to` with a dtype, and its number."""


@value_class(frozen=True, slots=True)
class BoundOperator:
    """`x.tanh`: an operator with its first argument; `span` is where the attribute is written."""

    receiver: typed.Expr
    name: str
    span: Span


@value_class(frozen=True, slots=True)
class BoundMethod:
    """`self.scale`, or a module where its `forward` is meant."""

    receiver: typed.Expr
    name: str
    function: Function


@value_class(frozen=True, slots=True)
class StaticMethod:
    """A static method, found through an object or its class."""

    function: Function


@value_class(frozen=True, slots=True)
class RangeValue:
    """`range(...)`."""

    span: Span
    start: typed.Expr | None
    stop: typed.Expr | None
    step: typed.Expr | None


@value_class(frozen=True, slots=True)
class EnumerateValue:
    """`enumerate(iterated, start)`."""

    span: Span
    iterated: Iterated
    start: typed.Expr | None


@value_class(frozen=True, slots=True)
class ZipValue:
    """`zip(a, b, ...)`."""

    span: Span
    parts: tuple[Iterated, ...]


@value_class(frozen=True, slots=True)
class SliceValue:
    """`slice(a, b, c)`, and a slice between brackets."""

    span: Span
    lower: typed.Expr | None
    upper: typed.Expr | None
    step: typed.Expr | None


@value_class(frozen=True, slots=True)
class ExceptionValue:
    """An exception made by a call, on its way to `raise`."""

    message: typed.Expr
    qualified_name: str
    span: Span


@value_class(frozen=True, slots=True)
class BoundPython:
    """A method left to Python, with its object."""

    receiver: typed.Expr
    meaning: PythonName


@value_class(frozen=True, slots=True)
class BoundOverloads:
    """A method of several signatures, tried in order."""

    receiver: typed.Expr
    functions: tuple[Function, ...]


@value_class(frozen=True, slots=True)
class Closure:
    """A local function of archive text, to be forked."""

    body: typed.TypedFunction


@value_class(frozen=True, slots=True)
class ContainerMethod:
    """`self.heads.items`, `self.children`: its call gives a `MemberSequence`."""

    receiver: typed.Expr
    name: str
    span: Span


@value_class(frozen=True, slots=True)
class MemberSequence:
    """The members of a module, `cut` by slices; `form` is the method that gives them."""

    span: Span
    receiver: typed.Expr
    form: str
    cut: slice = field(default_factory=lambda: slice(None))


Item = typed.Expr | tuple["Item", ...]
"""What one turn of a loop binds: a value, or for `zip` one for each part."""

Iterated = typed.Expr | RangeValue | EnumerateValue | ZipValue | MemberSequence

Sugar = (
    typed.Expr
    | Meaning
    | BoundOperator
    | BoundMethod
    | BoundPython
    | BoundOverloads
    | Closure
    | ContainerMethod
    | MemberSequence
    | StaticMethod
    | RangeValue
    | EnumerateValue
    | ZipValue
    | SliceValue
    | ExceptionValue
)

_WORDS = {
    "OperatorName": "builtin",
    "SpecialForm": "builtin",
    "FunctionName": "function",
    "OverloadedFunction": "function",
    "FlaggedFunction": "function",
    "TypeName": "class",
    "ExceptionClass": "exception",
    "BoundOperator": "builtin",
    "BoundMethod": "method",
    "BoundOverloads": "method",
    "BoundPython": "python value",
    "PythonName": "python value",
    "Closure": "closure",
    "ContainerMethod": "method",
    "MemberSequence": "module",
    "StaticMethod": "function",
    "RangeValue": "range",
    "EnumerateValue": "iterabletree",
    "ZipValue": "iterabletree",
    "SliceValue": "slice",
    "ExceptionValue": "exception message",
}


def as_called(sugar: Sugar) -> Sugar:
    """What is meant where something is called: of what is no value, what stands for its call."""
    return (sugar.called or sugar) if isinstance(sugar, Unusable) else sugar


def describe(sugar: Sugar) -> str:
    """torch's word for what is not a first-class value."""
    if isinstance(sugar, TypeName) and sugar.type.is_enum:
        return "EnumClass"
    return _WORDS.get(type(sugar).__name__, "module")

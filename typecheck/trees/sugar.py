"""What an expression can stand for besides a value: things that exist only while checking.

`range(3)`, `x.tanh` without its call, a module `math`: each has a form here.  `Sugar` is whatever
the checker gets from an expression; only a `typed.Expr` can be kept in a graph.
"""

from __future__ import annotations

from dataclasses import field

from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import Span
from ..definitions.functions import Function
from ..definitions.names import Meaning, PythonName, SpecialForm, TypeName, Unusable
from ..types.types import TENSOR, Type
from . import typed

__all__ = [
    "BoundMethod",
    "CASTS",
    "OWNER",
    "BoundOperator",
    "BoundOverloads",
    "BoundPython",
    "Closure",
    "ContainerMethod",
    "EnumerateValue",
    "ExceptionValue",
    "Item",
    "Iterated",
    "MAGIC",
    "MemberSequence",
    "PERHAPS",
    "RangeValue",
    "SliceValue",
    "StaticMethod",
    "Sugar",
    "ZipValue",
    "as_called",
    "describe",
    "no_value",
    "type_of",
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
    "FunctionName": "function",
    "OverloadedFunction": "function",
    "FlaggedFunction": "function",
    "ExceptionClass": "Python exception",
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
    "SliceValue": "Python slice value",
    "ExceptionValue": "exception message",
}

MAGIC = {
    **{name: f"__{name}__" for name in ("len", "hex", "oct", "bin", "round", "abs")},
    **{name: f"__{name}__" for name in ("int", "float", "complex", "bool", "str")},
}
"""Methods of script classes that builtins call."""

_BY_NAME = frozenset(
    {
        *("isinstance", "list", "dict", "zip", "enumerate", "print", "annotate", "range", "fork"),
        "awaitable",
    }
)
_BUILTINS = frozenset({"abs", "bin"})
_FORMS = {
    **dict.fromkeys(
        ("set", "frozenset", "type", "super", "map", "filter", "reversed", "bytes", "bytearray"),
        "python value of type 'type'",
    ),
    **{"tuple": "TupleConstruct", "getattr": "GetAttr", "hasattr": "HasAttr"},
    "slice": "Python slice class",
}
"""torch's words for names that the checker knows; the others are builtins."""

_WITHOUT_ELEMENTS = frozenset({"List", "Dict", "Tuple", "Optional"})
_OF_PYTHON = frozenset({"iter", "next", "format", "ascii", "eval", "exec", "repr", "setattr"})


def as_called(sugar: Sugar) -> Sugar:
    """What is meant where something is called: of what is no value, what stands for its call."""
    return (sugar.called or sugar) if isinstance(sugar, Unusable) else sugar


def type_of(sugar: Sugar) -> Type | None:
    """The type of a value; None of what is none."""
    return sugar.type if isinstance(sugar, typed.Expr) else None


def describe(sugar: Sugar) -> str:
    """torch's word for what is not a first-class value."""
    match sugar:
        case TypeName(type=type_):
            if type_ == TENSOR:
                return "builtin"
            return "EnumClass" if type_.is_enum else "Python type"
        case Unusable(torch_message=message):
            return message.partition(" cannot be used as a value")[0]
        case SpecialForm(name=name):
            return _word_of_form(name)
    if hasattr(sugar, "member"):
        return "python value of type 'module'"
    return _WORDS.get(type(sugar).__name__, "module")


def _word_of_form(name: str) -> str:
    if name in _BUILTINS:
        return "builtin"
    return name if name in _BY_NAME else MAGIC.get(name) or _FORMS.get(name, "builtin")


def no_value(sugar: Sugar, purpose: str = "a value") -> str:
    """torch's sentence where what is not first-class is used as `a value`, `an iterable`, …"""
    word = describe(sugar)
    if purpose == OWNER and not (isinstance(sugar, Unusable) and word == sugar.torch_message):
        return f"attribute lookup is not defined on {word}"
    if isinstance(sugar, Unusable) and (word == sugar.torch_message or purpose == "a value"):
        return sugar.torch_message
    form = sugar.name if isinstance(sugar, SpecialForm) else ""
    if form in _WITHOUT_ELEMENTS:
        example = "Dict[int, int]" if form == "Dict" else f"{form}[int]"
        return (
            f"Attempted to use {form} without a contained type. Please add a contained "
            f"type, e.g. {example}"
        )
    if form in _OF_PYTHON:
        return (
            f"Python builtin <built-in function {form}> is currently not supported in Torchscript"
        )
    sentence = f"{word} cannot be used as {purpose}"
    if word.startswith("python value of type") and purpose == "a value":
        return sentence + PERHAPS
    return sentence


OWNER = "the owner of an attribute"
"""The purpose of what stands before a dot."""

PERHAPS = (
    ". Perhaps it is a closed over global variable? If so, please consider passing it in as an "
    "argument or use a local variable instead."
)
"""What torch adds where a value of Python is no value of script."""

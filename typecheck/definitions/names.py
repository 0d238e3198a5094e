"""What a name outside a function may stand for, and who is asked.

The checker never sees a live Python object: whoever drives it (the public face for live code, the
importer for archives) hands it a `Resolver` that answers in these terms.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Protocol, runtime_checkable

from ...frontend.foundations.value_class import value_class
from ...frontend.sources.source import Span
from ...frontend.syntax import tree
from ...frontend.syntax.places import Place
from ..types.types import Type
from .functions import Function, PythonFunction

__all__ = [
    "Constant",
    "ExceptionClass",
    "FlaggedFunction",
    "FunctionName",
    "LiveAnnotations",
    "LiveDefaults",
    "Meaning",
    "Namespace",
    "OperatorName",
    "OverloadedFunction",
    "PythonName",
    "Resolver",
    "SpecialForm",
    "TextDefaults",
    "TypeName",
    "Unusable",
    "meaning_of",
]


@value_class(frozen=True, slots=True)
class OperatorName:
    """A function that is an operator: `torch.tanh` is `aten::tanh`."""

    name: str


@value_class(frozen=True, slots=True)
class SpecialForm:
    """A name the checker itself knows: `range`, `len`, `isinstance`, `print`, `annotate`, …"""

    name: str


@value_class(frozen=True, slots=True)
class FunctionName:
    """A scripted or scriptable function; `holder` is the module class that has it as an attribute,
    and `attribute` the name that it has there."""

    function: Function
    holder: str = ""
    attribute: str = ""


@value_class(frozen=True, slots=True)
class OverloadedFunction:
    """Functions tried in order (`torch.jit._overload`, `boolean_dispatch`)."""

    functions: tuple[Function, ...]


@value_class(frozen=True, slots=True)
class PythonName:
    """A function left to Python: `receiver` means that the object it is found on is given first.

    A `dropped` one raises when it is called.
    """

    function: PythonFunction
    receiver: bool = False
    dropped: bool = False


@value_class(frozen=True, slots=True)
class FlaggedFunction:
    """One of two functions, as a constant argument says (`return_indices=True`).

    `flag` is the argument's name and `place` its position; left out, it is False.  A second flag
    may choose further.
    """

    flag: str
    place: int
    if_true: Function | FlaggedFunction
    if_false: Function | FlaggedFunction


@value_class(frozen=True, slots=True)
class TypeName:
    """A class, NamedTuple, Enum or other type used as a value: `Point(1, 2)`, `Color.RED`.

    `dtype` is that of the tensors which `torch.FloatTensor` and its like make.  In archives a
    namespace can have the name of a class, `inside`: `__torch__.net` and `__torch__.net.Layer`.
    """

    type: Type
    dtype: int | None = None
    inside: Namespace | None = field(default=None, compare=False)


@value_class(frozen=True, slots=True)
class ExceptionClass:
    """A class to raise: `builtins.ValueError`."""

    qualified_name: str


@value_class(frozen=True, slots=True)
class Constant:
    """A value the checker may copy into the program, with its type."""

    value: object
    type: Type


@value_class(frozen=True, slots=True)
class Unusable:
    """A name that exists but cannot be used in script, and torch's reason.

    `{name}` in the message stands for how it is written.  `value` is what a global holds, `place`
    where its file says so; `exception` is the class of torch's error.  What is no value can still
    be `called`: a module of the outside is left to Python.  torch refuses what `is_unnamed` where
    its name stands, whatever is done with it, and before the arguments of a call.
    """

    torch_message: str
    code: str = "global-value"
    message: str = ""
    value: object = None
    place: Place | None = None
    exception: str = "RuntimeError"
    called: PythonName | None = None
    is_unnamed: bool = False


class Namespace(Protocol):
    """Something with members: `torch`, `math`, a Python module."""

    def member(self, name: str, span: Span) -> Meaning | None:
        """What `namespace.name` stands for; None if there is no such member."""

    def names(self) -> Iterable[str]:
        """All member names, for near misses."""

    @property
    def title(self) -> str:
        """How messages call it: `torch.nn.functional`."""


Meaning = (
    OperatorName
    | SpecialForm
    | FunctionName
    | OverloadedFunction
    | FlaggedFunction
    | PythonName
    | TypeName
    | Constant
    | ExceptionClass
    | Unusable
    | Namespace
)


@runtime_checkable
class LiveDefaults(Protocol):
    """What a resolver may know besides: the values that the defaults of a live function have."""

    def default_of(self, parameter: str, type: Type) -> Constant | None:
        """The default of a parameter as a value of its type; None if it is none."""


@runtime_checkable
class TextDefaults(Protocol):
    """What a resolver of text may know besides: what expressions give that stand for defaults."""

    def result_of(self, function: Function) -> Constant | None:
        """What a function without parameters gives; None if it cannot be compiled, or fails."""


@runtime_checkable
class LiveAnnotations(Protocol):
    """What a resolver may know besides: how Python shows what stands in live annotations."""

    def shown(self, written: str) -> str | None:
        """The text of what an expression of an annotation is; None if it cannot be evaluated."""


class Resolver(Protocol):
    """The names a function sees besides its locals."""

    def lookup(self, name: str, span: Span) -> Meaning | None:
        """What a global, closure or builtin name stands for; None if it is not defined."""

    def names(self) -> Iterable[str]:
        """All names `lookup` knows, for near misses."""


def meaning_of(resolver: Resolver, node: tree.Expr) -> Meaning | None:
    """What a dotted name stands for, without a report if it stands for nothing."""
    if isinstance(node, tree.Attribute):
        owner = meaning_of(resolver, node.value)
        member = getattr(owner.inside if isinstance(owner, TypeName) else owner, "member", None)
        return None if member is None else member(node.name, node.name_span)
    return None if node.variable is None else resolver.lookup(node.variable, node.span)

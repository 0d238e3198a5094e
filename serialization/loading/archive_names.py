"""What the names in archive code stand for.

The code sees `torch` (all `aten::` operators), `ops.NS` (those of namespace NS), `CONSTANTS`, the
archive's own classes and functions under `__torch__`, the special forms of the language and the
constants `inf` and `nan`.  Nothing else: no live Python object is ever reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, nan
from typing import Protocol

from ...frontend.sources.source import Span
from ...typecheck.calls.forms import known_forms
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.names import (
    Constant,
    FunctionName,
    Meaning,
    OperatorName,
    OverloadedFunction,
    SpecialForm,
    TypeName,
)
from ...typecheck.scopes.annotations import TYPE_NAMES
from ...typecheck.types.types import COMPLEX, FLOAT, Type
from .archive_table import operator_named

__all__ = ["ArchiveResolver", "Definitions", "Operators", "Upgrade", "no_upgrade"]

_GENERIC = ("Any", "List", "Dict", "Tuple", "Optional", "Union", "Future", "Await", "RRef")

_NUMBERS: Mapping[str, Constant] = {
    "inf": Constant(inf, FLOAT),
    "nan": Constant(nan, FLOAT),
    "infj": Constant(complex(0, inf), COMPLEX),
    "nanj": Constant(complex(0, nan), COMPLEX),
}


class Definitions(Protocol):
    """The archive's own classes and functions."""

    def type_named(self, qualified: str) -> Type | None:
        """The class, NamedTuple, enumeration or interface of that name."""

    def function_named(self, qualified: str) -> Function | None:
        """The free function of that name."""

    def members_of(self, namespace: str) -> Iterable[str]:
        """The names one level below a namespace; empty if there is no such namespace."""

    def constant(self, name: str) -> Constant | None:
        """The value that code calls `CONSTANTS.name`."""

    def constant_names(self) -> Iterable[str]:
        """The names of all constants."""

    def result_of(self, function: Function) -> Constant | None:
        """See `typecheck.names.TextDefaults`."""


Operators = Callable[[], Iterable[str]]
"""Lists the qualified names of all operators."""

Upgrade = Callable[[str], tuple[Function, ...]]
"""The functions that replace an operator in an old archive, tried in order, if there are any."""


def no_upgrade(name: str) -> tuple[Function, ...]:
    """No operator is replaced."""
    return ()


@dataclass(frozen=True)
class _OperatorNamespace:
    """`torch` or `ops.NS`: the operators of one namespace."""

    namespace: str
    title: str
    operators: Operators
    upgrade: Upgrade = no_upgrade

    def member(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Namespace`; `torch.autograd.grad` is `aten::grad`."""
        if self.namespace == "aten" and name == "autograd":
            return self
        operator = operator_named(self.namespace, name)
        upgraded = self.upgrade(operator)
        return OverloadedFunction(upgraded) if upgraded else OperatorName(operator)

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Namespace`."""
        prefix = f"{self.namespace}::"
        return (n.removeprefix(prefix) for n in self.operators() if n.startswith(prefix))


@dataclass(frozen=True)
class _OperatorNamespaces:
    """`ops`."""

    operators: Operators
    title: str = "ops"

    def member(self, name: str, span: Span) -> Meaning | None:
        return _OperatorNamespace(name, f"ops.{name}", self.operators)

    def names(self) -> Iterable[str]:
        return sorted({name.partition("::")[0] for name in self.operators()})


@dataclass(frozen=True)
class _Constants:
    """`CONSTANTS`."""

    definitions: Definitions
    title: str = "CONSTANTS"

    def member(self, name: str, span: Span) -> Meaning | None:
        return self.definitions.constant(name)

    def names(self) -> Iterable[str]:
        return self.definitions.constant_names()


@dataclass(frozen=True)
class _Definitions:
    """`__torch__` and the namespaces in it."""

    definitions: Definitions
    title: str

    def member(self, name: str, span: Span) -> Meaning | None:
        qualified = f"{self.title}.{name}"
        type = self.definitions.type_named(qualified)
        inner = _Definitions(self.definitions, qualified)
        if type is not None:
            return TypeName(type, inside=inner)
        function = self.definitions.function_named(qualified)
        if function is not None:
            return FunctionName(function)
        return inner if any(True for _ in inner.names()) else None

    def names(self) -> Iterable[str]:
        return self.definitions.members_of(self.title)


@dataclass(frozen=True)
class ArchiveResolver:
    """The names an archive's functions see; `operators` lists those that exist here."""

    definitions: Definitions
    operators: Operators
    upgrade: Upgrade = no_upgrade

    def lookup(self, name: str, span: Span) -> Meaning | None:
        """See `typecheck.names.Resolver`."""
        if name in known_forms() or name in _GENERIC:
            return SpecialForm(name)
        if name in TYPE_NAMES:
            return TypeName(TYPE_NAMES[name])
        match name:
            case "torch":
                return _OperatorNamespace("aten", "torch", self.operators, self.upgrade)
            case "ops":
                return _OperatorNamespaces(self.operators)
            case "CONSTANTS":
                return _Constants(self.definitions)
        if name in _NUMBERS:
            return _NUMBERS[name]
        namespace = _Definitions(self.definitions, name)
        return namespace if any(True for _ in namespace.names()) else None

    def names(self) -> Iterable[str]:
        """See `typecheck.names.Resolver`."""
        return ("torch", "ops", "CONSTANTS", "__torch__", *sorted(known_forms()), *_NUMBERS)

    def result_of(self, function: Function) -> Constant | None:
        """See `typecheck.names.TextDefaults`."""
        return self.definitions.result_of(function)

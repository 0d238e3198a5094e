"""The types that hold functions: classes, interfaces, and those of functions as constants.

They compare by identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from ...frontend.foundations.locks import DEFINING
from ...frontend.syntax.places import BaseClass, Place
from ..types.types import NamedType, Type
from .functions import Function
from .names import Meaning

__all__ = ["ClassAttribute", "ClassType", "FunctionType", "InterfaceType"]


@dataclass(frozen=True, eq=False)
class FunctionType(Type):
    """The type of a constant that is a function."""

    function: Function

    def __str__(self) -> str:
        return "Function"

    @property
    def annotation_str(self) -> str:
        return self.function.qualified_name

    @property
    def python(self) -> str:
        return f"function {self.function.name}"


@dataclass(frozen=True)
class ClassAttribute:
    """A slot of a class: parameters and buffers say so."""

    name: str
    type: Type
    kind: Literal["parameter", "buffer", "attribute"] = "attribute"


@dataclass(frozen=True, eq=False)
class ClassType(NamedType):
    """A script class or the class of a module, named `__torch__.…`.

    `attributes` are the slots in order; `constants` the Final values, which have no slot;
    `methods` those defined so far.  `find_method`, if set, is asked for a method that is not there
    yet, so that bodies are compiled when first needed; it returns None for an unknown name.
    `missing` says of Python attributes that were left out why they were.
    `container` is the kind of container a live module is (`ModuleList`, ...), `is_live` says that
    the class was made from a live module: modules are then no first-class values of programs.
    `others` finds what else an attribute stands for (functions, calls of Python);
    hooks run around `forward` when the module is called.  `places` says, for an error, where the
    Python class sets an attribute, and `bases` which base class is not looked at.
    """

    qualified_name: str
    is_module: bool = False
    attributes: dict[str, ClassAttribute] = field(default_factory=dict)
    constants: dict[str, object] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)
    static_methods: dict[str, Function] = field(default_factory=dict)
    properties: dict[str, tuple[Function, Function | None]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    finder: list[Callable[[str], Function | None]] = field(default_factory=list)
    container: str = ""
    is_live: bool = False
    others: list[Callable[[str], Meaning | None]] = field(default_factory=list)
    forward_pre_hooks: list[Function] = field(default_factory=list)
    forward_hooks: list[Function] = field(default_factory=list)
    places: list[Callable[[str], Place | None]] = field(default_factory=list)
    bases: list[Callable[[], BaseClass | None]] = field(default_factory=list)
    is_class = True
    is_mutable = True

    def method(self, name: str) -> Function | None:
        """The method of that name, compiled now if it has to be; None if there is none."""
        found = self.methods.get(name)
        if found is None and self.finder:
            with DEFINING:  # two threads find one and the same
                found = self.methods.get(name)
                for find in self.finder:
                    if found is None:
                        found = find(name)
        return found

    def magic(self, name: str) -> Function | None:
        """A method that an operator or builtin calls; of a live module only if it is compiled."""
        if self.is_live:
            return self.methods.get(name)
        return self.method(name)

    def other(self, name: str) -> Meaning | None:
        """What an attribute that is no value stands for; None if there is none."""
        for find in self.others:
            found = find(name)
            if found is not None:
                return found
        return None

    def place(self, name: str) -> Place | None:
        """Where the Python class, if there is one, declares an attribute or sets it first."""
        found = (find(name) for find in self.places)
        return next((place for place in found if place is not None), None)

    def __deepcopy__(self, memo: object) -> ClassType:
        return self

    def add_attribute(
        self,
        name: str,
        type: Type,
        kind: Literal["parameter", "buffer", "attribute"] = "attribute",
    ) -> None:
        self.attributes[name] = ClassAttribute(name, type, kind)

    def slot_type(self, name: str) -> Type | None:
        found = self.attributes.get(name)
        return None if found is None else found.type

    def slot(self, name: str) -> int:
        """The index of an attribute's slot."""
        return list(self.attributes).index(name)

    def __str__(self) -> str:
        return self.qualified_name

    @property
    def in_unit(self) -> str:
        """The name and what it was compiled in, as some sentences of torch's have it."""
        return f"{self.qualified_name} (of Python compilation unit at: {id(ClassType):#x})"

    def __repr__(self) -> str:
        return f"ClassType({self.qualified_name})"


@dataclass(frozen=True, eq=False)
class InterfaceType(NamedType):
    """A set of methods; `is_module` for an interface that modules may fill."""

    qualified_name: str
    is_module: bool = False
    methods: dict[str, Function] = field(default_factory=dict)
    is_interface = True
    is_mutable = True

    def method(self, name: str) -> Function | None:
        """The method of that name; None if there is none."""
        return self.methods.get(name)

    magic = method  # of those that operators and builtins call, too

    def __str__(self) -> str:
        return f"InterfaceType<{self.python}>"

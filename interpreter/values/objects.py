"""Values of the language that Python has no type of its own for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from ...frontend.kept import KeptWith
from ...ops.memory.errors import OperatorError
from ...typecheck.types import BOOL, ClassType, EnumType, Type

__all__ = [
    "EnumMember",
    "ScriptObject",
    "call_method",
    "comes_from",
    "enum_member",
    "module_handles",
    "object_members",
    "python_class",
    "python_classes",
    "run_method",
]

python_classes: KeptWith[Type, type] = KeptWith()
"""The Python classes that script classes and enumerations were made from: at the border their
objects and members become Python's own."""


_compiled: WeakValueDictionary[str, ClassType | EnumType] = WeakValueDictionary()
"""The types that were last made from Python classes, by qualified name."""


def comes_from(type: ClassType | EnumType, python: type) -> None:
    """Objects or members of the type are this Python class's at the border."""
    python_classes[type] = python
    _compiled[type.qualified_name] = type


def python_class(type: ClassType | EnumType) -> type | None:
    """The Python class whose objects stand for those of a type.

    The type of an archive has the class that a type of the same name was compiled from in this
    process, if attributes or members are the same; None if there is none.
    """
    found = python_classes.get(type)
    if found is not None:
        return found
    twin = _compiled.get(type.qualified_name)
    if twin is None or _contents(twin) != _contents(type):
        return None
    return python_classes.get(twin)


def _contents(type: ClassType | EnumType) -> object:
    if isinstance(type, EnumType):
        return repr(type.members)  # a nan equals itself
    return [(a.name, a.type.annotation_str) for a in type.attributes.values()]


module_handles: list[Callable[[ScriptObject], object]] = []
"""What makes the Python module of a script object that has none yet; the public face adds it."""


run_method: list[Callable[[str, Sequence[object]], object]] = []
"""What runs a method of the first value; `run` puts it here."""


object_members: list[Callable[[ScriptObject, str], object]] = []
"""What finds the members that objects have for looking into them, by name; the public face adds
it.  Each raises AttributeError for a name that it does not know."""


call_method: list[Callable[..., object]] = []
"""What calls a method with Python's values: (object, method, arguments...)."""


class ScriptObject:
    """An instance of a script class or of a module's class.

    `slots` holds the attributes in the order of `cls.attributes`: a tensor as its `Tensor` handle
    (so that Python sees one and the same Parameter), anything else as the machine's own value.
    Slots and methods are reached by attribute name as well.
    Two objects are equal if they are the same object.

    `handle` is the Python object that stands for this one outside, if there is one; it is what a
    call gives back in place of the bare object.
    """

    __slots__ = ("__weakref__", "cls", "handle", "slots")

    def __init__(self, cls: ClassType, slots: Sequence[object] | None = None) -> None:
        self.cls = cls
        self.slots: list[object] = list(slots or [None] * len(cls.attributes))
        self.handle: object | None = None

    def __getattr__(self, name: str) -> object:
        if name not in ScriptObject.__slots__ and not name.startswith("__"):
            if name in self.cls.attributes:
                return self.slots[self.cls.slot(name)]
            for find in object_members:
                return find(self, name)
            method = self.cls.methods.get(name)
            for call in call_method if method is not None else ():
                return partial(call, self, method)
        raise AttributeError(f"{self.cls.qualified_name} does not have a field with name '{name}'")

    def __copy__(self) -> ScriptObject:
        return ScriptObject(self.cls, self.slots)

    def __deepcopy__(self, memo: dict[int, Any]) -> ScriptObject:
        """A copy with copies of all it holds; what it holds twice is copied once."""
        made = memo[id(self)] = ScriptObject(self.cls)
        made.slots[:] = copy.deepcopy(self.slots, memo)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ScriptObject.__slots__ and name in self.cls.attributes:
            self.slots[self.cls.slot(name)] = value
        else:
            object.__setattr__(self, name, value)

    def __lt__(self, other: object) -> bool:
        """The program's own `__lt__`, for sorting."""
        for run in run_method:
            return bool(run("__lt__", (self, other)))
        return NotImplemented

    def check_sortable(self) -> None:
        """Whether objects of the class can be put in order.

        Raises:
            OperatorError: the program's `__lt__` is missing, or does not compare.
        """
        method = self.cls.method("__lt__")
        if method is not None:
            types = [part.type for part in (*method.signature.arguments, *method.signature.returns)]
            if types == [self.cls, self.cls, BOOL]:
                return
        name = self.cls.qualified_name
        raise OperatorError(
            f"To sort a list of {name} it must define a __lt__ method with two inputs of type "
            f"{name} that returns a bool"
        )

    def __repr__(self) -> str:
        return f"<{self.cls.qualified_name} object>"


@dataclass(frozen=True, slots=True)
class EnumMember:
    """A member of an enumeration.  Members are equal if enumeration and name are."""

    enum: EnumType
    name: str

    @property
    def value(self) -> object:
        """The machine's value of the member."""
        return dict(self.enum.members)[self.name]

    def __str__(self) -> str:
        return f"Enum<{self.enum.python}.{self.name}>"


def enum_member(enum: EnumType, name: str) -> EnumMember:
    """The member of that name.

    Raises:
        KeyError: there is none.
    """
    if name not in dict(enum.members):
        raise KeyError(name)
    return EnumMember(enum, name)

"""Values of the language that Python has no type of its own for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from ..typecheck.types import ClassType, EnumType, Type

__all__ = [
    "EnumMember",
    "ScriptObject",
    "enum_member",
    "module_handles",
    "python_classes",
    "run_method",
]

python_classes: WeakKeyDictionary[Type, type] = WeakKeyDictionary()
"""The Python classes that script classes and enumerations were made from: at the border their
objects and members become Python's own."""


module_handles: list[Callable[[ScriptObject], object]] = []
"""What makes the Python module of a script object that has none yet; the public face adds it."""


run_method: list[Callable[[str, Sequence[object]], object]] = []
"""What runs a method of the first value; `run` puts it here."""


class ScriptObject:
    """An instance of a script class or of a module's class.

    `slots` holds the attributes in the order of `cls.attributes`: a tensor as its `Tensor` handle
    (so that Python sees one and the same Parameter), anything else as the machine's own value.
    Slots are reached by attribute name as well; methods are not, they belong to the floors above.
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
        if name in ScriptObject.__slots__ or name not in self.cls.attributes:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return self.slots[self.cls.slot(name)]

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

    def _type(self) -> ClassType:
        """The class."""
        return self.cls

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
        return f"{self.enum.python}.{self.name}"


def enum_member(enum: EnumType, name: str) -> EnumMember:
    """The member of that name.

    Raises:
        KeyError: there is none.
    """
    if name not in dict(enum.members):
        raise KeyError(name)
    return EnumMember(enum, name)

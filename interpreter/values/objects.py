"""Values of the language that Python has no type of its own for."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from weakref import WeakValueDictionary

from ...frontend.foundations.kept import KeptWith
from ...frontend.foundations.port import Port
from ...ops.memory.errors import OperatorError
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.types.types import BOOL, EnumType, Type

__all__ = [
    "HOST",
    *("CALL", "RUN"),
    "EnumMember",
    "Host",
    "ScriptObject",
    "comes_from",
    "python_class",
    "python_classes",
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


class Host(Protocol):
    """What values ask of the public face, which knows live modules and classes."""

    def module_of(self, target: ScriptObject) -> object:
        """The Python module of a script object, a new one if it has none yet."""

    def member_of(self, target: ScriptObject, name: str) -> object:
        """A member that objects have for looking into them.

        Raises:
            AttributeError: there is none of the name.
        """

    def class_type(self, cls: type) -> Type | None:
        """The type of a Python class's objects, compiled now if need be; None if it has none.

        What is wrong with the class is reported to the compilation that is going on.
        """

    def inferred_class(self, cls: type) -> Type | None:
        """The same; None, and nothing reported, if the class cannot be compiled."""

    def refusal(self, value: object) -> str | None:
        """torch's reason why a Python object has no type of its own, where that is a special
        one."""


HOST: Final[Port[Host]] = Port()

RUN: Final[Port[Callable[[str, Sequence[object]], object]]] = Port()
"""What runs a method of the first value."""

CALL: Final[Port[Callable[[str, Sequence[object]], object]]] = Port()
"""The same for Python: what fails there is raised as Python sees it."""


_put: Final = object.__setattr__


class ScriptObject:
    """An instance of a script class or of a module's class.

    `slots` holds the attributes in the order of `cls.attributes`: a tensor as its `Tensor` handle
    (so that Python sees one and the same Parameter), anything else as the machine's own value.
    Slots and methods are reached by attribute name as well.
    Two objects are equal if they are the same object.

    `handle` is the Python object that stands for this one outside, if there is one; it is what a
    call gives back in place of the bare object.
    `histories` are the tensors, by the identity of their arrays, of the arrays in lists, tuples and
    dicts of this object that want gradients (`histories.py`); None if there are none.
    """

    __slots__ = ("__weakref__", "cls", "handle", "histories", "slots")
    cls: ClassType
    slots: list[object]
    handle: object | None
    histories: dict[int, Tensor] | None

    def __init__(self, cls: ClassType, slots: Sequence[object] | None = None) -> None:
        # past `__setattr__` below, which looks for slots
        _put(self, "cls", cls)
        _put(self, "slots", [None] * len(cls.attributes) if slots is None else list(slots))
        _put(self, "handle", None)
        _put(self, "histories", None)

    def __getattr__(self, name: str) -> object:
        if name not in ScriptObject.__slots__ and not name.startswith("__"):
            if name in self.cls.attributes:
                return self.slots[self.cls.slot(name)]
            if HOST.installed is not None:
                return HOST.installed.member_of(self, name)
        raise AttributeError(f"{self.cls.in_unit} does not have a field with name '{name}'")

    def __copy__(self) -> ScriptObject:
        made = ScriptObject(self.cls, self.slots)
        made.histories = self.histories and {**self.histories}
        return made

    def __deepcopy__(self, memo: dict[int, object]) -> ScriptObject:
        """A copy with copies of all it holds; what it holds twice is copied once."""
        made = memo[id(self)] = ScriptObject(self.cls)
        if self.has_state_methods:
            made.take_state(copy.deepcopy(self.state(), memo))
            return made
        made.slots[:] = copy.deepcopy(self.slots, memo)
        leaves = [each for each in (self.histories or {}).values() if each.is_leaf]
        arrays = [copy.deepcopy(each._array, memo) for each in leaves]
        made.histories = {id(each): Tensor._of(each, True) for each in arrays} or None
        return made

    @property
    def has_state_methods(self) -> bool:
        """Whether the program says itself what copies and archives take of an object."""
        return all(self.cls.method(name) is not None for name in ("__getstate__", "__setstate__"))

    def state(self) -> object:
        """What the program's `__getstate__` gives."""
        assert CALL.installed is not None
        return CALL.installed("__getstate__", (self,))

    def take_state(self, state: object) -> None:
        """Have the program's `__setstate__` fill the object."""
        assert CALL.installed is not None
        CALL.installed("__setstate__", (self, state))

    def __setattr__(self, name: str, value: object) -> None:
        if name not in ScriptObject.__slots__ and name in self.cls.attributes:
            self.slots[self.cls.slot(name)] = value
        else:
            object.__setattr__(self, name, value)

    def __lt__(self, other: object) -> bool:
        """The program's own `__lt__`, for sorting."""
        run = RUN.installed
        return NotImplemented if run is None else bool(run("__lt__", (self, other)))

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
        return f"ScriptObject <{self.cls.qualified_name}>"


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

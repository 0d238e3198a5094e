"""Values of graphs as `torch._C` has them: `value.type()`, `value.debugName()`, `value.uses()`."""

from __future__ import annotations

from typing import Any, Final, Generic, TypeVar

from ..frontend.foundations.declared import Declared
from ..ir.graphs.constants import MISSING, constant_value
from ..ir.graphs.graph import Node as InnerNode
from ..ir.graphs.graph import Value as InnerValue
from ..ir.graphs.tensor_types import type_of_array
from ..ir.text.printer import print_node
from ..typecheck.types.tensor_facts import RefinedTensor
from .node_attributes import outward_value
from .types import Type, type_handle

__all__ = ["Handle", "Use", "Value", "handle_of"]

Inner = TypeVar("Inner")


class Handle(Generic[Inner]):
    """Something that stands for an inner thing; a subclass says `of` which class that is."""

    __slots__ = ("_inner",)

    def __init_subclass__(cls, of: type[Inner]) -> None:
        _KINDS.put([of], cls)

    def __init__(self, inner: Inner) -> None:
        self._inner = inner

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._inner is other._inner

    def __hash__(self) -> int:
        return hash(id(self._inner))


_KINDS: Final[Declared[type, type[Handle[Any]]]] = Declared()


def handle_of(inner: object) -> Any:
    """The handle of an inner thing."""
    return _KINDS[type(inner)](inner)


class Use:
    """An input of a node: `use.user`, and at which place."""

    __slots__ = ("offset", "user")

    def __init__(self, user: Handle[InnerNode], offset: int) -> None:
        self.user = user
        self.offset = offset

    def isAfter(self, other: Use) -> bool:
        """Whether the other use comes first."""
        if self.user == other.user:
            return self.offset > other.offset
        return other.user._inner.is_before(self.user._inner)


class Value(Handle[InnerValue], of=InnerValue):
    """A value of a graph."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{self.debugName()} defined in ({print_node(self._inner.node)})"

    def debugName(self) -> str:
        """The name, or the number of a value without one."""
        return self._inner.debug_name

    def setDebugName(self, name: str) -> Value:
        """Give it a name; another value of that name gets a number.

        Raises:
            RuntimeError: it is no name.
        """
        if not name or name.isdigit() or not all(c.isalnum() or c in "_./" for c in name):
            raise RuntimeError(f"Invalid name: '{name}'")
        self._inner.name = name
        return self

    def unique(self) -> int:
        """The number."""
        return self._inner.id

    def type(self) -> Type:
        """The type."""
        return type_handle(self._inner.type)

    def setType(self, type: Type) -> Value:
        """Change the type."""
        self._inner.type = type._type
        return self

    def setTypeAs(self, other: Value) -> Value:
        """Take the type of another value."""
        self._inner.type = other._inner.type
        return self

    def inferTypeFrom(self, tensor: Any) -> None:
        """Take the type that says all of a tensor."""
        self._inner.type = type_of_array(tensor._array, bool(tensor.requires_grad))

    def copyMetadata(self, other: Value) -> Value:
        """Take another value's type and name."""
        self.setTypeAs(other)
        self._inner.copy_name(other._inner)
        return self

    def isCompleteTensor(self) -> bool:
        """Whether sizes, strides, element type and device are known."""
        type = self._inner.type
        return isinstance(type, RefinedTensor) and type.is_complete

    def requires_grad(self) -> bool:
        """Whether gradients may be wanted."""
        return self.type().requires_grad()

    def requiresGrad(self) -> bool | None:
        """Whether gradients are wanted, if known."""
        type = self._inner.type
        return type.requires_grad if isinstance(type, RefinedTensor) else None

    def node(self) -> Any:
        """The node that gives it."""
        return handle_of(self._inner.node)

    def offset(self) -> int:
        """Its place among the outputs of its node."""
        return self._inner.node.outputs.index(self._inner)

    def uses(self) -> list[Use]:
        """The inputs that are this value."""
        return [Use(handle_of(use.user), use.number) for use in self._inner.uses]

    def toIValue(self) -> Any:
        """The value of a constant; None for any other value."""
        value = constant_value(self._inner)
        return None if value is MISSING else outward_value(value)

    def replaceAllUsesWith(self, other: Value) -> None:
        """Let all that use it use the other."""
        self._inner.replace_uses(other._inner)

    def replaceAllUsesAfterNodeWith(self, node: Handle[InnerNode], other: Value) -> None:
        """The same for what comes after a node."""
        self._inner.replace_uses_after(node._inner, other._inner)

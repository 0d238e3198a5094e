"""Values of the machine -> plain data for a pickle."""

from __future__ import annotations

from functools import cache

import numpy as np

from ..interpreter.matching import matches
from ..interpreter.objects import EnumMember, ScriptObject
from ..ops.dtype import Array, Device
from ..ops.packed_weights import PackedWeights
from ..ops.quantized_arrays import quantizer_of
from ..ops.tensor import Tensor
from ..typecheck.schema_text import parse_schema
from ..typecheck.types import (
    ANY,
    TENSOR,
    ClassType,
    DictType,
    EnumType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    UnionType,
)
from .errors import archive_error
from .limits import DEFAULT_LIMITS
from .pickle_nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    QuantizerNode,
    TensorNode,
    TupleNode,
)
from .python_types import TypeNames
from .read_values import Call
from .tensors import StorageTable
from .value_types import machine_type

__all__ = ["ValueWriter"]


class ValueWriter:
    """Makes the nodes of one pickle; what is one object here shares a node there.

    `names` gives classes their names in the archive, `call` runs `__getstate__`; `classes` are the
    classes and enumerations met so far, in order.
    """

    def __init__(self, storages: StorageTable, names: TypeNames, call: Call) -> None:
        self._storages = storages
        self._names = names
        self._call = call
        self._depth = 0
        self._made: dict[int, tuple[object, Node]] = {}
        self.classes: dict[ClassType | EnumType, None] = {}

    def node(self, value: object, type: Type) -> Node:
        """The node of a value whose static type is `type`.

        Raises:
            ArchiveError: archives cannot hold such a value.
        """
        if value is None or isinstance(value, bool | int | float | str):
            return value
        shared = value._array if isinstance(value, Tensor) else value
        known = self._made.get(id(shared))
        if known is not None:
            return known[1]
        if self._depth >= DEFAULT_LIMITS.depth:
            message = f"values lie more than {DEFAULT_LIMITS.depth} deep in each other"
            raise archive_error("limit-exceeded", f"this cannot be saved: {message}")
        self._depth += 1
        try:
            made = self._make(value, type)
        finally:
            self._depth -= 1
        if not isinstance(value, tuple):
            self._made[id(shared)] = (shared, made)  # the value is kept, so its id stays its own
        return made

    def _make(self, value: object, type: Type) -> Node:
        match value:
            case Tensor():
                return self._tensor(value._array, value.requires_grad)
            case np.ndarray():
                return self._tensor(value, False)
            case complex():
                return ComplexNode(value)
            case Device():
                return DeviceNode(str(value))
            case EnumMember():
                self.classes[value.enum] = None
                name = _global(self._names.name_of(value.enum))
                return EnumNode(name, self.node(value.value, value.enum.value))
            case ScriptObject():
                return self._object(value)
            case PackedWeights():
                return self._packed(value)
            case list() | dict() | tuple():
                return self._container(value, _narrowed(type, value))
        what = value.__class__.__name__
        raise archive_error("unsupported-value", f"a value of type `{what}` cannot be saved")

    def _tensor(self, array: Array, requires_grad: bool) -> TensorNode:
        made = self._storages.tensor(array, requires_grad)
        if array.dtype.names is not None:
            quantizer = quantizer_of(array, "save")
            scale, zero_point = (self.node(part, TENSOR) for part in quantizer.numbers)
            made.quantizer = QuantizerNode(quantizer.scheme, scale, zero_point, quantizer.axis or 0)
        return made

    def _packed(self, value: PackedWeights) -> Node:
        made = ObjectNode(_global(value.qualified_name))
        made.state = self.node(value.state, _state_type(value.state_type))
        return made

    def _container(self, value: object, type: Type) -> Node:
        match value, type:
            case tuple(), TupleType(elements=types):
                items = zip(value, types, strict=True)
                return TupleNode(tuple([self.node(item, t) for item, t in items]))
            case list(), ListType(element=element):
                tag = self._names.spell(type)
                return ListNode([self.node(item, element) for item in value], tag)
            case dict(), DictType(key=key_type, value=value_type):
                pairs = [
                    (self.node(k, key_type), self.node(v, value_type)) for k, v in value.items()
                ]
                return DictNode(pairs, self._names.spell(type))
        what = value.__class__.__name__
        raise archive_error(
            "unsupported-value", f"a {what} cannot be saved as a value of type `{type.python}`"
        )

    def _object(self, value: ScriptObject) -> Node:
        cls = value.cls
        self.classes[cls] = None
        node = ObjectNode(_global(self._names.name_of(cls)))
        self._made[id(value)] = (value, node)
        save, restore = cls.method("__getstate__"), cls.method("__setstate__")
        if save is not None and restore is not None:
            state = self._call(save, (value,))
            node.state = self.node(state, save.signature.returns[0].type)
            return node
        node.state = DictNode(
            [
                (attribute.name, self.node(slot, attribute.type))
                for attribute, slot in zip(cls.attributes.values(), value.slots, strict=True)
            ]
        )
        return node


@cache
def _state_type(text: str) -> Type:
    """The type of the state of packed weights, which is written as schemas write types."""
    return parse_schema(f"packed::state() -> {text}").returns[0].type


def _global(qualified: str) -> Global:
    module, _, name = qualified.rpartition(".")
    return Global(module, name)


def _narrowed(type: Type, value: object) -> Type:
    """The container type that a value of a wider static type has."""
    if isinstance(type, OptionalType):
        type = type.element
    if isinstance(type, UnionType):
        type = next((member for member in type.members if matches(value, member)), ANY)
    if isinstance(type, ListType | DictType | TupleType):
        return type
    return machine_type(value)

"""Values of the machine -> plain data for a pickle."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module
from itertools import chain

import numpy as np

from ...interpreter.values.matching import matches
from ...interpreter.values.objects import EnumMember, ScriptObject
from ...ops.conjugates.tensors import is_turned, turns_of, under
from ...ops.memory.dtype import STRIDED, Array, Device
from ...ops.meta.tensors import is_meta, opened
from ...ops.quantized_tensors.arrays import quantizer_of
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.tensors.tensor import Tensor
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.schema_text import parse_schema
from ...typecheck.types.types import ANY, TENSOR, DictType, EnumType, ListType, TupleType, Type
from ..files.errors import archive_error
from ..files.limits import DEFAULT_LIMITS
from ..pickles.nodes import (
    ComplexNode,
    DeviceNode,
    DictNode,
    EnumNode,
    Global,
    ListNode,
    Node,
    ObjectNode,
    QuantizerNode,
    SparseNode,
    TensorNode,
    TupleNode,
    are_plain,
)
from ..pickles.read_values import Call
from ..pickles.tensors import StorageTable
from ..pickles.value_types import machine_type
from ..printing.types import TypeNames

__all__ = ["ValueWriter"]


Fill = Callable[[Node], None]
"""Puts the node of a value where it belongs."""


class ValueWriter:
    """Makes the nodes of one pickle; what is one object here shares a node there.

    `names` gives classes their names in the archive, `call` runs `__getstate__`; `classes` are the
    classes and enumerations met so far, in order.  The node of what has parts is made first and
    filled later, from a list of what is left to do, so that values may lie deep in each other.
    """

    def __init__(self, storages: StorageTable, names: TypeNames, call: Call) -> None:
        self._storages = storages
        self._names = names
        self._call = call
        self._made: dict[int, tuple[object, Node]] = {}
        self._within: set[int] = set()
        self._left: list[Callable[[], None]] = []
        self._wanted: set[int] = set()
        """The arrays in containers of which gradients are wanted, by identity."""
        self.classes: dict[ClassType | EnumType, None] = {}

    def node(self, value: object, type: Type) -> Node:
        """The node of a value whose static type is `type`.

        Raises:
            ArchiveError: archives cannot hold such a value.
        """
        found: list[Node] = []
        before, self._left = self._left, []
        self._later(value, type, found.append)
        while self._left:
            self._left.pop()()
        self._left = before
        return found[0]

    def _later(self, value: object, type: Type, fill: Fill) -> None:
        self._left.append(partial(self._fill, value, type, fill))

    def _all(self, parts: Iterable[tuple[object, Type]], made: list[Node]) -> None:
        """Add the nodes of values to a list, in their order, before anything else is done."""
        before = len(self._left)
        for value, type in parts:
            self._later(value, type, made.append)
        self._left[before:] = reversed(self._left[before:])

    def _fill(self, value: object, type: Type, fill: Fill) -> None:
        if value is None or isinstance(value, bool | int | float | str):
            fill(value)
            return
        if isinstance(value, tuple) and not value:
            fill(TupleNode(()))  # Python has one empty tuple only
            return
        shared = value._array if isinstance(value, Tensor) and _has_memory(value) else value
        known = self._made.get(id(shared))
        if known is None:
            # the value is kept, so its id stays its own
            known = self._made[id(shared)] = (shared, self._make(value, type))
        elif id(shared) in self._within:
            raise archive_error("unsupported-value", "this cannot be saved: it contains itself")
        fill(known[1])

    def _make(self, value: object, type: Type) -> Node:
        match value:
            case Tensor() if is_meta(value):
                with opened():
                    return self._storages.tensor(value._array, value.requires_grad, "meta")
            case Tensor() if _is_sparse(value):
                return self._sparse(value)
            case Tensor() if is_turned(value):
                made = self._tensor(under(value)._array, value.requires_grad)
                made.math = frozenset(turns_of(value).words)
                return made
            case Tensor():
                return self._tensor(value._array, value.requires_grad)
            case np.ndarray():
                return self._tensor(value, id(value) in self._wanted)
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

    def _inside(self, value: object, after: Callable[[], None]) -> None:
        """Whatever is added from now on lies in a value; `after` is done when all of it is made."""
        if len(self._within) >= DEFAULT_LIMITS.depth:
            message = f"values lie more than {DEFAULT_LIMITS.depth} deep in each other"
            raise archive_error("limit-exceeded", f"this cannot be saved: {message}")
        self._within.add(id(value))

        def leave() -> None:
            self._within.discard(id(value))
            after()

        self._left.append(leave)

    def _tensor(self, array: Array, requires_grad: bool) -> TensorNode:
        made = self._storages.tensor(array, requires_grad)
        if array.dtype.names is not None:
            quantizer = quantizer_of(array, "save")
            scale, zero_point = (self.node(part, TENSOR) for part in quantizer.numbers)
            made.quantizer = QuantizerNode(quantizer.scheme, scale, zero_point, quantizer.axis or 0)
        return made

    def _sparse(self, value: Tensor) -> Node:
        sparse = import_module("..pickles.sparse", __package__)
        made: SparseNode = sparse.sparse_node(value, lambda array: self._tensor(array, False))
        return made

    def _packed(self, value: PackedWeights) -> Node:
        made = ObjectNode(_global(value.qualified_name))
        made.state = self.node(value.state, _state_type(value.state_type))
        return made

    def _container(
        self, value: list[object] | dict[object, object] | tuple[object, ...], type: Type
    ) -> Node:
        parts: list[Node] = []
        made: TupleNode | ListNode | DictNode
        match value, type:
            case tuple(), TupleType(elements=types):
                made = TupleNode(())
                self._inside(value, partial(_set_items, made, parts))
                self._all(zip(value, types, strict=True), parts)
            case list(), ListType(element=element):
                made = ListNode(parts, self._names.spell(type))
                self._inside(value, _nothing)
                if are_plain(value):
                    parts.extend(value)
                else:
                    self._all(((item, element) for item in value), parts)
            case dict(), DictType() if are_plain(keys := value.keys()) and are_plain(
                values := value.values()
            ):
                made = DictNode([], self._names.spell(type))
                self._inside(value, partial(made.items.extend, zip(keys, values, strict=True)))
            case dict(), DictType(key=key_type, value=value_type):
                made = DictNode([], self._names.spell(type))
                self._inside(value, partial(_set_pairs, made, parts))
                pairs = (((k, key_type), (v, value_type)) for k, v in value.items())
                self._all(chain.from_iterable(pairs), parts)
            case _:
                what = value.__class__.__name__
                raise archive_error(
                    "unsupported-value",
                    f"a {what} cannot be saved as a value of type `{type.python}`",
                )
        return made

    def _object(self, value: ScriptObject) -> Node:
        cls = value.cls
        self.classes[cls] = None
        self._wanted.update(value.histories or ())
        node = ObjectNode(_global(self._names.name_of(cls)))
        save, restore = cls.method("__getstate__"), cls.method("__setstate__")
        state: list[Node] = []
        if save is not None and restore is not None:
            self._inside(value, lambda: setattr(node, "state", state[0]))
            self._all([(self._call(save, (value,)), save.signature.returns[0].type)], state)
            return node
        node.state = DictNode()
        slots = zip(cls.attributes.values(), value.slots, strict=True)
        self._inside(value, partial(_set_slots, node.state, list(cls.attributes), state))
        self._all(((slot, attribute.type) for attribute, slot in slots), state)
        return node


def _is_sparse(value: Tensor) -> bool:
    return type(value) is not Tensor and value.layout is not STRIDED


def _has_memory(value: Tensor) -> bool:
    return not is_meta(value) and not _is_sparse(value) and not is_turned(value)


def _nothing() -> None:
    """A list has its items already."""


def _set_items(node: TupleNode, items: list[Node]) -> None:
    node.items = tuple(items)


def _set_pairs(node: DictNode, parts: list[Node]) -> None:
    node.items[:] = zip(parts[::2], parts[1::2], strict=True)


def _set_slots(node: DictNode, names: list[str], values: list[Node]) -> None:
    node.items[:] = zip(names, values, strict=True)


@cache
def _state_type(text: str) -> Type:
    """The type of the state of packed weights, which is written as schemas write types; as a
    result, a tuple would be several."""
    return parse_schema(f"packed::of({text} state) -> ()").arguments[0].type


def _global(qualified: str) -> Global:
    module, _, name = qualified.rpartition(".")
    return Global(module, name)


def _narrowed(type: Type, value: object) -> Type:
    """The container type that a value of a wider static type has."""
    type = type.inner
    if type.is_choice:
        type = next((member for member in type.alternatives if matches(value, member)), ANY)
    if type.is_collection or type.tuple_of is not None:
        return type
    return machine_type(value)

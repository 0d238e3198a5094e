"""Plain data of a pickle -> values of the machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any, Final

import numpy as np

from ...frontend.limits.walks import HoldsItself, TooDeep, parts_first
from ...interpreter.values.histories import keep_wanted
from ...interpreter.values.matching import matches
from ...interpreter.values.objects import EnumMember, ScriptObject
from ...ops.conjugates.tensors import turned_as_said
from ...ops.memory.dtype import Array, Device
from ...ops.memory.errors import OperatorError
from ...ops.meta.tensors import on_meta
from ...ops.python_values.tensor_dict import TensorDict
from ...ops.quantized_tensors.arrays import QuantizedArray, Quantizer
from ...ops.quantized_tensors.packed_weights import PACKED_CLASSES, PackedWeights
from ...ops.tensors.tensor import Parameter, Tensor
from ...typecheck.definitions.builtin_classes import BUILTIN_NAMESPACE
from ...typecheck.definitions.class_types import ClassAttribute, ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import EnumType, Type
from ..files.errors import ArchiveError, archive_error
from ..files.limits import DEFAULT_LIMITS, Limits
from .keys import Keys
from .nodes import (
    PLAIN,
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
    children,
)
from .tensors import StorageReader

__all__ = ["UNRESTORED", "Call", "ValueReader"]

_COMPOUND = frozenset({TupleNode, ListNode, DictNode, ObjectNode, EnumNode})


def _has_parts(node: Node) -> bool:
    """Whether others may lie in a node, at any depth."""
    return node.__class__ in _COMPOUND or (
        isinstance(node, TensorNode) and node.quantizer is not None
    )


Call = Callable[[Function, Sequence[object]], object]
"""Runs a function on machine values, or gives `UNRESTORED` where code is only looked at."""

UNRESTORED: Final = object()


class ValueReader:
    """Makes the values of one pickle; what shares a node there is one object here.

    `type_named` knows the archive's classes and enumerations; `call` runs `__setstate__`; `title`
    is what messages call the pickle.
    """

    def __init__(
        self,
        storages: StorageReader,
        type_named: Callable[[str], Type | None],
        call: Call,
        title: str,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._storages = storages
        self._type_named = type_named
        self._call = call
        self._title = title
        self._limits = limits
        self._made: dict[int, object] = {}
        self._handles: dict[int, Tensor] = {}
        self._wanted: dict[int, TensorNode] = {}
        """The nodes of tensors that want gradients, by the identity of their arrays."""
        self._within: set[int] = set()
        self._matched: dict[tuple[int, int], bool] = {}
        self._keys = Keys(self._too_much)

    def value(self, node: Node) -> object:
        """The value of a node.

        Raises:
            ArchiveError: it names an unknown class, lacks an attribute, or holds itself.
        """
        if node.__class__ in PLAIN:
            return node
        made = self._made
        if id(node) not in made:
            if not _has_parts(node):
                made[id(node)] = self._make(node)
                return made[id(node)]
            try:
                for each in parts_first(node, self._parts, self._limits.depth, self._within):
                    made[id(each)] = self._make(each)
            except HoldsItself:
                raise self._damaged("holds a value that contains itself") from None
            except TooDeep:
                message = f"values lie more than {self._limits.depth} deep in each other"
                raise archive_error("limit-exceeded", f"in {self._title}, {message}") from None
        return made[id(node)]

    def _values(self, nodes: Iterable[Node]) -> list[object]:
        """The values of some nodes, of which tables have very many."""
        return [node if node.__class__ in PLAIN else self.value(node) for node in nodes]

    def _parts(self, node: Node) -> list[Any]:
        """The nodes in a node of which values have to be made first."""
        state = node.state if isinstance(node, ObjectNode) else None
        if isinstance(state, DictNode):
            parts = [value for _, value in state.items]
        else:
            parts = children(node)
        made = self._made
        kept = [part for part in parts if part.__class__ not in PLAIN]
        return [part for part in kept if _has_parts(part) and id(part) not in made]

    def _make(self, node: Node) -> object:
        match node:
            case TensorNode():
                return self._array(node)
            case ObjectNode():
                return self._object(node)
            case TupleNode(items):
                return tuple(self._values(items))
            case ListNode(items):
                return self._values(items)
            case DictNode():
                return self._dict(node)
            case ComplexNode(value):
                return value
            case DeviceNode(name):
                return self._device(name)
            case EnumNode():
                return self._enum_member(node)
            case SparseNode():
                return self._sparse(node)
        raise self._damaged("holds a name or storage where a value should be")

    # -- tensors

    def _array(self, node: TensorNode) -> Array | Tensor:
        array = self._storages.array(node)
        if self._storages.is_meta(node.storage):
            handle: Tensor = on_meta(Tensor._of(array))
            return handle
        if array.dtype.names is None:
            if node.quantizer is not None:
                raise self._damaged("has a quantized tensor of a storage that is not")
            if node.requires_grad:
                self._wanted[id(array)] = node
            return turned_as_said(Tensor._of(array), node.math) if node.math else array
        made = array.view(QuantizedArray)
        made.quantizer = self._quantizer(node.quantizer, array)
        return made

    def _quantizer(self, node: QuantizerNode | None, array: Array) -> Quantizer:
        if node is None:
            raise self._damaged("has a tensor of a quantized storage that has no scale")
        scale, zero_point = self.value(node.scale), self.value(node.zero_point)
        made = Quantizer.fitting(scale, zero_point, node.axis, array.shape)
        if made is None:
            raise self._damaged("has a quantized tensor whose scales do not fit its shape")
        return made

    def _sparse(self, node: SparseNode) -> Tensor:
        """A sparse tensor, whose places are checked."""
        sparse = import_module(".sparse", __package__)
        try:
            made: Tensor = sparse.sparse_tensor(node, [self.value(part) for part in node.parts])
        except (RuntimeError, TypeError, ValueError) as error:
            raise self._damaged(f"has a sparse tensor that is none: {error}") from None
        return made

    def _dict(self, node: DictNode) -> dict[object, object]:
        try:
            keys: list[Any] = self._values([key for key, _ in node.items])
            values = self._values([value for _, value in node.items])
            if node.tag.startswith("Dict[Tensor,"):
                return TensorDict(zip(keys, values, strict=True))
            self._keys.check(keys)
            return dict(zip(keys, values, strict=True))
        except TypeError:
            raise self._damaged("has a dict with a key that no dict can have") from None

    def _device(self, name: str) -> Device:
        try:
            device = Device(name)
        except RuntimeError:
            raise self._damaged(f"names a device that does not exist: {name!r}") from None
        return self._storages.place_of(device)

    def _enum_member(self, node: EnumNode) -> EnumMember:
        enum = self._type_named(node.cls.qualified_name)
        if not isinstance(enum, EnumType):
            raise self._unknown(node.cls)
        value = self.value(node.value)
        for name, candidate in enum.members:
            is_nan = candidate != candidate and value != value
            if type(candidate) is type(value) and (candidate == value or is_nan):
                return EnumMember(enum, name)
        raise self._damaged(f"has no member of `{enum.python}` with value {value!r}")

    # -- objects

    def _object(self, node: ObjectNode) -> ScriptObject | PackedWeights:
        name = node.cls.qualified_name
        make = PACKED_CLASSES.get(name.removeprefix(BUILTIN_NAMESPACE))
        if make is not None and name.startswith(BUILTIN_NAMESPACE):
            if self._storages.without_data:
                raise archive_error("unsupported-value", "packed weights are not read without data")
            try:
                return make(self.value(node.state))
            except (OperatorError, IndexError, TypeError, ValueError) as error:
                raise self._damaged(f"has a `{name}` that cannot be made: {error}") from None
        cls = self._type_named(node.cls.qualified_name)
        if not isinstance(cls, ClassType):
            raise self._unknown(node.cls)
        made = ScriptObject(cls)
        restore = cls.method("__setstate__")
        if restore is not None and cls.method("__getstate__") is not None:
            self._restore(restore, made, self.value(node.state))
            return made
        if not isinstance(node.state, DictNode):
            raise self._damaged(f"has a `{cls.qualified_name}` without attributes")
        state = node.state.by_name()
        for index, attribute in enumerate(cls.attributes.values()):
            if attribute.name not in state:
                what = f"`{attribute.name}` of a `{cls.qualified_name}`"
                raise self._damaged(f"has no value for attribute {what}")
            made.slots[index] = self._slot(state[attribute.name], attribute)
        self._check_slots(made)
        if self._wanted:
            keep_wanted(made, self._wanted_tensor)
        return made

    def _wanted_tensor(self, array: Array) -> Tensor | None:
        """The tensor of an array that wants gradients, the one that attributes hold as well."""
        node = self._wanted.get(id(array))
        if node is None:
            return None
        if id(node) not in self._handles:
            self._handles[id(node)] = self._handle(node, is_parameter=False)
        return self._handles[id(node)]

    def _restore(self, method: Function, made: ScriptObject, state: object) -> None:
        """Let an object take its state by its own `__setstate__`."""
        arguments = method.signature.arguments
        if len(arguments) != 2 or not matches(state, arguments[1].type, self._matched):
            raise self._damaged(f"has a state that `{method.name}` does not take")
        if self._call(method, (made, state)) is not UNRESTORED:
            self._check_slots(made)

    def _check_slots(self, made: ScriptObject) -> None:
        """What compiled code relies on: each slot holds what its class declares.

        Raises:
            ArchiveError: one does not.
        """
        for attribute, slot in zip(made.cls.attributes.values(), made.slots, strict=True):
            if not matches(slot, attribute.type, self._matched):
                raise self._damaged(
                    f"has a value of another type than `{attribute.type}` for `{attribute.name}` "
                    f"of `{made.cls.qualified_name}`"
                )

    def _slot(self, node: Node, attribute: ClassAttribute) -> object:
        if not isinstance(node, TensorNode | SparseNode):
            return self.value(node)
        handle = self._handles.get(id(node))
        if handle is None:
            handle = self._handle(node, attribute.kind == "parameter")
            self._handles[id(node)] = handle
        return handle

    def _handle(self, node: TensorNode | SparseNode, is_parameter: bool) -> Tensor:
        handle = Parameter if is_parameter else Tensor
        if isinstance(node, SparseNode):
            sparse = self.value(node)
            assert isinstance(sparse, Tensor)
            return handle(sparse, node.requires_grad) if is_parameter else sparse
        if self._storages.is_meta(node.storage):
            made: Tensor = on_meta(handle._of(self._storages.array(node), node.requires_grad))
            return made
        array = self.value(node)
        if isinstance(array, Tensor):  # which computes its elements when they are read
            array._want_gradients(node.requires_grad)
            return handle(array, node.requires_grad) if is_parameter else array
        assert isinstance(array, np.ndarray)
        return handle._of(array, node.requires_grad)

    # -- errors

    def _damaged(self, what: str) -> ArchiveError:
        return archive_error("damaged-archive", f"{self._title} {what}")

    def _too_much(self, what: str) -> ArchiveError:
        return archive_error("limit-exceeded", f"{self._title} {what}")

    def _unknown(self, cls: Global) -> ArchiveError:
        name = cls.qualified_name
        if name.startswith("__torch__.torch.classes."):
            message = f"{self._title} holds an object of the built-in class `{name}`"
            return archive_error("unsupported-value", f"{message}, which is not supported")
        return archive_error(
            "damaged-archive",
            f"{self._title} holds a `{name}`, which no code file defines",
            torch=f"Unknown type name '{name}'",
        )

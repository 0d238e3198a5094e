"""Writing tensors, plain values and Python objects as `torch.save` does, in the zip format."""

from __future__ import annotations

import struct
import sys
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from types import BuiltinFunctionType, EllipsisType, FunctionType, NoneType, NotImplementedType
from typing import Any, Final

import numpy as np

from ...ops.conjugates.tensors import ConjugateTensor, is_turned, turns_of, under
from ...ops.eager.dispatch import EagerFunction
from ...ops.eager.typed_storage import TypedStorage
from ...ops.memory.dtype import Device, DType, Layout, QScheme
from ...ops.meta.tensors import is_meta
from ...ops.quantized_tensors.arrays import QuantizedArray, quantizer_of
from ...ops.quantized_tensors.packed_weights import PackedWeights
from ...ops.sparse_tensors.parts import Coo
from ...ops.sparse_tensors.tensors import SparseTensor, parts_of
from ...ops.tensors.dispatched import Hidden, array_behind
from ...ops.tensors.sizes import Size
from ...ops.tensors.tensor import Parameter, Tensor
from ...ops.tensors.untyped_storage import Storage
from ..files.container_writer import ContainerWriter, Sink, write_container
from ..files.errors import archive_error, within_limits
from ..pickles.nodes import StorageNode
from ..pickles.object_names import name_of
from ..pickles.tensors import TYPED_STORAGES, StorageTable
from ..saving.save import Target
from .given_pickles import is_own, pickled_with
from .objects import reduced
from .skipping import SKIPPING
from .states import state_of

__all__ = ["MAGIC", "PROTOCOL", "ObjectsWriter", "save_weights"]

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
"""What files of the format before the zip format begin with."""

_ALONE: Final = {NoneType: None, EllipsisType: ..., NotImplementedType: NotImplemented}
"""The one object of each class that is known by it alone."""


@within_limits("the value")
def save_weights(
    value: object,
    file: Target,
    in_zip: bool = True,
    pickle_module: object = None,
    protocol: int = 2,
) -> None:
    """Write a value that `torch.load` reads, in the zip format or the one before it.

    A file at the path is replaced once all is written, or stays as it was.  A `pickle_module` that
    is not Python's own pickles the value, by its `protocol`.

    Raises:
        ArchiveError: the value holds something that cannot be found or made again by its name, or
            memory seen as two dtypes.
        RuntimeError: contents are to be left out of a file before the zip format.
        OSError: the file cannot be written.
    """
    blank = SKIPPING.data
    if blank and not in_zip:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")
    storages = StorageTable(one_kind=True)
    if is_own(pickle_module):
        pickled = pickled_with(pickle_module, value, storages, protocol, in_zip)
    else:
        writer = ObjectsWriter(storages)
        writer.in_zip = in_zip
        pickled = writer.pickle(value)
    write = partial(_write, blank) if in_zip else _write_stream
    write_container(file, partial(write, pickled, storages))


def _write(blank: bool, pickled: bytes, storages: StorageTable, sink: Sink, name: str) -> None:
    writer = ContainerWriter(sink, name)
    writer.add("data.pkl", pickled)
    writer.add(".format_version", b"1")
    writer.add(".storage_alignment", b"64")
    writer.add("byteorder", b"little")
    storages.write(writer, "data/", blank=blank)
    writer.add("version", b"3\n")
    writer.finish_identified()


def _write_stream(pickled: bytes, storages: StorageTable, sink: Sink, name: str) -> None:
    """Pickles of what follows, of the value and of the storages' keys, and then the storages."""
    sizes = {"short": 2, "int": 4, "long": 4}
    little = sys.byteorder == "little"
    system = {"protocol_version": PROTOCOL, "little_endian": little, "type_sizes": sizes}
    for part in (MAGIC, PROTOCOL, system):
        sink.write(ObjectsWriter(storages).pickle(part))
    sink.write(pickled)
    sink.write(ObjectsWriter(storages).pickle([key for key, _ in storages.records()]))
    for _, array in storages.records():
        sink.write(struct.pack("<q" if little else ">q", array.size))
        sink.write(array.tobytes())


def _outward(value: object) -> object:
    """A machine value with handles for its arrays, in lists and tuples."""
    if isinstance(value, np.ndarray):
        return Tensor._of(value)
    if isinstance(value, list | tuple):
        return type(value)([_outward(item) for item in value])
    return value


class ObjectsWriter:
    """Pickles of protocol 2.  A value met again is referred to, as sharing is part of it."""

    in_zip = True

    def __init__(self, storages: StorageTable) -> None:
        self.storages = storages
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[int, int] = {}
        self.kept: list[object] = []
        self.open: set[int] = set()

    def pickle(self, value: object) -> bytes:
        self.write(value)
        return bytes(self.out) + b"."

    def write(self, value: object) -> None:
        number = self.memo.get(id(value))
        if number is not None:
            self.out += bytes((0x68, number)) if number < 256 else b"j" + struct.pack("<I", number)
            return
        if self.simple(value):
            return
        if id(value) in self.open:
            raise archive_error("unsupported-value", "a tuple or set that contains itself")
        self.open.add(id(value))
        self.compound(value)
        self.open.discard(id(value))
        if id(value) not in self.memo:
            self.remember(value)

    def remember(self, value: object) -> None:
        number = self.memo[id(value)] = len(self.memo)
        self.kept.append(value)  # so that no other value gets its id
        self.out += bytes((0x71, number)) if number < 256 else b"r" + struct.pack("<I", number)

    def simple(self, value: Any) -> bool:
        """Write what has no parts."""
        kind = type(value)
        if value is None:
            self.out += b"N"
        elif kind is bool:
            self.out += b"\x88" if value else b"\x89"
        elif kind is int:
            self.integer(value)
        elif kind is float:
            self.out += b"G" + struct.pack(">d", value)
        elif kind is str:
            self.text(value)
        elif kind is DType or kind is QScheme:
            self.name("torch", str(value).removeprefix("torch."))
        elif kind is Layout:
            self.made("torch.serialization", "_get_layout", str(value))
        else:
            return False
        return True

    def compound(self, value: Any) -> None:
        kind = type(value)
        if kind is list:
            self.out += b"]"
            self.remember(value)
            self.group(value, b"e")
        elif kind is dict:
            self.out += b"}"
            self.remember(value)
            self.group([part for pair in value.items() for part in pair], b"u")
        elif kind is OrderedDict:
            self.ordered_dict(value)
        elif kind is tuple:
            self.tuple(*value)
        elif issubclass(kind, Parameter):
            self.parameter(value)
        elif kind is SparseTensor:
            self.sparse(value)
        elif kind is ConjugateTensor:
            self.parameter(value) if isinstance(value, Parameter) else self.tensor(value)
        elif issubclass(kind, Tensor) and kind.__reduce_ex__ is Tensor.__reduce_ex__:
            self.tensor(value)
        elif kind is TypedStorage or kind is Storage:
            self.whole_storage(value)
        else:
            self.by_name(value)

    def by_name(self, value: object) -> None:
        match value:
            case Size():
                self.made("torch", "Size", tuple(value))
            case Device():
                parts = (value.type,) if value.index is None else (value.type, value.index)
                self.made("torch", "device", *parts)
            case complex():
                self.made("__builtin__", "complex", value.real, value.imag)
            case bytes():
                self.made("_codecs", "encode", value.decode("latin-1"), "latin1")
            case set():
                self.made("__builtin__", "set", list(value))
            case EagerFunction() if value.is_method:
                self.made("__builtin__", "getattr", Tensor, value.__name__)
            case type() if value in _ALONE:  # found nowhere by their names
                self.made("__builtin__", "type", _ALONE[value])
            case FunctionType() | BuiltinFunctionType() | EagerFunction() | type():
                self.name(*self.name_of(value))
            case PackedWeights():
                self.packed(value)
            case _:
                self.object(value)

    def name_of(self, value: object, name: str = "") -> tuple[str, str]:
        """The module and name that something is written under; `name` as it says itself."""
        return name_of(value, name)

    def object(self, value: object) -> None:
        """Any other object, as it says itself that it is made again."""
        found = reduced(value)
        if isinstance(found, str):
            self.name(*self.name_of(value, found))
            return
        self.write(found.make)
        self.tuple(*found.arguments)
        self.out += b"\x81" if found.is_new else b"R"
        self.remember(value)
        self.group(found.items, b"e")
        self.group(found.pairs, b"u")
        if found.state is not None:
            self.write(found.state)
            self.out += b"b"

    def packed(self, value: PackedWeights) -> None:
        """Packed weights: an object whose state is theirs and the name of their class."""
        self.name("torch", "ScriptObject")
        self.out += b")\x81"
        self.remember(value)
        self.write((_outward(value.state), value.qualified_name))
        self.out += b"b"

    def ordered_dict(self, value: OrderedDict[Any, Any]) -> None:
        self.made("collections", "OrderedDict")
        self.remember(value)
        self.group([part for pair in value.items() for part in pair], b"u")
        if value.__dict__:
            self.write(dict(value.__dict__))
            self.out += b"b"

    def group(self, items: list[Any], opcode: bytes) -> None:
        if items:
            self.out += b"("
            for item in items:
                self.write(item)
            self.out += opcode

    def tuple(self, *items: Any) -> None:
        self.out += b"("
        for item in items:
            self.write(item)
        self.out += b"t"

    def made(self, module: str, name: str, *arguments: Any) -> None:
        self.name(module, name)
        self.tuple(*arguments)
        self.out += b"R"

    def name(self, module: str, name: str) -> None:
        self.out += f"c{module}\n{name}\n".encode()

    def text(self, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        self.out += b"X" + struct.pack("<I", len(data)) + data

    def integer(self, value: int) -> None:
        if 0 <= value <= 0xFF:
            self.out += bytes((0x4B, value))
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            long = len(data) > 0xFF
            self.out += b"\x8b" + struct.pack("<I", len(data)) if long else bytes((0x8A, len(data)))
            self.out += data

    # -- tensors

    def parameter(self, parameter: Parameter) -> None:
        hooks: OrderedDict[object, object] = OrderedDict()
        parts = parameter.data, parameter.requires_grad, hooks
        state = state_of(parameter)
        if state is None:
            self.made("torch._utils", "_rebuild_parameter", *parts)
        else:
            self.made("torch._utils", "_rebuild_parameter_with_state", *parts, state)

    def tensor(self, tensor: Tensor) -> None:
        state = state_of(tensor)
        kind = tensor.__class__  # tensors without data go by another class than their type
        if kind is Tensor and state is None:
            self.rebuilt(tensor, b"R")
            return
        self.name("torch._tensor", "_rebuild_from_type_v2")
        self.out += b"("
        self.rebuilt(tensor, b"", kind)
        self.write(state)
        self.out += b"tR"

    def rebuilt(self, tensor: Tensor, call: bytes, *between: type) -> None:
        """The name of what makes a tensor, what stands `between`, its arguments, and the `call`."""
        if is_meta(tensor):
            form = tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad
            self.maker("_rebuild_meta_tensor_no_storage", between)
            self.tuple(*form)
        elif is_turned(tensor):
            self.dense(tensor, between)
        elif isinstance(array_behind(tensor), Hidden):
            self.maker("_rebuild_wrapper_subclass", between)
            lies = Size(tensor.shape), tensor.stride(), 0, tensor.layout, tensor.device
            self.tuple(type(tensor), tensor.dtype, *lies, tensor.requires_grad)
        elif isinstance(own := array_behind(tensor), QuantizedArray):
            self.maker("_rebuild_qtensor", between)
            self.quantized(own)
        else:
            self.dense(tensor, between)
        self.out += call

    def maker(self, name: str, between: Sequence[type]) -> None:
        self.name("torch._utils", name)
        for each in between:
            self.write(each)

    def dense(self, tensor: Tensor, between: Sequence[type]) -> None:
        turns = turns_of(tensor)
        array = under(tensor)._array if any(turns) else array_behind(tensor)
        if type(array).__name__ != "ndarray" or array.dtype.names is not None:
            raise archive_error(
                "unsupported-value", "only dense tensors are saved, and this one is not"
            )
        node = self.storages.tensor(array, tensor.requires_grad)
        typed = node.storage.kind in TYPED_STORAGES
        self.maker("_rebuild_tensor_v2" if typed else "_rebuild_tensor_v3", between)
        self.out += b"("
        self.storage(node.storage, None if typed else array.itemsize)
        self.integer(node.offset)
        self.tuple(*node.size)
        self.tuple(*node.stride)
        self.write(node.requires_grad)
        self.made("collections", "OrderedDict")
        if not typed:
            self.write(tensor.dtype)
        if any(turns):
            self.write(dict.fromkeys(turns.words, True))
        self.out += b"t"

    def sparse(self, tensor: Tensor) -> None:
        own = parts_of(tensor)
        self.name("torch._utils", "_rebuild_sparse_tensor")
        self.out += b"("
        self.made("torch.serialization", "_get_layout", str(own.layout))
        if isinstance(own, Coo):
            self.tuple(own.indices, own.values, Size(own.sizes), own.coalesced)
        else:
            self.tuple(own.starts, own.inner, own.values, Size(own.sizes))
        self.out += b"tR"

    def quantized(self, array: QuantizedArray) -> None:
        quantizer = quantizer_of(array, "save")
        node = self.storages.tensor(array)
        self.out += b"("
        self.storage(node.storage, None)
        self.integer(node.offset)
        self.tuple(*node.size)
        self.tuple(*node.stride)
        self.out += b"("
        self.name("torch", quantizer.scheme)
        for part in quantizer.numbers:
            self.write(part if quantizer.axis is None else Tensor._of(part))
        if quantizer.axis is not None:
            self.integer(quantizer.axis)
        self.out += b"t"
        self.write(False)
        self.made("collections", "OrderedDict")
        self.out += b"t"

    def whole_storage(self, storage: TypedStorage | Storage) -> None:
        """A storage by itself, as elements or as bytes."""
        if isinstance(storage, TypedStorage):
            node = self.storages.tensor(storage._flat()._array)
        else:
            node = self.storages.tensor(storage._bytes())
        typed = isinstance(storage, TypedStorage) and node.storage.kind in TYPED_STORAGES
        width = storage.dtype.itemsize if isinstance(storage, TypedStorage) else 1
        self.storage(node.storage, None if typed else width)

    def storage(self, storage: StorageNode, itemsize: int | None) -> None:
        """With an `itemsize` it is one of bytes, for the newer dtypes have no kind of their own."""
        self.out += b"("
        self.text("storage")
        if itemsize is None:
            self.name("torch", f"{storage.kind}Storage")
        else:
            self.name("torch.storage", "UntypedStorage")
        self.text(storage.key)
        self.text(storage.location)
        self.integer(storage.numel * (itemsize or 1))
        self.out += b"tQ" if self.in_zip else b"NtQ"

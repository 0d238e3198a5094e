"""Storages of archives and arrays.

A storage is a run of bytes with one element type; a tensor is a window on it (offset, sizes and
strides in elements).  Reading makes arrays that share their storage's memory as the tensors did;
writing finds which arrays share memory and writes that memory once.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from ...ops.memory.complex_parts import is_complex
from ...ops.memory.dtype import (
    CPU,
    DTYPES,
    META,
    Array,
    Device,
    DType,
    Dtype,
    dtype_of,
    is_here,
)
from ...ops.memory.errors import OperatorError
from ...ops.memory.reserved import reserved
from ...ops.memory.storage import address, contiguous_strides, storage_of, strides_of, view_of
from ...ops.quantized_tensors.halves import are_halves, joined_halves, single_halves
from ..files.container_writer import ContainerWriter
from ..files.errors import archive_error
from .nodes import StorageNode, TensorNode

__all__ = [
    "Records",
    "StorageReader",
    "StorageTable",
    "TYPED_STORAGES",
    "Window",
    "dtype_of_storage",
    "itemsize_of",
    "swapped",
    "window_of",
]

TYPED_STORAGES: Final = frozenset(
    """Bool Byte Char Short Int Long Half BFloat16 Float Double ComplexHalf ComplexFloat
    ComplexDouble""".split()
)
"""The kinds of elements whose storages have classes; those of newer dtypes are bytes."""

_BY_STORAGE: Mapping[str, DType] = {d.scalar_name: d for d in DTYPES.values()}


class Records(Protocol):
    """Where storages are read from: an archive's records, see `container.ArchiveReader`."""

    title: str

    @property
    def byteorder(self) -> str:
        """The order of the bytes of numbers, `big` or `little`."""

    def __contains__(self, record: str) -> bool: ...

    def size(self, record: str) -> int:
        """The number of bytes of a record."""

    def read_into(self, record: str, target: memoryview) -> None:
        """Fill `target` with the first bytes of a record, checked."""

    def mapped(self, record: str, alignment: int) -> memoryview | None:
        """The bytes of a record in a mapping of the file, checked, if that is possible."""


def itemsize_of(kind: str) -> int:
    """The bytes of an element of a kind of storage, which must be known."""
    return _BY_STORAGE[kind].itemsize


def dtype_of_storage(kind: str) -> Dtype:
    """The type of the elements of a kind of storage.

    Raises:
        ArchiveError: there is no such kind, or NumPy has no such elements.
    """
    dtype = _BY_STORAGE.get(kind)
    if dtype is None:
        raise archive_error("damaged-archive", f"`torch.{kind}Storage` is no kind of storage")
    try:
        return dtype.numpy
    except NotImplementedError as error:
        raise archive_error("unsupported-value", str(error)) from None


class StorageReader:
    """The storages of one pickle, read from the records in `folder` when first needed.

    With `mapped`, their memory is a private mapping of the file, wherever that is possible.  With
    `without_data` none is read: all tensors are on the device `meta`, as those are anyway whose
    storages say so.  What is `blank` has zeros in place of what the records hold.  With `only_here`
    devices that are not here, named by values, are taken for that of the tensors.
    """

    without_data = False
    only_here = False
    blank = False

    def __init__(self, archive: Records, folder: str, mapped: bool = False) -> None:
        self._mapped = mapped
        self._archive = archive
        self._folder = folder
        self._read: dict[str, Array] = {}

    def place_of(self, device: Device) -> Device:
        """The device that is meant by one."""
        if is_here(device) or not self.only_here:
            return device
        return META if self.without_data else CPU

    def array(self, node: TensorNode) -> Array:
        """The tensor as an array over its storage's memory; what is done to elements that are read
        (`TensorNode.math`) is not done here.

        Raises:
            ArchiveError: its record is missing or too short, the tensor reaches outside its
                storage, or NumPy has no such element type.
        """
        if node.storage.kind == "QUInt4x2":
            return self._halves(node)
        return self._array(node)

    def _halves(self, node: TensorNode) -> Array:
        """A tensor of four bits an element, of which bytes hold two."""
        well_formed = node.offset >= 0 and all(n >= 0 for n in node.size) and len(node.size) <= 64
        if not well_formed or node.offset or tuple(node.stride) != contiguous_strides(node.size):
            raise archive_error(
                "damaged-archive",
                f"the tensor of storage `{self._folder}{node.storage.key}` has four bits an "
                "element, and they do not lie in order",
            )
        joined = replace(node, size=(math.prod(node.size) + 1 >> 1,), stride=(1,))
        return single_halves(self._array(joined), tuple(node.size))

    def _array(self, node: TensorNode) -> Array:
        dtype = dtype_of_storage(node.storage.kind)
        if self.is_meta(node.storage):
            return self._reserved(node, dtype)
        storage = self._storage(node.storage, dtype)
        self._check(node, len(storage) // dtype.itemsize)
        itemsize = dtype.itemsize
        strides = [stride * itemsize for stride in node.stride]
        try:
            return view_of(storage, node.size, strides, node.offset * itemsize, dtype)
        except OperatorError as error:
            raise archive_error(
                "damaged-archive",
                f"a tensor of storage `{self._folder}{node.storage.key}` is impossible: {error}",
            ) from None

    @property
    def swaps(self) -> bool:
        """Whether the numbers of storages are in the other byte order."""
        return sys.byteorder != self._archive.byteorder

    def is_meta(self, storage: StorageNode) -> bool:
        """Whether tensors of a storage have no data."""
        return self.without_data or storage.location == "meta"

    def _reserved(self, node: TensorNode, dtype: Dtype) -> Array:
        """An array over addresses without memory (`ops/memory/reserved.py`)."""
        self._check(node, node.storage.numel)
        if dtype.names is not None:
            raise archive_error("unsupported-value", "quantized tensors are not read without data")
        try:
            return reserved(node.size, dtype, [stride * dtype.itemsize for stride in node.stride])
        except (OperatorError, OverflowError, ValueError) as error:
            raise archive_error("damaged-archive", f"a tensor is impossible: {error}") from None

    def _check(self, node: TensorNode, length: int) -> None:
        sizes, strides = node.size, node.stride
        well_formed = len(sizes) == len(strides) <= 64 and node.offset >= 0
        if not well_formed or any(n < 0 for n in (*sizes, *strides)):
            raise archive_error(
                "damaged-archive",
                f"a tensor of storage `{self._folder}{node.storage.key}` has impossible sizes or"
                f" strides: {list(sizes)}, {list(strides)}",
            )
        if 0 in sizes:
            return
        last = node.offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if last >= length:
            raise archive_error(
                "damaged-archive",
                f"a tensor of shape {list(sizes)} reaches outside storage"
                f" `{self._folder}{node.storage.key}`, which has {length} elements",
            )

    def _storage(self, node: StorageNode, dtype: Dtype) -> Array:
        """The bytes of a storage: not every element type of NumPy can be a buffer."""
        found = self._read.get(node.key)
        if found is None:
            found = self._read[node.key] = self._load(node, dtype)
        return found

    def _load(self, node: StorageNode, dtype: Dtype) -> Array:
        wanted = node.numel * dtype.itemsize
        record = self._folder + node.key
        if wanted < 0:
            raise archive_error(
                "damaged-archive", f"storage `{record}` has an impossible size: {node.numel}"
            )
        if wanted == 0:
            return np.empty(0, np.uint8)
        if record not in self._archive:
            raise archive_error(
                "damaged-archive", f"{self._archive.title} has no record `{record}`"
            )
        if self._archive.size(record) < wanted:
            raise archive_error(
                "damaged-archive",
                f"record `{record}` of {self._archive.title} has {self._archive.size(record)}"
                f" bytes, its storage needs {wanted}",
            )
        if self.blank:
            return np.zeros(wanted, np.uint8)
        if self._mapped and not self.swaps:
            view = self._archive.mapped(record, dtype.itemsize)
            if view is not None:
                return np.frombuffer(view, np.uint8, wanted)
        content = self._memory(wanted, record)
        self._archive.read_into(record, content.data)
        return swapped(content, dtype) if self.swaps else content

    def _memory(self, count: int, record: str) -> Array:
        try:
            return np.empty(count, np.uint8)
        except MemoryError:
            message = f"record `{record}` of {self._archive.title} needs {count} bytes of memory"
            raise archive_error("limit-exceeded", message) from None


def swapped(content: Array, dtype: Dtype) -> Array:
    """Bytes of the other order; the parts of a complex number are turned each for itself."""
    size = dtype.itemsize // 2 if is_complex(dtype) else dtype.itemsize
    return content.reshape(-1, size)[:, ::-1].copy().reshape(-1)


@dataclass(frozen=True, slots=True)
class Window:
    """Where an array's elements lie: in the memory of `owner`, a one-dimensional array."""

    owner: Array
    offset: int
    stride: tuple[int, ...]


def window_of(array: Array) -> Window | None:
    """The array as a window on all of the memory it shares; None if a tensor cannot say that
    (a negative stride, an owner with gaps)."""
    owner = storage_of(array)[0]
    itemsize = array.itemsize
    strides = [0 if n == 1 else s for n, s in zip(array.shape, array.strides, strict=True)]
    distance = address(array) - address(owner)
    if owner.dtype.hasobject or any(s < 0 or s % itemsize for s in (*strides, distance)):
        return None
    flat = _flat(owner)
    if flat is None or flat.nbytes % itemsize:
        return None
    # only a dimension of size 1 can still have a negative stride, where the sign says nothing
    stride = tuple(abs(s) for s in strides_of(array))
    return Window(flat.view(array.dtype), distance // itemsize, stride)


def _flat(owner: Array) -> Array | None:
    """All elements of an array in the order of memory, without a copy; None if it has gaps."""
    if owner.flags.c_contiguous:
        return owner.reshape(-1)
    if owner.flags.f_contiguous:
        return owner.T.reshape(-1)
    order = np.argsort([-s for s in owner.strides], kind="stable")
    ordered = owner.transpose(order)
    return ordered.reshape(-1) if ordered.flags.c_contiguous else None


_TWO_KINDS: Final = (
    "Cannot save multiple tensors or storages that view the same data as different types"
)


class StorageTable:
    """The storages of a pickle being written, numbered in order of first use; `suffix` ends the
    names of their records.

    With `one_kind` no memory may be seen as elements of two dtypes.
    """

    def __init__(self, suffix: str = "", *, one_kind: bool = False) -> None:
        self._suffix = suffix
        self._kinds: dict[int, str] | None = {} if one_kind else None
        self._nodes: dict[tuple[int, str], StorageNode] = {}
        self._arrays: list[Array] = []

    def tensor(
        self, array: Array, requires_grad: bool = False, location: str = "cpu"
    ) -> TensorNode:
        """The description of an array, whose storage gets a number if it has none; nothing is kept
        of one at the location `meta`."""
        if are_halves(array):
            return self._halves(array, requires_grad, location)
        window = window_of(array)
        if window is None:
            window = window_of(np.array(array, order="C", copy=True))
            assert window is not None
        storage = self._storage(window.owner, location)
        offset = 0 if storage.numel == 0 else window.offset
        return TensorNode(storage, offset, array.shape, window.stride, requires_grad)

    def _halves(self, array: Array, requires_grad: bool, location: str) -> TensorNode:
        numbers = np.ascontiguousarray(array).view(np.ndarray).view(np.uint8)
        joined = joined_halves(numbers.reshape(-1)).view(array.dtype)
        stride = contiguous_strides(array.shape)
        return TensorNode(self._storage(joined, location), 0, array.shape, stride, requires_grad)

    def _storage(self, owner: Array, location: str) -> StorageNode:
        kind = dtype_of(owner).scalar_name
        # empty arrays may lie anywhere: they share nothing
        key = (address(owner) if owner.size else -len(self._arrays) - 1, kind)
        if self._kinds is not None and self._kinds.setdefault(key[0], kind) != kind:
            raise archive_error("unsupported-value", _TWO_KINDS, torch=_TWO_KINDS)
        node = self._nodes.get(key)
        if node is None:
            key_text = f"{len(self._arrays)}{self._suffix}"
            node = StorageNode(kind, key_text, location, owner.size)
            self._nodes[key] = node
            self._arrays.append(owner[:0] if location == "meta" else owner)
        return node

    def records(self) -> Iterator[tuple[str, Array]]:
        """The storages by their names, in order."""
        return ((f"{index}{self._suffix}", array) for index, array in enumerate(self._arrays))

    def write(
        self,
        writer: ContainerWriter,
        folder: str,
        *,
        blank: bool = False,
        without_data: bool = False,
    ) -> None:
        """Write every storage as a record, of zeros if that shall be `blank`, of nothing where it
        shall be `without_data`."""
        for name, array in self.records():
            if blank or without_data:
                writer.add(f"{folder}{name}", b"" if without_data else bytes(array.nbytes))
                continue
            little = array.byteswap() if sys.byteorder == "big" else array
            writer.add(f"{folder}{name}", little.tobytes())

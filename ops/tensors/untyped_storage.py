"""The memory of tensors as bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NoReturn, Self
from weakref import WeakValueDictionary, ref

import numpy as np

from ...frontend.foundations.locks import fork_safe_lock
from ..memory.dtype import CPU, DTYPES, Array, Device, DType, place_of
from ..memory.growing import grown
from ..memory.mapped_file import mapped_file
from ..memory.shared_memory import share, shared_by
from ..memory.storage import borrowed, bounds_of, copied_with_storage, is_resizable, storage_of
from .storage_bytes import bytes_of_buffer, bytes_of_items, checked_size

__all__ = ["Storage", "follow"]

_HOLDERS: Final = 2
"""The references to an array of a storage that nothing else lies in, that of the count with it."""

_KNOWN: Final[WeakValueDictionary[int, Storage]] = WeakValueDictionary()
"""The storages that there are by the arrays they hold: the same memory is the same object."""
_MAKING: Final = fork_safe_lock()

_SIZES: Final[dict[int, tuple[int, ref[Array]]]] = {}
"""The sizes of storages that were resized below tensors, by their arrays, as long as these live."""

_FORMS: Final = """
 * (*, int allocator = None, torch.device device = None)
 * (int size, *, int allocator = None, torch.device device = None)
 * (object sequence, *, int allocator = None, torch.device device = None)
"""


class Storage:
    """The memory of a tensor, in bytes; none at all on the device `meta`.

    Args:
        source: the number of bytes, unfilled, or the bytes as whole numbers.
        device: `cpu` or `meta`.

    Raises:
        TypeError: more arguments are given.
        RuntimeError: the number is negative, or it is no sequence of whole numbers.
    """

    __module__ = "rushlight.storage"  # its public place
    __slots__ = ("__dict__", "__weakref__", "_is_mapped", "_owner", "_size", "device", "filename")

    is_cuda = is_sparse = is_sparse_csr = is_hpu = False
    _owner: Array
    _size: int
    _is_mapped: bool
    device: Device
    filename: str | None

    def __init__(
        self,
        source: int | Iterable[int] = 0,
        *more: object,
        device: Device | str | None = None,
        **others: object,
    ) -> None:
        if more or others:
            given = [type(each).__name__ for each in (source, *more)]
            given += [f"{name}={type(each).__name__}" for name, each in others.items()]
            raise TypeError(
                "torch.UntypedStorage() received an invalid combination of arguments - got "
                f"({', '.join(given)}), but expected one of:{_FORMS}"
            )
        place = place_of(device)
        is_meta = place.type == "meta"
        if isinstance(source, int):
            size = checked_size(source)
            self._set(np.empty(0 if is_meta else size, np.uint8), place, size)
        else:
            held = bytes_of_items(source)
            self._set(held, place, held.size)

    def _set(self, owner: Array, device: Device, size: int) -> None:
        self._owner, self.device, self._size = owner, device, size
        self._is_mapped, self.filename = False, None

    @classmethod
    def over(cls, array: Array, device: Device = CPU) -> Self:
        """The memory that an array lies in; on `meta` it is only as large."""
        owner, _, count = storage_of(array)
        size = count * array.itemsize
        if device.type == "meta":
            owner = _NOTHING
        elif owner is not array:
            start, stop = bounds_of(owner)  # no whole number of these elements, perhaps
            size = stop - start
        key = id(owner)
        if key in _SIZES:
            size = _SIZES[key][0]
        with _MAKING:  # two threads get one and the same
            known = _KNOWN.get(key)
            if type(known) is cls and known._owner is owner and known._size == size:
                return known
            made = object.__new__(cls)
            made._set(owner, device, size)
            if owner is not _NOTHING:
                _KNOWN[key] = made
            return made

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> Self:
        """A file's first bytes; what is written to them goes to the file if it is `shared`.

        Raises:
            TypeError: the name of the file is not a str.
            RuntimeError: there is no such file, or, if it is not `shared`, it is shorter.
        """
        if not isinstance(filename, str):
            raise TypeError(f"argument 1 must be str, not {type(filename).__name__}")
        made = cls.over(mapped_file(filename, shared, nbytes))
        made._is_mapped = True
        made.filename = filename if shared else None
        return made

    @classmethod
    def from_buffer(
        cls,
        buffer: object,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: DType = DTYPES["uint8"],
    ) -> Self:
        """A copy of elements in a buffer, their bytes as this machine has them.

        Args:
            buffer: bytes.
            byte_order: `big`, `little` or `native`; not needed for single bytes.
            count: how many elements; all that follow, if it is negative.
            offset: where the first lies, in bytes.
            dtype: of the elements.

        Raises:
            TypeError: it is no buffer.
            RuntimeError: the order is not said.
            ValueError: the order is another, or the buffer has no such elements.
        """
        return cls.over(bytes_of_buffer(buffer, byte_order, count, offset, dtype))

    @property
    def is_meta(self) -> bool:
        """Whether it has a size, and nothing else."""
        return self.device.type == "meta"

    def _bytes(self) -> Array:
        """The bytes as an array over the same memory.

        Raises:
            NotImplementedError: there are none, on `meta`.
        """
        if self.is_meta:
            raise NotImplementedError("Not available for 'meta' device type")
        return self._owner.reshape(-1).view(np.uint8)[: self._size] if self._size else _NOTHING

    def data_ptr(self) -> int:
        """The address."""
        held = self._size and not self.is_meta
        return int(np.lib.array_utils.byte_bounds(self._owner)[0]) if held else 0

    _cdata = property(lambda self: id(self._owner))

    def nbytes(self) -> int:
        """The bytes."""
        return self._size

    def size(self) -> int:
        """The bytes."""
        return self._size

    def element_size(self) -> int:
        """The bytes of an element: one."""
        return 1

    def get_device(self) -> int | None:
        """The number of the card: None, there is none."""
        return None

    def is_pinned(self, device: Device | str = "cuda") -> bool:
        """Whether a card could read the memory directly: no."""
        return False

    def pin_memory(self, device: Device | str = "cuda") -> NoReturn:
        """Memory that a card could read directly.

        Raises:
            RuntimeError: always, since there is none.
        """
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def cuda(self, device: object = None, non_blocking: bool = False) -> NoReturn:
        """The memory on a card.

        Raises:
            AssertionError: always, since there is none.
        """
        raise AssertionError("Torch not compiled with CUDA enabled")

    def hpu(self, device: object = None, non_blocking: bool = False) -> NoReturn:
        """The memory on another device.

        Raises:
            AssertionError: always, since there is none.
        """
        raise AssertionError("HPU device module is not loaded")

    def share_memory_(self) -> Storage:
        """The storage, moved to memory that processes share.

        Raises:
            RuntimeError: there are no bytes, on `meta`.
        """
        if self.is_meta:
            raise RuntimeError("_share_fd_: only available on CPU")
        if not self._is_mapped:
            _KNOWN.setdefault(id(self._owner), self)
            share(self._owner)
        return self

    def is_shared(self) -> bool:
        """Whether processes share it, or it is the memory of a file."""
        return self._is_mapped or shared_by(self._owner) is not None

    def resizable(self) -> bool:
        """Whether the memory can become another size."""
        return not self._is_mapped and is_resizable(self._owner)

    def resize_(self, nbytes: int) -> Self:
        """Give the memory another size; the bytes that fit are kept.

        Tensors that lie in it keep their sizes, and the memory stays theirs until they are set to
        other memory: what has become small can become as large again as it was.  They move along
        where it becomes larger.

        Raises:
            RuntimeError: the size is negative, or the memory is that of a file or of somebody else.
        """
        size = checked_size(nbytes)
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable")
        if self.is_meta or size == self._size:
            self._size = size
            return self
        if sys.getrefcount(self._owner) > _HOLDERS and self._owner is not _NOTHING:
            return self._resize_below_tensors(size)
        fresh = np.empty(size, np.uint8)
        kept = min(size, self._size)
        fresh[:kept] = self._bytes()[:kept]
        self._owner, self._size = fresh, size
        return self

    def _resize_below_tensors(self, size: int) -> Self:
        owner = self._owner
        if size > storage_of(owner)[2] * owner.itemsize:
            grown(owner, size)
            return self
        key = id(owner)
        _SIZES[key] = size, ref(owner, lambda _: _SIZES.pop(key, None))
        self._size = size
        return self

    def cpu(self) -> Storage:
        """The same.

        Raises:
            NotImplementedError: there are no bytes, on `meta`.
        """
        if self.is_meta:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return self

    def to(self, *, device: Device | str, non_blocking: bool = False) -> Storage:
        """The same, for there is no other device that it could go to.

        Raises:
            AssertionError: another device than the CPU.
        """
        wanted = device if isinstance(device, Device) else Device(device)
        if wanted.type != "cpu":
            raise AssertionError(f"{wanted.type.upper()} device module is not loaded")
        return self.cpu()

    def untyped(self) -> Storage:
        """The same."""
        return self

    def new(self) -> Storage:
        """A storage without bytes on the same device."""
        return type(self)(0, device=self.device)

    def type(self, dtype: object = None, non_blocking: bool = False) -> str:
        """The name of the class.

        Raises:
            NotImplementedError: another type is wanted; `float()` and the like give that.
        """
        if dtype is not None:
            raise NotImplementedError("bytes are converted by `float()`, `int()` and the like")
        return "torch.storage.UntypedStorage"

    def clone(self) -> Storage:
        """A copy."""
        if self.is_meta:
            return type(self)(self._size, device=self.device)
        return type(self).over(self._bytes().copy())

    def copy_(self, source: Storage, non_blocking: bool | None = None) -> Storage:
        """Write the bytes of another storage into this one.

        Raises:
            RuntimeError: it has another size.
        """
        if source._size != self._size:
            raise RuntimeError(
                f"size does not match, self was {self._size} bytes but src was {source._size} bytes"
            )
        self._bytes()[:] = source._bytes()
        return self

    def fill_(self, value: int) -> Storage:
        """Set every byte to a value, of which the lowest eight bits count."""
        self._bytes()[:] = value & 255
        return self

    def byteswap(self, dtype: DType) -> None:
        """Turn around the bytes of each element of a dtype; of complex numbers, of each part."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        held = self._bytes()
        whole = held[: held.size // width * width].reshape(-1, width)
        whole[:] = whole[:, ::-1].copy()

    def tolist(self) -> list[int]:
        """The bytes as numbers."""
        found: list[int] = self._bytes().tolist()
        return found

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def _place(self, index: object) -> int | slice:
        if isinstance(index, slice):
            if index.step not in (None, 1):
                raise RuntimeError(
                    f"Trying to slice with a step of {index.step}, but only a step of 1 is "
                    "supported"
                )
            return index
        if not isinstance(index, int):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} out of range for storage of size {self._size}")
        return index

    def __getitem__(self, index: int | slice) -> Storage | int:
        held, place = self._bytes(), self._place(index)
        return (
            type(self).over(borrowed(held[place])) if isinstance(place, slice) else int(held[place])
        )

    def __setitem__(self, index: int | slice, value: int | Sequence[int]) -> None:
        held = self._bytes()
        held[self._place(index)] = value & 255 if isinstance(value, int) else value

    def __copy__(self) -> Storage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> Storage:
        if self.is_meta:
            return self.clone()
        return type(self).over(copied_with_storage(self._owner, memo))

    def __repr__(self) -> str:
        if self.is_meta:
            rows = "...\n"
        else:
            rows = "".join(f" {value}\n" for value in self.tolist()) or " \n"
        kind = "torch.storage.UntypedStorage"
        return f"{rows}[{kind}(device={self.device}) of size {self._size}]"


Storage.__name__ = Storage.__qualname__ = "UntypedStorage"
_NOTHING: Final = np.empty(0, np.uint8)


def follow(holder: Array, fresh: Array) -> None:
    """Have the storage over the memory of an array lie in other memory."""
    _SIZES.pop(id(holder), None)
    known = _KNOWN.pop(id(holder), None)
    if known is not None:
        known._owner, known._size = fresh, fresh.size
        _KNOWN[id(fresh)] = known

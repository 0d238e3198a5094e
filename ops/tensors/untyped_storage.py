"""The memory of tensors as bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Self

import numpy as np

from ..memory.dtype import CPU, Array, Device
from ..memory.mapped_file import mapped_file
from ..memory.storage import borrowed, copied_with_storage, storage_of

__all__ = ["Storage"]


class Storage:
    """The memory of a tensor, in bytes.

    Args:
        source: the number of bytes, unfilled, or the bytes.
    """

    __slots__ = ("__weakref__", "_is_mapped", "_owner", "_size", "filename")

    device: Final = CPU
    is_cuda = is_sparse = is_sparse_csr = is_hpu = False

    def __init__(self, source: Array | int | Iterable[int] = 0, *, device: object = None) -> None:
        if isinstance(source, int):
            source = np.empty(source, np.uint8)
        elif not isinstance(source, np.ndarray):
            source = np.array(list(source), np.uint8)
        owner, _, count = storage_of(source)
        self._owner = owner
        self._size = count * source.itemsize
        self._is_mapped = False
        self.filename: str | None = None

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> Self:
        """A file's first bytes; what is written to them goes to the file if it is `shared`.

        Raises:
            TypeError: the name of the file is not a str.
            RuntimeError: there is no such file, or, if it is not `shared`, it is shorter.
        """
        if not isinstance(filename, str):
            raise TypeError(f"argument 1 must be str, not {type(filename).__name__}")
        made = cls(mapped_file(filename, shared, nbytes))
        made._is_mapped = True
        made.filename = filename if shared else None
        return made

    def _bytes(self) -> Array:
        """The bytes as an array over the same memory."""
        return self._owner.reshape(-1).view(np.uint8)[: self._size] if self._size else _NOTHING

    def data_ptr(self) -> int:
        """The address."""
        return int(np.lib.array_utils.byte_bounds(self._owner)[0]) if self._size else 0

    def nbytes(self) -> int:
        """The bytes."""
        return self._size

    def size(self) -> int:
        """The bytes."""
        return self._size

    def element_size(self) -> int:
        """The bytes of an element: one."""
        return 1

    def get_device(self) -> int:
        """The number of the card: -1, there is none."""
        return -1

    def is_pinned(self, device: Device | str = "cuda") -> bool:
        """Whether a card could read the memory directly: no."""
        return False

    def is_shared(self) -> bool:
        """Whether it is the memory of a file."""
        return self._is_mapped

    def cpu(self) -> Storage:
        """The same."""
        return self

    def untyped(self) -> Storage:
        """The same."""
        return self

    def clone(self) -> Storage:
        """A copy."""
        return Storage(self._bytes().copy())

    def copy_(self, source: Storage, non_blocking: bool | None = None) -> Storage:
        """Write the bytes of another storage into this one."""
        self._bytes()[:] = source._bytes()
        return self

    def fill_(self, value: int) -> Storage:
        """Set every byte to a value."""
        self._bytes()[:] = value
        return self

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

    def __getitem__(self, index: int | slice) -> Any:
        if not isinstance(index, slice):
            return int(self._bytes()[index])
        if index.step not in (None, 1):
            raise RuntimeError(
                f"Trying to slice with a step of {index.step}, but only a step of 1 is supported"
            )
        return Storage(borrowed(self._bytes()[index]))

    def __setitem__(self, index: int | slice, value: int) -> None:
        self._bytes()[index] = value

    def __copy__(self) -> Storage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> Storage:
        return Storage(copied_with_storage(self._owner, memo))

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self.tolist())
        kind = "torch.storage.UntypedStorage"
        return f"{rows}[{kind}(device=cpu) of size {self._size}]"


_NOTHING: Final = np.empty(0, np.uint8)

"""The memory of tensors as elements of one dtype, and the ways to it: `storage`, `set_`, `new`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..memory.dtype import CPU, Device, DType
from ..memory.storage import storage_of
from ..selection.strides import elements_of
from ..tensors.tensor import Tensor
from ..tensors.untyped_storage import Storage as UntypedStorage
from .dispatch import eager_function

__all__ = ["TypedStorage", "new", "set_", "storage"]


class TypedStorage:
    """The memory of a tensor, from the beginning of what it is a view of, counted in elements.

    Args:
        tensor: any tensor over that memory.
    """

    is_cuda = is_sparse = False

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self._size = storage_of(tensor._array)[2]

    def _flat(self) -> Tensor:
        flat: Tensor = self._tensor.detach().as_strided((self._size,), (1,), 0)
        return flat

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._tensor.dtype

    @property
    def device(self) -> Device:
        """Always the CPU."""
        return CPU

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._tensor.untyped_storage()

    def size(self) -> int:
        """The number of elements."""
        return self._size

    def __len__(self) -> int:
        return self._size

    def nbytes(self) -> int:
        """The bytes."""
        return self._size * self.element_size()

    def element_size(self) -> int:
        """The bytes of an element."""
        return self._tensor.itemsize

    def data_ptr(self) -> int:
        """The address."""
        return self.untyped().data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        values: list[Any] = self._flat().tolist()
        return values

    def __getitem__(self, index: int) -> Any:
        return self.tolist()[index]

    def __setitem__(self, index: int | slice, value: object) -> None:
        self._flat()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self.tolist())
        kind = "torch.storage.TypedStorage"
        return f"{rows}[{kind}(dtype={self.dtype}, device=cpu) of size {self._size}]"


def storage(self: Tensor) -> TypedStorage:
    """The memory the tensor lies in, as elements of its dtype."""
    return TypedStorage(self)


def set_(
    self: Tensor,
    source: Tensor | TypedStorage | UntypedStorage | None = None,
    storage_offset: int = 0,
    size: Sequence[int] | None = None,
    stride: Sequence[int] = (),
) -> Tensor:
    """Have the tensor lie in other memory, as sizes and strides say.

    Without sizes it gets all of a storage, or the sizes of a tensor; without a source it is empty
    afterwards.

    Raises:
        RuntimeError: another dtype, or sizes that leave the memory.
    """
    if isinstance(source, TypedStorage):
        source = source._flat()
    elif isinstance(source, UntypedStorage):
        source = Tensor._of(elements_of(source._owner, self.dtype.numpy))
    part = () if size is None else (storage_offset, size, stride)
    given = () if source is None else (source, *part)
    changed: Tensor = eager_function("aten::set_")(self, *given)
    return changed


def new(self: Tensor, *args: object) -> Tensor:
    """A tensor of the same dtype: of sizes, unfilled, or of numbers."""
    made: Tensor = Tensor(*args).to(self.dtype)
    return made

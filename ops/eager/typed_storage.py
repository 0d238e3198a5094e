"""The memory of tensors as elements of one dtype, and the ways to it: `storage`, `set_`, `new`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

from ..memory.dtype import CPU, DTYPES, Device, DType, get_default_dtype
from ..memory.storage import storage_of
from ..selection.strides import elements_of
from ..table.refusals import cpp_name
from ..tensors.construct import tensor as _made
from ..tensors.python_data import array_of_arguments
from ..tensors.sizes import Size
from ..tensors.tensor import Tensor
from ..tensors.tracing import told
from ..tensors.untyped_storage import Storage as UntypedStorage
from .dispatch import eager_function

__all__ = ["TypedStorage", "new", "set_", "storage"]


class TypedStorage:
    """The memory of a tensor, from the beginning of what it is a view of, counted in elements.

    Args:
        source: any tensor over that memory, or numbers, or how many; none for no elements.
        dtype: of the elements, where no tensor says it.
        wrap_storage: bytes to be seen as elements of the dtype.
    """

    is_cuda = is_sparse = is_hpu = False
    filename = None

    def __init__(
        self,
        source: Any = 0,
        *,
        wrap_storage: UntypedStorage | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        _internal: bool = False,
    ) -> None:
        if wrap_storage is not None:
            kind = get_default_dtype() if dtype is None else dtype
            source = Tensor._of(elements_of(wrap_storage._owner, kind.numpy))
        elif not isinstance(source, Tensor):
            kind = get_default_dtype() if dtype is None else dtype
            is_count = isinstance(source, int)
            source = Tensor(source).to(kind) if is_count else _made(source, dtype=kind)
        self._tensor: Tensor = source
        self._size = storage_of(source._array)[2]

    @classmethod
    def from_file(
        cls, filename: str, shared: bool = False, size: int = 0, *, dtype: DType | None = None
    ) -> TypedStorage:
        """The first `size` elements of a file (see `UntypedStorage.from_file`)."""
        kind = get_default_dtype() if dtype is None else dtype
        memory = UntypedStorage.from_file(filename, shared, size * kind.itemsize)
        return cls(wrap_storage=memory, dtype=kind)

    def is_shared(self) -> bool:
        """Whether other processes see the memory: no."""
        return False

    def is_pinned(self, device: Device | str | None = None) -> bool:
        """Whether a card could read the memory directly: no."""
        return False

    def cpu(self) -> TypedStorage:
        """The same."""
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return TypedStorage(self._flat().clone())

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Write the elements of another storage into this one."""
        self._flat().copy_(source._flat())
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element to a value."""
        self._flat().fill_(value)
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the storage's type, or the elements in another dtype."""
        if dtype is None:
            return f"torch.{self.dtype.scalar_name}Storage"
        return TypedStorage(self._flat().type(dtype))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, object]) -> TypedStorage:
        return TypedStorage(self._flat().__deepcopy__(memo))

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

    @property
    def _untyped_storage(self) -> UntypedStorage:
        return self.untyped()

    @property
    def _cdata(self) -> int:
        return self.data_ptr()

    def resizable(self) -> bool:
        """Whether the memory can become another size."""
        return True

    def resize_(self, size: int) -> Self:
        """Give the memory room for `size` elements."""
        self._tensor = self._flat().resize_(size)
        self._size = size
        return self

    def pickle_storage_type(self) -> str:
        """The old name of the storage's class, without its module."""
        return f"{self.dtype.scalar_name}Storage"

    def to(self, *, device: Device | str, non_blocking: bool = False) -> TypedStorage:
        """The same, for there is no other device that it could go to.

        Raises:
            NotImplementedError: another device than the CPU.
        """
        self._flat().to(device)
        return self

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


def _casting(dtype: DType) -> Callable[[TypedStorage], TypedStorage]:
    def cast(self: TypedStorage) -> TypedStorage:
        return TypedStorage(self._flat().to(dtype))

    cast.__doc__ = f"A copy whose elements are of `torch.{dtype.name}`."
    return cast


_CASTS = {
    **{"half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16"},
    **{"byte": "uint8", "char": "int8", "short": "int16", "int": "int32", "long": "int64"},
    **{"bool": "bool", "complex_float": "complex64", "complex_double": "complex128"},
    **{"float8_e4m3fn": "float8_e4m3fn", "float8_e4m3fnuz": "float8_e4m3fnuz"},
    **{"float8_e5m2": "float8_e5m2", "float8_e5m2fnuz": "float8_e5m2fnuz"},
}
for _name, _dtype in _CASTS.items():
    setattr(TypedStorage, _name, _casting(DTYPES[_dtype]))


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
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {cpp_name(self.dtype)} or an UntypedStorage, but got "
                f"type {source.dtype.scalar_name} for argument 1 'storage'"
            )
        source = source._flat()
    elif isinstance(source, UntypedStorage):
        source = Tensor._of(elements_of(source._owner, self.dtype.numpy))
    part = () if size is None else (storage_offset, size, stride)
    given = () if source is None else (source, *part)
    changed: Tensor = eager_function("aten::set_")(self, *given)
    return changed


def new(self: Tensor, *args: object, size: Sequence[int] | None = None) -> Tensor:
    """A tensor of the same dtype: of sizes, unfilled, or of numbers.

    Raises:
        TypeError: a tensor of another dtype is given, or what is neither.
    """
    if size is not None:
        args = (Size(size), *args)
    return told(Tensor._of(array_of_arguments(args, Size, self.dtype.numpy)), args, Size)

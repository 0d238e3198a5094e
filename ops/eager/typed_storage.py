"""The memory of tensors as elements of one dtype, and the ways to it: `storage`, `set_`, `new`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from ..memory.dtype import DTYPES, Device, DType, get_default_dtype, place_of
from ..memory.storage import contiguous_strides, reach
from ..selection.strides import elements_of
from ..table.refusals import cpp_name
from ..tensors.called_classes import called
from ..tensors.construct import tensor as _made
from ..tensors.tensor import Tensor
from ..tensors.untyped_storage import Storage as UntypedStorage
from .aten import aten
from .storage_warning import going_away, warn_of_removal

__all__ = ["TypedStorage", "new", "set_", "storage", "typed_memory"]


def _unfit(said: str) -> str:
    """torch's words for arguments that fit no form."""
    return (
        "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
        " * (*, torch.device device, torch.dtype dtype)\n"
        " * (int size, *, torch.device device, torch.dtype dtype)\n"
        " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
        f" * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n{said}"
    )


def _wrapped(
    args: Sequence[object], memory: object, dtype: DType | None, device: object
) -> tuple[UntypedStorage, DType]:
    """Bytes that are seen as elements.

    Raises:
        RuntimeError: the dtype is missing, or a device or elements are given too.
        TypeError: they are no bytes, or it is no dtype.
    """
    if args:
        said = "No positional arguments should be given when using 'wrap_storage'"
        raise RuntimeError(_unfit(said))
    if dtype is None:
        raise RuntimeError(_unfit("Argument 'dtype' must be specified"))
    if not isinstance(dtype, DType):
        raise TypeError(_unfit(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}"))
    if device is not None:
        said = "Argument 'device' should not be specified when 'wrap_storage' is given"
        raise RuntimeError(_unfit(said))
    if not isinstance(memory, UntypedStorage):
        said = f"Argument 'wrap_storage' must be UntypedStorage, but got {type(memory)}"
        raise TypeError(_unfit(said))
    return memory, dtype


def _filled(args: Sequence[object], dtype: DType, place: Device) -> UntypedStorage:
    """New bytes: of no elements, of so many, or of the given ones.

    Raises:
        RuntimeError: there are several arguments, or the number is negative.
        TypeError: it is neither a number nor a sequence of numbers.
    """
    if len(args) > 1:
        raise RuntimeError(_unfit("Too many positional arguments"))
    source = args[0] if args else 0
    if isinstance(source, int | np.integer):
        return UntypedStorage(int(source) * dtype.itemsize, device=place)
    if not isinstance(source, Sequence):
        raise TypeError(_unfit(f"Argument type not recognized: {type(source)}"))
    if place.type == "meta":
        return UntypedStorage(len(source) * dtype.itemsize, device=place)
    base = dtype.numpy[0] if dtype.numpy.names else None  # of quantized elements
    if base is not None and not isinstance(source, str):
        return UntypedStorage.over(np.asarray(source, base))
    return UntypedStorage.over(_made(source, dtype=dtype)._array)


@going_away(
    *("is_shared", "is_pinned", "cpu", "clone", "copy_", "fill_", "type", "device", "untyped"),
    *("resizable", "resize_", "pickle_storage_type", "to", "size", "__len__", "nbytes"),
    *("element_size", "data_ptr", "tolist", "__getitem__", "__setitem__", "is_cuda", "is_hpu"),
    *("pin_memory", "share_memory_", "get_device", "cuda", "hpu", "__iter__"),
)
class TypedStorage:
    """The memory of a tensor, from the beginning of what it is a view of, counted in elements.

    Args:
        args: numbers, or how many; none for no elements.
        dtype: of the elements.
        device: `cpu` or `meta`.
        wrap_storage: bytes to be seen as elements of the dtype.

    Raises:
        RuntimeError, TypeError: the arguments are others.
    """

    is_sparse = False
    filename = None

    def __init__(
        self,
        *args: object,
        wrap_storage: UntypedStorage | None = None,
        dtype: DType | None = None,
        device: Device | str | None = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warn_of_removal()
        if wrap_storage is not None:
            self._untyped_storage, self.dtype = _wrapped(args, wrap_storage, dtype, device)
            return
        kind = get_default_dtype() if dtype is None else dtype
        if not isinstance(kind, DType):
            raise TypeError(_unfit(f"Argument 'dtype' must be torch.dtype, not {type(dtype)}"))
        self._untyped_storage, self.dtype = _filled(args, kind, place_of(device)), kind

    @classmethod
    def _over(cls, memory: UntypedStorage, dtype: DType) -> TypedStorage:
        return TypedStorage(wrap_storage=memory, dtype=dtype, _internal=True)

    @classmethod
    def from_file(
        cls, filename: str, shared: bool = False, size: int = 0, *, dtype: DType | None = None
    ) -> TypedStorage:
        """The first `size` elements of a file (see `UntypedStorage.from_file`)."""
        warn_of_removal()
        kind = get_default_dtype() if dtype is None else dtype
        return cls._over(UntypedStorage.from_file(filename, shared, size * kind.itemsize), kind)

    @classmethod
    def from_buffer(
        cls, buffer: object, *args: Any, dtype: DType | None = None, **options: Any
    ) -> TypedStorage:
        """Elements of a buffer (see `UntypedStorage.from_buffer`)."""
        warn_of_removal()
        return cls._from_buffer(buffer, *args, dtype=dtype, **options)

    @classmethod
    def _from_buffer(
        cls, buffer: object, *args: Any, dtype: DType | None = None, **options: Any
    ) -> TypedStorage:
        """The same, without the warning that such storages will go."""
        kind = get_default_dtype() if dtype is None else dtype
        memory = UntypedStorage.from_buffer(buffer, *args, dtype=kind, **options)
        return cls._over(memory, kind)

    def is_shared(self) -> bool:
        """Whether processes share the memory."""
        return self._untyped_storage.is_shared()

    def share_memory_(self) -> TypedStorage:
        """The storage, moved to memory that processes share."""
        self._untyped_storage.share_memory_()
        return self

    def is_pinned(self, device: Device | str | None = None) -> bool:
        """Whether a card could read the memory directly: no."""
        return False

    def pin_memory(self, device: Device | str | None = None) -> TypedStorage:
        """Memory that a card could read directly.

        Raises:
            RuntimeError: always, since there is none.
        """
        self._untyped_storage.pin_memory()

    def cuda(self, device: object = None, non_blocking: bool = False) -> TypedStorage:
        """The memory on a card.

        Raises:
            AssertionError: always, since there is none.
        """
        self._untyped_storage.cuda()

    def hpu(self, device: object = None, non_blocking: bool = False) -> TypedStorage:
        """The memory on another device.

        Raises:
            AssertionError: always, since there is none.
        """
        self._untyped_storage.hpu()

    def get_device(self) -> int | None:
        """The number of the card: None, there is none."""
        return None

    def cpu(self) -> TypedStorage:
        """The same.

        Raises:
            NotImplementedError: there are no elements, on `meta`.
        """
        self._untyped_storage.cpu()
        return self

    def clone(self) -> TypedStorage:
        """A copy."""
        return self._over(self._untyped_storage.clone(), self.dtype)

    def copy_(self, source: TypedStorage, non_blocking: bool | None = None) -> TypedStorage:
        """Write the elements of another storage into this one."""
        self._flat().copy_(source._flat())
        return self

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element to a value.

        Raises:
            RuntimeError: it is a storage.
        """
        _check_element(value)
        self._flat().fill_(value)
        return self

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The name of the storage's type, or the elements in another dtype."""
        if dtype is None:
            return f"torch.{self._pickle_storage_type()}"
        return _of_tensor(self._flat().type(dtype))

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._untyped_storage.nbytes()

    def __eq__(self, other: object) -> bool:
        one = self._untyped_storage.data_ptr()
        return isinstance(other, TypedStorage) and one == other._untyped_storage.data_ptr()

    def __hash__(self) -> int:
        return id(self)

    def __copy__(self) -> TypedStorage:
        return self._over(self._untyped_storage.clone(), self.dtype)

    def _deepcopy(self, memo: dict[int, object]) -> TypedStorage:
        return self.__deepcopy__(memo)

    def __deepcopy__(self, memo: dict[int, object]) -> TypedStorage:
        return self._over(self._untyped_storage.__deepcopy__(memo), self.dtype)

    def _flat(self) -> Tensor:
        """The elements.

        Raises:
            NotImplementedError: there are none, on `meta`.
        """
        self._untyped_storage._bytes()  # which there must be
        return Tensor._of(elements_of(self._untyped_storage._owner, self.dtype.numpy))

    def _numbers(self) -> list[object]:
        array = self._flat()._array
        if array.dtype.names:  # of quantized elements
            array = array.view(array.dtype[0])
        values: list[object] = Tensor._of(array).tolist()
        return values

    @property
    def device(self) -> Device:
        """Where the memory is."""
        return self._untyped_storage.device

    is_cuda = property(lambda self: False, doc="Whether the memory is on a card: no.")
    is_hpu = property(lambda self: False, doc="Whether the memory is on another device: no.")

    def untyped(self) -> UntypedStorage:
        """The same memory as bytes."""
        return self._untyped_storage

    @property
    def _cdata(self) -> int:
        return int(self._untyped_storage._cdata)

    def resizable(self) -> bool:
        """Whether the memory can become another size."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> Self:
        """Have room for `size` elements (see `UntypedStorage.resize_`)."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    def _pickle_storage_type(self) -> str:
        return f"{self.dtype.scalar_name}Storage"

    def pickle_storage_type(self) -> str:
        """The old name of the storage's class, without its module."""
        return self._pickle_storage_type()

    def to(self, *, device: Device | str, non_blocking: bool = False) -> TypedStorage:
        """The same, for there is no other device that it could go to.

        Raises:
            AssertionError: another device than the CPU.
        """
        self._untyped_storage.to(device=device)
        return self

    def _count(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """The number of elements."""
        return self._count()

    def __len__(self) -> int:
        return self._count()

    def nbytes(self) -> int:
        """The bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address."""
        return self._untyped_storage.data_ptr()

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        return self._numbers()

    def __getitem__(self, index: object) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._flat()[self._place(index)].item()

    def _place(self, index: object) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if not -self._count() <= index < self._count():
            raise IndexError(f"index {index} out of range for storage of size {self._count()}")
        return index

    def __setitem__(self, index: int | slice, value: object) -> None:
        _check_element(value)
        place = index if isinstance(index, slice) else self._place(index)
        self._flat()[place] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self._numbers())

    def __repr__(self) -> str:
        if self._untyped_storage.is_meta:
            rows = "...\n"
        else:
            rows = "".join(f" {value}\n" for value in self._numbers()) or " \n"
        told = f"dtype={self.dtype}, device={self._untyped_storage.device}"
        return f"{rows}[torch.storage.TypedStorage({told}) of size {self._count()}]"


def _check_element(value: object) -> None:
    """Refuse a storage in the place of a number."""
    if isinstance(value, (TypedStorage, UntypedStorage)):
        raise RuntimeError(f"cannot set item with value type {type(value)}")


def typed_memory(tensor: Tensor) -> TypedStorage:
    """The memory a tensor lies in, as elements of its dtype."""
    return TypedStorage._over(tensor.untyped_storage(), tensor.dtype)


def _of_tensor(tensor: Tensor) -> TypedStorage:
    return TypedStorage._over(UntypedStorage.over(tensor._array), tensor.dtype)


def _casting(dtype: DType) -> Callable[[TypedStorage | UntypedStorage], TypedStorage]:
    def cast(self: TypedStorage | UntypedStorage) -> TypedStorage:
        warn_of_removal()
        if isinstance(self, UntypedStorage):
            self = TypedStorage._over(self, DTYPES["uint8"])
        return _of_tensor(self._flat().to(dtype))

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
    for _cls in (TypedStorage, UntypedStorage):
        setattr(_cls, _name, _casting(DTYPES[_dtype]))


def storage(self: Tensor) -> TypedStorage:
    """The memory the tensor lies in, as elements of its dtype."""
    warn_of_removal()
    return typed_memory(self)


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
        RuntimeError: another dtype, or sizes that leave the memory of a tensor; that of a storage
            becomes larger, if it may.
    """
    if isinstance(source, TypedStorage):
        if source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {cpp_name(self.dtype)} or an UntypedStorage, but got "
                f"type {source.dtype.scalar_name} for argument 1 'storage'"
            )
        source = source._flat()
    elif isinstance(source, UntypedStorage):
        if size is not None and min(storage_offset, *size, *stride, 0) >= 0:
            steps = stride or contiguous_strides(tuple(size))
            last = (reach(size, steps) + storage_offset) * self.itemsize
            if 0 not in size and source.nbytes() < last:
                source.resize_(last)
        source = Tensor._of(elements_of(source._owner, self.dtype.numpy))
    part = () if size is None else (storage_offset, size, stride)
    given = () if source is None else (source, *part)
    return aten.set_(self, *given)


def new(self: Tensor, *args: object, **options: object) -> Tensor:
    """A tensor of the same dtype: of sizes, unfilled, or of numbers.

    Raises:
        TypeError: a tensor of another dtype is given, or what is neither.
        RuntimeError: `device` is not the CPU.
    """
    made: Tensor = called(Tensor, args, options, self.dtype.numpy, form="new")
    return made

"""`torch.storage`: the memory of tensors, as bytes or as elements of one dtype."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Self

import numpy as np

from .ops.eager import storage_warning
from .ops.eager.storage_warning import warn_of_removal
from .ops.eager.typed_storage import TypedStorage
from .ops.memory.dtype import DTYPES, DType, get_default_dtype
from .ops.tensors import untyped_storage

__all__ = [
    *("BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage"),
    *("ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage"),
    *("LongStorage", "QInt32Storage", "QInt8Storage", "QUInt2x4Storage", "QUInt4x2Storage"),
    *("QUInt8Storage", "ShortStorage", "Storage", "StorageBase", "TypedStorage"),
    "UntypedStorage",
]

UntypedStorage = untyped_storage.Storage
_warn_typed_storage_removal = warn_of_removal
_get_always_warn_typed_storage_removal = storage_warning.always_warns_of_removal
_reset_warn_typed_storage_removal = storage_warning.forget_warning_of_removal
_set_always_warn_typed_storage_removal = storage_warning.set_always_warns_of_removal


_FORMS = """ received an invalid combination of arguments. Expected one of:
 * no arguments
 * (int size)
 * (Sequence data)
 * (*, UntypedStorage wrap_storage)
"""


def _refuse_kinds(options: dict[str, object]) -> None:
    for name in ("dtype", "device"):
        if options.get(name) is not None:
            raise RuntimeError(
                f"from_buffer: '{name}' can only be specified in UntypedStorage.from_buffer "
                "and TypedStorage.from_buffer"
            )


class StorageClass(type):
    """The class of old names of storages: a call makes one, `isinstance` looks at the dtype."""

    dtype: DType
    _dtype = property(lambda cls: cls.dtype)

    def __call__(cls, *args: Any, **options: Any) -> TypedStorage:
        """The storage of so many elements, that are not filled, or of the given ones.

        Raises:
            RuntimeError: there are several arguments, a dtype or a device.
            TypeError: there are other options, or the argument is of another type.
        """
        if not options.pop("_internal", False):
            warn_of_removal()
        cls._check(args, options)
        return TypedStorage(*args, dtype=cls.dtype, _internal=True, **options)

    def _check(cls, args: tuple[object, ...], options: dict[str, object]) -> None:
        said = f"{cls}.__new__{_FORMS}"
        for name in options:
            if name in ("device", "dtype"):
                raise RuntimeError(f"{said}Keyword argument '{name}' cannot be specified")
            if name != "wrap_storage":
                raise TypeError(
                    f"TypedStorage.__new__() got an unexpected keyword argument '{name}'"
                )
        memory = options.get("wrap_storage")
        if memory is None:
            if len(args) > 1:
                raise RuntimeError(f"{said}Too many positional arguments")
            if args and not isinstance(args[0], (int, np.integer, Sequence)):
                raise TypeError(f"{said}Argument type not recognized: {type(args[0])}")
        elif args:
            raise RuntimeError(
                f"{said}No positional arguments should be given when using 'wrap_storage'"
            )
        elif not isinstance(memory, UntypedStorage):
            raise TypeError(
                f"{said}Argument 'wrap_storage' must be UntypedStorage, but got {type(memory)}"
            )

    def from_file(cls, filename: str, shared: bool = False, size: int = 0) -> TypedStorage:
        """The first elements of a file (see `UntypedStorage.from_file`)."""
        return TypedStorage.from_file(filename, shared, size, dtype=cls.dtype)

    def from_buffer(cls, buffer: object, *args: object, **options: object) -> TypedStorage:
        """Elements of a buffer (see `UntypedStorage.from_buffer`).

        Raises:
            RuntimeError: a dtype is given.
        """
        _refuse_kinds(options)
        return TypedStorage.from_buffer(buffer, *args, dtype=cls.dtype, **options)

    def _from_buffer(cls, buffer: object, *args: object, **options: object) -> TypedStorage:
        """The same, without the warning that such classes will go."""
        _refuse_kinds(options)
        return TypedStorage._from_buffer(buffer, *args, dtype=cls.dtype, **options)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TypedStorage) and instance.dtype is cls.dtype


def _named(name: str, dtype: str) -> object:
    told = f"Memory whose elements are of `torch.{dtype}`: from a size, a sequence, or nothing."
    body = {"dtype": DTYPES[dtype], "__module__": __package__, "__doc__": told}
    return StorageClass(name, (), body)


BFloat16Storage = _named("BFloat16Storage", "bfloat16")
BoolStorage = _named("BoolStorage", "bool")
ByteStorage = _named("ByteStorage", "uint8")
CharStorage = _named("CharStorage", "int8")
ComplexDoubleStorage = _named("ComplexDoubleStorage", "complex128")
ComplexFloatStorage = _named("ComplexFloatStorage", "complex64")
DoubleStorage = _named("DoubleStorage", "float64")
FloatStorage = Storage = _named("FloatStorage", "float32")
HalfStorage = _named("HalfStorage", "float16")
IntStorage = _named("IntStorage", "int32")
LongStorage = _named("LongStorage", "int64")
ShortStorage = _named("ShortStorage", "int16")
QInt32Storage = _named("QInt32Storage", "qint32")
QInt8Storage = _named("QInt8Storage", "qint8")
QUInt2x4Storage = _named("QUInt2x4Storage", "quint2x4")
QUInt4x2Storage = _named("QUInt4x2Storage", "quint4x2")
QUInt8Storage = _named("QUInt8Storage", "quint8")


def _load_from_bytes(b: bytes) -> object:
    """A storage that a pickle holds as a file of `torch.save`; it runs what that pickle could."""
    return import_module(".weights", __package__).load(io.BytesIO(b), weights_only=False)


def _classes() -> list[StorageClass]:
    return [each for each in globals().values() if isinstance(each, StorageClass)]


def _dtype_to_storage_type_map() -> dict[DType, str]:
    """The old names of storages, by dtype."""
    return {each.dtype: each.__name__ for each in _classes()}


def default_class() -> type:
    """The old class of storages of the default dtype: `torch.Storage`."""
    return class_of(get_default_dtype())


def class_of(dtype: DType) -> type:
    """The old class of storages of a dtype, or that of all storages if it has none."""
    return next((each for each in _classes() if each.dtype is dtype), TypedStorage)


class StorageBase:
    """What memories are made of; there are none of this class itself.

    Raises:
        RuntimeError: one is made.
    """

    def __new__(cls, *args: object, **options: object) -> Self:
        """Refuse, unless the class is derived from this one."""
        if cls is StorageBase:
            raise RuntimeError(
                "Cannot directly construct StorageBase; subclass it and then construct that"
            )
        return object.__new__(cls)

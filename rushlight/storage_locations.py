"""What `torch.serialization` knows of storages besides loading: their places, types and names."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, NoReturn

from . import storage as storages
from .frontend.foundations.chosen import Chosen
from .legacy_tensors import TENSOR_CLASSES, TensorClass
from .map_location import NO_CARD
from .ops.eager.typed_storage import TypedStorage
from .ops.memory.dtype import DType
from .ops.tensors.untyped_storage import Storage

__all__ = [
    *("SourceChangeWarning", "StorageType", "check_module_version_greater_or_equal"),
    *("get_crc32_options", "location_tag", "mkdtemp", "normalize_storage_type"),
    *("set_crc32_options", "storage_to_tensor_type", "validate_cuda_device"),
    "validate_hpu_device",
]

_CRC: Final = Chosen(True)


class SourceChangeWarning(Warning):
    """A loaded class has another source than the saved one, which is not looked at."""


class StorageType:
    """The type of a storage by its name in files: `StorageType("FloatStorage").dtype`.

    Raises:
        KeyError: there is no such type.
    """

    def __init__(self, name: str) -> None:
        found = getattr(storages, name, None)
        if not isinstance(found, storages.StorageClass):
            raise KeyError(f'pickle storage type "{name}" is not recognized')
        self._dtype = found.dtype

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"


def location_tag(storage: TypedStorage | Storage) -> str:
    """The device of a storage, as files name it."""
    return str(storage.device)


def normalize_storage_type(storage_type: type) -> Any:
    """The class of a storage in `torch` by a class of that name on any device."""
    return getattr(storages, storage_type.__name__)


def storage_to_tensor_type(storage: TypedStorage) -> TensorClass:
    """The old class of tensors over a storage: `torch.FloatTensor`."""
    return {cls.dtype: cls for cls in TENSOR_CLASSES.values()}[storage.dtype]


def check_module_version_greater_or_equal(
    module: ModuleType, req_version_tuple: tuple[int, ...], error_if_malformed: bool = True
) -> bool:
    """Whether a module's `__version__` is not before a version.

    Args:
        module: what has a `__version__`.
        req_version_tuple: numbers, the major one first.
        error_if_malformed: whether a version without numbers is an error; else it is late enough.

    Raises:
        RuntimeError: the version has no numbers.
    """
    parts = str(module.__version__).split(".")
    try:
        found = tuple(
            type(wanted)(part) for part, wanted in zip(parts, req_version_tuple, strict=False)
        )
    except ValueError:
        said = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and "
            f"cannot be compared with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(said) from None
        return True
    return found >= req_version_tuple


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A block with a folder of its own, which is gone after it."""
    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def get_crc32_options() -> bool:
    """What `set_crc32_options` was given; sums are written in any case."""
    return _CRC.now


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether sums of what is saved are wanted; they are written in any case."""
    _CRC.choose(compute_crc32)


def validate_cuda_device(location: str) -> NoReturn:
    """The number of the device that a file names.

    Raises:
        RuntimeError: always, since there is none.
    """
    raise RuntimeError(NO_CARD)


def validate_hpu_device(location: str) -> NoReturn:
    """The number of the device that a file names.

    Raises:
        RuntimeError: always, since there is none.
    """
    raise RuntimeError(
        "The HPU device module is not registered. If you are running on a CPU-only machine, "
        "please use torch.load with map_location=torch.device('cpu') to map your storages to the "
        "CPU."
    )

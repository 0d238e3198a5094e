"""How pickles hold tensors, storages and operators where this stands in for torch: in torch's
words, so that torch reads them."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ._rebuilding import _rebuild_from_type_v2
from .ops.eager.dispatch import EagerFunction
from .ops.tensors.members import attributes_of
from .ops.tensors.tensor import PLAIN_TENSORS, Tensor
from .ops.tensors.untyped_storage import Storage
from .storage import _load_from_bytes
from .weights import save

__all__ = ["pickled"]

_Made = tuple[Callable[..., object], tuple[object, ...]]


class _Module:
    """What is a module of torch where it is unpickled."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __reduce__(self) -> _Made:
        return import_module, (self._name,)


def _named(function: EagerFunction) -> _Made:
    if function.is_method:
        return getattr, (Tensor, function.__name__)
    space = function.public_name.split(".")[1:-1]
    return getattr, (_Module(f"torch._C._{space[0]}" if space else "torch"), function.__name__)


def pickled(value: Any) -> _Made:
    """How a tensor or storage is made again: it is read as a file of `torch.save`; an operator is
    found by its name.

    Attributes are left to the pickler at work, which may know what programs keep there.
    """
    if isinstance(value, EagerFunction):
        return _named(value)
    kept = attributes_of(value) if type(value) in PLAIN_TENSORS else None
    if kept:
        plain = type(value)._of(value._array, value.requires_grad)
        again = _load_from_bytes, type(value), (_saved(plain),), kept
        return _rebuild_from_type_v2, again
    return _load_from_bytes, (_saved(value),)


def _saved(value: object) -> bytes:
    file = io.BytesIO()
    is_new = isinstance(value, Storage)  # which old files do not hold by itself
    save(value, file, _use_new_zipfile_serialization=is_new)
    return file.getvalue()

"""Tensors and storages over memory that moves."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress

from ..memory.dtype import Array
from ..memory.growing import FOLLOWING
from ..memory.metadata import CHANGEABLE, become
from ..memory.storage import address, storage_of, view_of
from .tensor import Tensor
from .untyped_storage import follow as follow_storage

__all__ = ["follow"]


def follow(holder: Array, memory: Array, fresh: Array) -> None:
    """Have what Python holds over some memory lie in larger memory, which begins with the same."""
    others = [array for array in _arrays() if storage_of(array)[0] is holder] if memory.size else []
    begin = address(memory)
    for array in {id(each): each for each in others}.values():
        at = address(array) - begin if array.size else 0
        become(array, view_of(fresh, array.shape, array.strides, at, array.dtype))
    follow_storage(holder, fresh)


def _arrays() -> Iterator[Array]:
    """The arrays of all tensors that there are."""
    kinds, arrays = _kinds(Tensor), list[Array]()
    read = vars(Tensor)["_array"].__get__
    for each in gc.get_objects():
        if type(each) in kinds:
            with suppress(AttributeError):  # nothing is kept there of sparse tensors and their like
                arrays.append(read(each))
    return (array for array in arrays if type(array) in CHANGEABLE)


def _kinds(kind: type) -> set[type]:
    return {kind}.union(*map(_kinds, kind.__subclasses__()))


FOLLOWING.install(follow)

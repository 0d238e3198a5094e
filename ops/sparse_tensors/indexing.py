"""`tensor[...]` of sparse tensors: numbers, whole dimensions and new ones."""

from __future__ import annotations

from typing import Any, Final

from ..eager.dispatch import eager_function
from ..tensors.tensor import Tensor

__all__ = ["at_index"]

_select: Final = eager_function("aten::select")
_unsqueeze: Final = eager_function("aten::unsqueeze")
_WHOLE: Final = slice(None)
_REFUSED: Final = (
    "sparse tensors are indexed by numbers, `:`, `...` and None; index_select takes several places"
)


def at_index(tensor: Any, key: object) -> Tensor:
    """The part of a sparse tensor that an index names.

    Raises:
        IndexError: a number lies outside its dimension, or there are too many.
        NotImplementedError: the index holds parts of dimensions, masks or several places.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    taken = sum(each is not None and each is not ... for each in keys)
    if taken > tensor.ndim:
        raise IndexError(f"too many indices for tensor of dimension {tensor.ndim}")
    place = 0
    for each in keys:
        if each is ...:
            place += tensor.ndim - _dimensions_after(keys) - place
        elif each is None:
            tensor, place = _unsqueeze(tensor, place), place + 1
        elif isinstance(each, slice) and each == _WHOLE:
            place += 1
        else:
            tensor = _select(tensor, place, _checked(each, tensor.shape[place], place))
    found: Tensor = tensor
    return found


def _dimensions_after(keys: list[object]) -> int:
    """How many dimensions are left for what follows `...`."""
    rest = keys[keys.index(...) + 1 :]
    if ... in rest:
        raise NotImplementedError(_REFUSED)
    return sum(each is not None for each in rest)


def _checked(number: object, size: int, place: int) -> int:
    if isinstance(number, Tensor) and not number.ndim and number.dtype.name == "int64":
        number = number.item()
    if isinstance(number, bool) or not isinstance(number, int):
        raise NotImplementedError(_REFUSED)
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {place} with size {size}")
    return number

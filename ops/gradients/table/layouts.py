"""What lays out gradients as torch has them, where formulas leave them in another order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

import numpy as np

from ...arithmetic.convert import is_channels_last
from ...memory.dtype import MEMORY_FORMATS
from ...memory.storage import contiguous_strides, strides_of
from ...shapes.windows import ends_in_channels
from ...table.layouts import strides_like
from ...tensors.tensor import Tensor
from .rows import Lies

__all__ = ["Lay", "layouts_of"]

Look = Callable[[Sequence[Any]], object]
"""What is to be known of the arguments: the rank of images, strides; something false if nothing."""

Lay = Callable[[Tensor, Tensor | None, Any], Tensor]
"""Lays out a gradient, beside the result's gradient and what is known of the arguments."""

_FORMATS: Final = {4: "channels_last", 5: "channels_last_3d"}


def _rank_of_images(values: Sequence[object]) -> int:
    """The rank of an argument that has its channels last; 0 if none has."""
    for value in values:
        if isinstance(value, np.ndarray) and value.ndim > 3 and ends_in_channels(value):
            return value.ndim
    return 0


def _rank_of_convolved(values: Sequence[Any]) -> int:
    """The same, but for volumes of float64."""
    rank = _rank_of_images(values)
    return 0 if rank == 5 and values[0].dtype == np.float64 else rank


def _strides_of_first(values: Sequence[Any]) -> tuple[int, ...]:
    """The strides of the first argument, if it is dense and not contiguous."""
    first = values[0]
    if first.flags.c_contiguous or first.ndim < 2 or not first.size:
        return ()
    strides = strides_of(first)
    return strides if strides_like(first) == strides else ()


def _contiguous(grad: Tensor, *beside: object) -> Tensor:
    array = grad._array
    if strides_of(array) == contiguous_strides(array.shape):
        return grad
    return grad.clone(memory_format=MEMORY_FORMATS["contiguous_format"])


def _with_channels_last(grad: Tensor) -> Tensor:
    if is_channels_last(grad._array):
        return grad
    return grad.clone(memory_format=MEMORY_FORMATS[_FORMATS[grad.ndim]])


def _as_gradient(grad: Tensor, g: Tensor | None, rank: int) -> Tensor:
    if g is not None and grad.ndim in _FORMATS and ends_in_channels(g._array):
        return _with_channels_last(grad)
    return _contiguous(grad)


def _as_arguments(grad: Tensor, g: Tensor | None, rank: int) -> Tensor:
    if rank and grad.ndim == rank:
        return _with_channels_last(grad)
    if rank and grad.ndim == rank - 1:  # of one image
        return _with_channels_last(grad.unsqueeze(0)).squeeze(0)
    return _contiguous(grad)


def _as_first(grad: Tensor, g: Tensor | None, strides: tuple[int, ...]) -> Tensor:
    if not strides or grad.ndim != len(strides):
        return _contiguous(grad)
    if strides_of(grad._array) == strides:
        return grad
    dims = sorted(range(grad.ndim), key=lambda dim: -strides[dim])
    back = sorted(range(grad.ndim), key=dims.__getitem__)
    return _contiguous(grad.permute(dims)).permute(back)


def _by_columns(grad: Tensor, *beside: object) -> Tensor:
    """Matrices that are wide are stored by rows all the same."""
    if grad.ndim > 1 and grad.shape[-2] >= grad.shape[-1]:
        return _contiguous(grad.mT).mT
    return _contiguous(grad)


def _all_by_columns(grad: Tensor, *beside: object) -> Tensor:
    return _contiguous(grad.mT).mT if grad.ndim > 1 else grad


def _as_solved(grad: Tensor, g: Tensor | None, is_left: bool | None) -> Tensor:
    return _contiguous(grad) if is_left is False else _all_by_columns(grad)


_LAYS: Final[dict[Lies, Lay]] = {
    "by rows": _contiguous,
    "by columns": _by_columns,
    "all by columns": _all_by_columns,
    "as the first": _as_first,
    "as the gradient": _as_gradient,
    "as images": _as_arguments,
    "as convolved": _as_arguments,
    "as solved": _as_solved,
}
_LOOKS: Final[dict[Lies, Look]] = {
    "as the first": _strides_of_first,
    "as images": _rank_of_images,
    "as convolved": _rank_of_convolved,
}


def layouts_of(
    lies: Lies | Mapping[str, Lies], places: Mapping[str, int]
) -> tuple[dict[int, Lay], Look | None]:
    """What lays out the gradients of an operator's arguments, by their `places`, nothing for those
    that stay as they are; and what is to be asked of the arguments for it, if anything is."""
    words = dict.fromkeys(places, lies) if isinstance(lies, str) else lies
    lays = {places[name]: _LAYS[word] for name, word in words.items() if word and name in places}
    looks = {_LOOKS[word] for word in words.values() if word in _LOOKS}
    if "as solved" in words.values() and "left" in places:
        looks.add(itemgetter(places["left"]))
    return lays, looks.pop() if looks else None

"""Views of each slice as one view of them all, so that what is written to one shows in the other.

They take the tensor of all slices, whose first dimension is theirs, and what a slice is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Final

from ...frontend.foundations.declared import Declared
from ..tensors.tensor import Tensor
from .opened import NotTogetherError

__all__ = ["PROPERTIES", "VIEWS", "indexed", "squeezed"]

VIEWS: Final[Declared[str, Callable[..., object]]] = Declared()
"""What operators make of all slices."""

PROPERTIES: Final[Declared[str, Callable[..., Tensor]]] = Declared()
"""What attributes are of all slices."""


def indexed(whole: Tensor, key: object) -> Tensor:
    """A slice's part by numbers, tensors of one number, ranges, `None` and `...`; others make
    copies.

    Raises:
        NotTogetherError: there are other indices, or a slice has no such part.
    """
    keys = tuple(map(_plain, key if isinstance(key, tuple) else (key,)))
    if not all(each is None or type(each) in (int, slice, EllipsisType) for each in keys):
        raise NotTogetherError
    sizes, rest = list(whole.shape[1:]), [each for each in keys if each is not None]
    if Ellipsis in rest:
        place = rest.index(Ellipsis)
        missing = len(sizes) - len(rest) + 1
        rest[place : place + 1] = [slice(None)] * missing
    if len(rest) > len(sizes) or Ellipsis in rest:
        raise NotTogetherError
    for each, size in zip(rest, sizes, strict=False):
        if type(each) is int and not -size <= each < size:
            raise NotTogetherError
    return whole[(slice(None), *keys)]


def _plain(key: object) -> object:
    """The number that a tensor without dimensions holds, if it is one of whole numbers."""
    if type(key) is not Tensor or key.ndim or key.dtype.kind not in "iu":
        return key
    return int(key)


def _rank(whole: Tensor) -> int:
    return whole.dim() - 1


def squeezed(whole: Tensor) -> Tensor:
    """Slices without their dimensions of one element."""
    return whole.squeeze([dim for dim in range(1, whole.dim()) if whole.shape[dim] == 1])


@VIEWS.of("t")
def _turned(whole: Tensor) -> Tensor:
    if _rank(whole) > 2:
        raise NotTogetherError
    return whole.transpose(1, 2) if _rank(whole) == 2 else whole.view_as(whole)


@PROPERTIES.of("T")
def _reversed(whole: Tensor) -> Tensor:
    return whole.permute([0, *range(_rank(whole), 0, -1)]) if _rank(whole) else whole[:]


@PROPERTIES.of("mT")
def _exchanged(whole: Tensor) -> Tensor:
    if _rank(whole) < 2:
        raise NotTogetherError
    return whole.transpose(-1, -2)


def _conjugated(whole: Tensor) -> Tensor:
    return whole.conj() if whole.is_complex() else whole


@VIEWS.of("adjoint")
@PROPERTIES.of("mH")
def _adjoint(whole: Tensor) -> Tensor:
    return _conjugated(_exchanged(whole))


@PROPERTIES.of("H")
def _adjoint_of_matrix(whole: Tensor) -> Tensor:
    if _rank(whole) != 2:
        raise NotTogetherError
    return _conjugated(_exchanged(whole))


@VIEWS.of("ravel")
def _raveled(whole: Tensor) -> Tensor:
    return whole.flatten(1) if _rank(whole) else whole.unsqueeze(1)


@VIEWS.of("unfold")
def _unfolded(whole: Tensor, dimension: int, size: int, step: int) -> Tensor:
    rank = _rank(whole)
    if not -rank <= dimension < rank:
        raise NotTogetherError
    return whole.unfold(dimension % rank + 1, size, step)


def _split(least: int) -> Callable[..., object]:
    """Parts along the last of so many dimensions, the first where a slice has just one."""

    def split(whole: Tensor, parts: int | Sequence[int]) -> tuple[Tensor, ...]:
        rank = _rank(whole)
        dim = 1 if least == 2 and rank == 1 else max(least, 1)
        if rank < dim or (isinstance(parts, int) and (parts < 1 or whole.shape[dim] % parts)):
            raise NotTogetherError
        return whole.tensor_split(parts, dim)

    return split


def _strided(
    whole: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """The offset is that of the first slice; others lie as far behind as they do now."""
    if len(size) != len(stride):
        raise RuntimeError(
            "Tensor.as_strided(size, stride, ...): size and stride must have the same length! "
            f"Got size {[*size]} and stride {[*stride]}"
        )
    begin = whole.storage_offset()
    at = begin if storage_offset is None else storage_offset
    own_end, end = _end(begin, whole.shape[1:], whole.stride()[1:]), _end(at, size, stride)
    if end > at and (at < begin or end > own_end):
        raise RuntimeError(
            f"result = tensor.as_strided({[*size]}, {[*stride]}, {at}) can access memory outside "
            f"of `tensor`. `result` can access some memory in range [{at}, {end}], but `tensor` "
            f"can only access some memory in range [{begin}, {own_end}]. This is not supported "
            "inside of vmap, please try to rewrite the `as_strided` call as a sequence of PyTorch "
            "view operations"
        )
    return whole.as_strided([whole.shape[0], *size], [whole.stride(0), *stride], at)


def _end(begin: int, sizes: Sequence[int], strides: Sequence[int]) -> int:
    """Where memory ends that elements of some sizes and strides lie in."""
    if 0 in sizes:
        return begin
    steps = zip(sizes, strides, strict=True)
    return begin + 1 + sum((size - 1) * stride for size, stride in steps)


VIEWS.of("as_strided")(_strided)


@VIEWS.of("as_strided_copy")
def _strided_copy(whole: Tensor, *how: Any, **named: Any) -> Tensor:
    return _strided(whole, *how, **named).clone()


for _least, _letter in enumerate("vhd", 1):
    VIEWS.of(f"{_letter}split")(_split(_least))


def _at_least(least: int) -> Callable[..., object]:
    """Slices of so many dimensions or more, to which ones are added as to a single tensor."""

    def filled(whole: Tensor) -> Tensor:
        rank = _rank(whole)
        if rank >= least:
            return whole
        if rank == 2:
            return whole.unsqueeze(-1)
        front = whole[(slice(None), *[None] * (1 if rank else min(least, 2)))]
        return front.unsqueeze(-1) if least == 3 else front

    return filled


for _least in (1, 2, 3):
    VIEWS.of(f"atleast_{_least}d")(_at_least(_least))


@VIEWS.of("alias")
def _the_same(whole: Tensor) -> Tensor:
    return whole[:]


@VIEWS.of("detach")
def _detached(whole: Tensor) -> Tensor:
    return whole.detach()

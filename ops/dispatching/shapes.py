"""Forms of operators that move elements or convert them; see `forms.py`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..eager.aten import aten
from ..meta.tensors import opened
from ..tensors import dispatched
from ..tensors.tensor import Tensor
from .forms import form_of

__all__ = ["converted"]

# --------------------------------------------------------------------------- shapes


def _viewed(x: Tensor, sizes: Sequence[int]) -> bool:
    """Whether a shape needs no copy."""
    with opened(), dispatched.opened():
        try:
            x._array.reshape(tuple(sizes), copy=False)
        except ValueError:
            return False
    return True


@form_of("reshape")
def _reshape(x: Tensor, sizes: Sequence[int]) -> Tensor:
    sizes = list(sizes)
    if -1 in sizes:
        rest = -prod(sizes)
        if rest == 0 or x.numel() % rest:
            return aten.view(x, sizes)  # which says what is wrong
        sizes[sizes.index(-1)] = x.numel() // rest
    if prod(sizes) != x.numel() or _viewed(x, sizes):
        return aten.view(x, sizes)
    return aten._unsafe_view(aten.clone(x, memory_format=0), sizes)


@form_of("flatten.using_ints")
def _flatten(x: Tensor, start: int, end: int) -> object:
    rank = max(x.dim(), 1)
    first, last = start % rank, end % rank
    if not x.dim() or first > last:
        return NotImplemented
    if first == last:
        return x
    shape = list(x.shape)
    return _reshape(x, [*shape[:first], prod(shape[first : last + 1]), *shape[last + 1 :]])


@form_of("unflatten.int")
def _unflatten(x: Tensor, dim: int, sizes: Sequence[int]) -> object:
    shape = list(x.shape)
    dim %= len(shape)
    if -1 in sizes or prod(sizes) != shape[dim]:
        return NotImplemented
    return aten.view(x, [*shape[:dim], *sizes, *shape[dim + 1 :]])


@form_of("contiguous")
def _contiguous(x: Tensor, memory_format: int) -> Tensor:
    if memory_format in (None, 0) and x.is_contiguous():
        return x
    return aten.clone(x, memory_format=memory_format or 0)


@form_of("reshape_as")
def _reshape_as(x: Tensor, other: Tensor) -> object:
    return _reshape(x, other.shape)


@form_of("view_as")
def _view_as(x: Tensor, other: Tensor) -> Tensor:
    return aten.view(x, list(other.shape))


@form_of("expand_as")
def _expand_as(x: Tensor, other: Tensor) -> Tensor:
    return aten.expand(x, list(other.shape))


@form_of("broadcast_to")
def _broadcast_to(x: Tensor, sizes: Sequence[int]) -> Tensor:
    return aten.expand(x, list(sizes))


@form_of("movedim.int", "moveaxis.int")
def _movedim_one(x: Tensor, source: int, target: int) -> object:
    return _movedim(x, [source], [target])


@form_of("movedim.intlist", "moveaxis.intlist")
def _movedim(x: Tensor, source: Sequence[int], target: Sequence[int]) -> object:
    rank = x.dim()
    if not rank:
        return NotImplemented
    from_ = [dim % rank for dim in source]
    to = [dim % rank for dim in target]
    order = [dim for dim in range(rank) if dim not in from_]
    for place, dim in sorted(zip(to, from_, strict=True)):
        order.insert(place, dim)
    return aten.permute(x, order)


@form_of("numpy_T")
def _numpy_t(x: Tensor) -> Tensor:
    return aten.permute(x, list(range(x.dim()))[::-1])


@form_of("mT")
def _matrix_t(x: Tensor) -> Tensor:
    return aten.transpose(x, -2, -1)


@form_of("chunk")
def _chunk(x: Tensor, chunks: int, dim: int) -> object:
    if chunks <= 0 or not x.dim() or not x.shape[dim]:
        return NotImplemented
    return aten.split(x, -(-x.shape[dim] // chunks), dim)


@form_of("narrow")
def _narrow(x: Tensor, dim: int, start: object, length: int) -> object:
    if not isinstance(start, int) or not x.dim():
        return NotImplemented
    size = x.shape[dim]
    first = start + size if start < 0 else start
    if not 0 <= first <= size - length or length < 0:
        return NotImplemented
    return aten.slice(x, dim, first, first + length, 1)


@form_of("vstack", "row_stack")
def _vstack(tensors: Sequence[Tensor]) -> object:
    if any(each.dim() < 1 for each in tensors):
        return NotImplemented
    return aten.cat([aten.unsqueeze(t, 0) if t.dim() == 1 else t for t in tensors], 0)


@form_of("sum_to_size")
def _sum_to_size(x: Tensor, sizes: Sequence[int]) -> Tensor:
    more = x.dim() - len(sizes)
    ends = range(more, x.dim())
    dims = [*range(more), *(d for d in ends if sizes[d - more] == 1 and x.shape[d] != 1)]
    found = aten.sum(x, dims, True) if dims else x
    return aten.view(found, list(sizes)) if more > 0 else found


@form_of("broadcast_tensors")
def _broadcast_tensors(tensors: Sequence[Tensor]) -> object:
    if len({each.shape for each in tensors}) > 1:
        return NotImplemented
    return tuple(tensors)


@form_of("hstack")
def _hstack(tensors: Sequence[Tensor]) -> object:
    if any(each.dim() < 1 for each in tensors):
        return NotImplemented
    return aten.cat(list(tensors), 0 if tensors[0].dim() == 1 else 1)


@form_of("tile")
def _tile(x: Tensor, sizes: Sequence[int]) -> Tensor:
    return aten.repeat(x, [*[1] * (x.dim() - len(sizes)), *sizes])


# --------------------------------------------------------------------------- conversions


def converted(x: Tensor, dtype: object, copy: bool, memory_format: object) -> Tensor:
    """A tensor in a dtype; itself if it is in that and no copy is asked for."""
    if (dtype is None or dtype is x.dtype) and not copy and memory_format is None:
        return x
    return aten._to_copy(x, dtype=dtype or x.dtype, memory_format=memory_format)


@form_of("to.dtype")
def _to_dtype(
    x: Tensor, dtype: object, non_blocking: bool, copy: bool, memory_format: object
) -> Tensor:
    return converted(x, dtype, copy, memory_format)


@form_of("to.dtype_layout")
def _to_layout(
    x: Tensor, dtype: object, layout: object, device: object, pinned: object, non_blocking: object,
    copy: bool,
    memory_format: object,
) -> object:  # fmt: skip
    if device is not None and device != x.device:
        return NotImplemented
    return converted(x, dtype, copy, memory_format)


@form_of("type_as")
def _type_as(x: Tensor, other: Tensor) -> object:
    return converted(x, other.dtype, False, None) if x.device == other.device else NotImplemented

"""Operators of `prims` that give views."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..eager.aten import aten
from ..memory.dtype import DType
from ..memory.errors import BadNumber
from ..tensors.tensor import Tensor
from .declaring import check_dims, check_held, check_sizes, primitive, require

__all__ = ["check_strides", "collapsed_sizes"]

Ints = Sequence[int]


def check_strides(strides: Ints) -> None:
    """Refuse strides below 0.

    Raises:
        NotHeld: there is one.
    """
    for stride in strides:
        check_held(stride >= 0, f"stride must be non-negative, got {stride}")


@primitive(
    "as_strided(Tensor(a!) a, SymInt[] size, SymInt[] stride, SymInt storage_offset) -> Tensor(a!)"
)
def _as_strided(a: Tensor, size: Ints, stride: Ints, storage_offset: int) -> Tensor:
    check_held(len(size) == len(stride), f"len(size)={len(size)} != len(stride)={len(stride)}")
    check_held(storage_offset >= 0, f"storage_offset must be >= 0, got {storage_offset}")
    check_strides(stride)
    check_sizes(size)
    if all(size):
        held = a.untyped_storage().nbytes() // a.element_size()
        needed = storage_offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        if held < needed:
            raise BadNumber(
                f"Can't view a storage of size {held} with an offset of {storage_offset}, shape of "
                f"{list(size)}, and strides of {list(stride)}, which requires a storage of size "
                f"{needed}"
            )
    return aten.as_strided(a, size, stride, storage_offset)


@primitive("broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)")
def _broadcast_in_dim(a: Tensor, shape: Ints, broadcast_dimensions: Ints) -> Tensor:
    dims = list(broadcast_dimensions)
    rank = a.dim()
    check_held(rank == len(dims), f"a.ndim ({rank}) != len(broadcast_dimensions) ({len(dims)})")
    check_held(len(shape) >= rank, f"len(shape) ({len(shape)}) must be >= a.ndim ({rank})")
    for before, dim in pairwise((-1, *dims)):
        check_held(
            dim > before, f"broadcast_dimensions must be strictly ascending: {dim} <= {before}"
        )
        check_held(
            dim < len(shape),
            f"broadcast_dimension {dim} out of bounds for shape of length {len(shape)}",
        )
    for size, dim in zip(a.shape, dims, strict=True):
        require(size in (1, shape[dim]), f"{size} must be broadcastable to {shape[dim]}")
    for dim in range(len(shape)):
        if dim not in dims:
            a = aten.unsqueeze(a, dim)
    return aten.expand(a, shape)


# --------------------------------------------------------------------------- dimensions


def collapsed_sizes(a: Tensor, start: int, end: int) -> list[int]:
    """The sizes of a tensor whose dimensions from one to another are one.

    Raises:
        NotHeld: there are no such dimensions.
        BadNumber: the last one is before the first.
    """
    check_dims((start, end), a.dim())
    if end < start:
        raise BadNumber(f"Attempting to collapse but end, {end}, is less than start, {start}!")
    sizes = list(a.shape) or [1]
    product = 1
    for size in sizes[start : end + 1]:
        product *= size
    return [*sizes[:start], product, *sizes[end + 1 :]]


@primitive("collapse_view(Tensor(a) a, int start, int end) -> Tensor(a)")
def _collapse_view(a: Tensor, start: int, end: int) -> Tensor:
    sizes = collapsed_sizes(a, start, end)
    lengths, steps = a.shape[start : end + 1], a.stride()[start : end + 1]
    nested = [(n, s) for n, s in zip(lengths, steps, strict=True) if n != 1]
    is_view = all(step == s * n for (_, step), (n, s) in pairwise(nested))
    require(
        is_view or not a.numel(),
        "Attempting to view a collapsed tensor, but no such view exists!",
    )
    return aten.view(a, sizes)


@primitive("split_dim(Tensor(a) a, int dim, SymInt outer_length) -> Tensor(a)")
def _split_dim(a: Tensor, dim: int, outer_length: int) -> Tensor:
    check_dims((dim,), a.dim())
    require(outer_length > 0)
    sizes = list(a.shape)
    inner, rest = divmod(sizes[dim], outer_length)
    if rest:
        raise BadNumber(
            f"Attempting to split dimension of length {sizes[dim]}, but outer length of "
            f"{outer_length} divides it with a remainder!"
        )
    return aten.view(a, [*sizes[:dim], outer_length, inner, *sizes[dim + 1 :]])


@primitive("squeeze(Tensor(a) a, int[] dimensions) -> Tensor(a)")
def _squeeze(a: Tensor, dimensions: Ints) -> Tensor:
    for dim in dimensions:
        check_dims((dim,), a.dim())
        size = a.shape[dim] if a.dim() else 1
        check_held(size == 1, f"Cannot squeeze dimension {dim} with size {size} (must be 1)")
    return aten.squeeze(a, list(dimensions))


@primitive("transpose(Tensor(a) a, int[] permutation) -> Tensor(a)")
def _transpose(a: Tensor, permutation: Ints) -> Tensor:
    if a.dim() != len(permutation):
        raise BadNumber(
            f"Attempting to permute a tensor of rank {a.dim()}, but received a permutation of "
            f"length {len(permutation)}!"
        )
    if sorted(permutation) != list(range(a.dim())):
        raise BadNumber(f"Received an invalid permutation, {permutation}!")
    return aten.permute(a, permutation)


# --------------------------------------------------------------------------- the same sizes


@primitive("view_of(Tensor(a) a) -> Tensor(a)")
def _view_of(a: Tensor) -> Tensor:
    return aten.view(a, a.shape)


@primitive("view_of_dtype(Tensor(a) a, ScalarType dtype) -> Tensor(a)")
def _view_of_dtype(a: Tensor, dtype: DType) -> Tensor:
    return aten.view(a, dtype)


@primitive("conj(Tensor(a) a) -> Tensor(a)")
def _conj(a: Tensor) -> Tensor:
    require(a.is_complex(), "Expected complex dtype in prims.conj")
    return aten.conj_physical(a)


def _part(name: str) -> None:
    function = getattr(aten, name)

    @primitive(f"{name}(Tensor(a) self) -> Tensor(a)")
    def run(self: Tensor) -> Tensor:
        require(self.is_complex(), "Only complex dtype is supported")
        found: Tensor = function(self)
        return found


for _name in ("real", "imag"):
    _part(_name)

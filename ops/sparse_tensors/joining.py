"""Sparse tensors behind each other, along a dimension of theirs or along a new one."""

from __future__ import annotations

from collections.abc import Sequence

from ..eager.dispatch import eager_function
from ..memory.dims import wrap_dim
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Coo
from .structure import unsqueeze
from .tensors import is_sparse, of_parts, parts_of


@form("aten::cat", "aten::concat", "aten::concatenate")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors behind each other; along a dimension of their values each has zeros where the
    others are.

    Raises:
        RuntimeError: one is dense, or sizes differ.
    """
    parts = [parts_of(each).to_coo() for each in _all_sparse(tensors)]
    place, first = wrap_dim(dim, len(parts[0].sizes)), parts[0]
    rest = [each.sizes[:place] + each.sizes[place + 1 :] for each in parts]
    other = next((at for at, each in enumerate(rest) if each != rest[0]), None)
    if other is not None:
        raise RuntimeError(
            f"All tensors must have the same shape: {list(first.sizes)} (except in the "
            f"concatenating dimension), but found shape: {list(parts[other].sizes)} at position "
            f"{other}."
        )
    depths = [each.depth for each in parts]
    different = next((at for at, depth in enumerate(depths) if depth != depths[0]), None)
    if different is not None:
        inner = [len(each.sizes) - each.depth for each in (first, parts[different])]
        raise RuntimeError(
            "All tensors must have the same sparse_dim and dense_dim: "
            f"{first.depth}, {inner[0]}, but tensor at position {different} has "
            f"{depths[different]}, {inner[1]}."
        )
    start, whole = 0, sum(each.sizes[place] for each in parts)
    rows, values = list[Tensor](), list[Tensor]()
    pad = eager_function("aten::constant_pad_nd")
    for each in parts:
        moved, held, size = each.indices, each.values, each.sizes[place]
        if place < first.depth:
            moved = moved.clone()
            moved[place] += start
        else:
            behind = [0, 0] * (len(each.sizes) - 1 - place)
            held = pad(held, [*behind, start, whole - start - size])
        rows.append(moved)
        values.append(held)
        start += size
    joined = eager_function("aten::cat")
    sizes = (*first.sizes[:place], whole, *first.sizes[place + 1 :])
    return of_parts(Coo(joined(rows, 1), joined(values), sizes))


def _all_sparse(tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    """The tensors.

    Raises:
        RuntimeError: one is dense.
    """
    dense = next((at for at, each in enumerate(tensors) if not is_sparse(each)), None)
    if dense is not None:
        raise RuntimeError(
            f"Concatenating sparse tensors, but a dense tensor was found at position {dense}."
        )
    return tensors


@form("aten::stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors behind each other along a new dimension."""
    place = wrap_dim(dim, tensors[0].ndim + 1)
    return cat([unsqueeze(each, place) for each in tensors], place)

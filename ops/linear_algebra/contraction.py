"""How a sum of products of two tensors becomes one product of batches of matrices.

Both tensors have all dimensions in the same order, with size 1 where they have none of their own.
The result is a view of the matrices' product: that decides its strides, as in torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

__all__ = ["Contraction", "contraction", "dims_to_sum"]

Ints = Sequence[int]


class Contraction(NamedTuple):
    """Orders of dimensions and shapes, step by step.

    Each tensor is permuted and reshaped to (batch, rows, columns); the product of the two, the
    right one first if `swapped`, is reshaped to `shape` and permuted by `back`.
    """

    swapped: bool
    left: list[int]
    left_shape: tuple[int, int, int]
    right: list[int]
    right_shape: tuple[int, int, int]
    shape: list[int]
    back: list[int]


def contraction(left: Ints, right: Ints, sums: Ints) -> Contraction:
    """The way for tensors of these shapes; the dimensions `sums` have one size in both."""
    both: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    for dim in range(len(left)):
        if dim in sums:
            continue
        if left[dim] != 1:
            (both if right[dim] != 1 else rows).append(dim)
        else:
            columns.append(dim)
    batch, row = (prod(left[d] for d in dims) for dims in (both, rows))
    column, summed = prod(right[d] for d in columns), prod(left[d] for d in sums)
    swapped = bool(rows and columns) and columns[-1] < rows[0]
    if swapped:
        made = [*both, *columns, *sums, *rows]
        orders = [*both, *sums, *rows, *columns], (batch, summed, row)
        firsts = made, (batch, column, summed)
    else:
        made = [*both, *rows, *sums, *columns]
        orders = [*both, *sums, *columns, *rows], (batch, summed, column)
        firsts = made, (batch, row, summed)
    left_parts, right_parts = (orders, firsts) if swapped else (firsts, orders)
    return Contraction(
        swapped,
        *left_parts,
        *right_parts,
        [1 if d in sums else max(left[d], right[d], key=_not_one) for d in made],
        [made.index(dim) for dim in range(len(left))],
    )


def _not_one(size: int) -> bool:
    return size != 1


def dims_to_sum(
    left: Ints, right: Ints, counts: list[int], first: int
) -> tuple[list[int], list[int], list[int]]:
    """The dimensions from `first` on that can be summed when these two are multiplied.

    `counts` says how many of all tensors have more than one element in a dimension, and is brought
    up to date.  The result names the sums over both tensors, over the left and the right one alone.
    """
    sums: tuple[list[int], list[int], list[int]] = ([], [], [])
    for dim in range(first, len(left)):
        here = (left[dim] != 1) + (right[dim] != 1)
        if not here or counts[dim] > here:
            counts[dim] -= here == 2
            continue
        counts[dim] = 0
        sums[0 if here == 2 else 1 if left[dim] != 1 else 2].append(dim)
    return sums

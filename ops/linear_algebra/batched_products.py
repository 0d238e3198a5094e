"""Many products of matrices at once, which a pass puts in the place of single ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..memory.dtype import Array
from ..table.pointwise import as_array
from ..table.table import operator
from .linalg import mm

_MOST = 1024 * 512
"""How many elements may be put side by side; products of more are as fast one by one."""


@operator("prim::MMTreeReduce(...) -> Tensor", cost="product")
def sum_of_products(*operands: Array) -> Array:
    """The sum of products: of the first half of the operands, each with one of the second half."""
    half = len(operands) // 2
    left, right = operands[:half], operands[half:]
    if _alike(left) and _alike(right) and left[0].size * half <= _MOST:
        return mm(np.concatenate(left, 1), np.concatenate(right, 0))
    products = [mm(a, b) for a, b in zip(left, right, strict=True)]
    return as_array(sum(products[1:], start=products[0]))


@operator("prim::MMBatchSide(...) -> Tensor[]", cost="product")
def products_of_one(common_is_first: bool, common: Array, *others: Array) -> list[Array]:
    """The products of one matrix with each of some others."""
    axis = 1 if common_is_first else 0
    if not _alike(others) or others[0].size * len(others) > _MOST:
        return [mm(common, b) if common_is_first else mm(b, common) for b in others]
    joined = np.concatenate(others, axis)
    product = mm(common, joined) if common_is_first else mm(joined, common)
    return np.split(product, len(others), axis)


def _alike(arrays: Sequence[Array]) -> bool:
    """Whether they are matrices of the same sizes and elements."""
    forms = {(array.shape, array.dtype) for array in arrays}
    return len(forms) == 1 and arrays[0].ndim == 2

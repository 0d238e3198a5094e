"""The masks of `torch.masked`: which elements count.

A mask is a tensor of bools that broadcasts to what it masks, of any layout.
"""

from __future__ import annotations

from typing import Final

from ..memory.dims import wrap_dim
from ..memory.dtype import DTYPES, LAYOUTS, STRIDED
from ..tensors.tensor import Tensor
from .aten import aten

__all__ = [
    "Dims",
    "SPARSE_COO",
    "SPARSE_CSR",
    "canonical_dims",
    "dense",
    "dims_of",
    "input_mask",
    "mask_of",
]

Dims = int | list[int] | tuple[int, ...] | None
SPARSE_COO: Final = LAYOUTS["sparse_coo"]
SPARSE_CSR: Final = LAYOUTS["sparse_csr"]
_BOOL: Final = DTYPES["bool"]
_LAYOUTS: Final = (STRIDED, SPARSE_COO, SPARSE_CSR)


def dense(tensor: Tensor) -> Tensor:
    """The tensor with all its elements in memory."""
    return tensor if tensor.layout is STRIDED else tensor.to_dense()


def dims_of(dim: object, ndim: int) -> list[int]:
    """The dimensions that are meant, all of them by None."""
    if dim is None:
        return list(range(ndim))
    dims = [dim] if isinstance(dim, int) else list(dim)  # type: ignore[call-overload]
    found = [wrap_dim(each, ndim) for each in dims]
    for each in found:
        if found.count(each) > 1:
            raise RuntimeError(f"dim={each} appears multiple times in the list of dims")
    return found if ndim else []


def canonical_dims(dim: object, ndim: int) -> tuple[int, ...]:
    """The same in order; an empty tuple means all, too."""
    return tuple(sorted(dims_of(None if dim == () else dim, ndim)))


def mask_of(input: Tensor, mask: Tensor) -> Tensor:
    """The mask with all its elements in memory, in the input's shape."""
    if mask.ndim > input.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher "
            "than of the input)"
        )
    return aten.broadcast_to(dense(mask).to(_BOOL), input.shape)


def input_mask(input: Tensor, *args: object, mask: Tensor | None = None, **_: object) -> Tensor:
    """The mask in the input's shape and layout.

    Raises:
        ValueError: there is none, or there are no masks of that layout.
        IndexError: it has more dimensions than the input.
    """
    if input.layout not in _LAYOUTS:
        raise ValueError(
            f"_input_mask expects strided or sparse COO or sparse CSR tensor but got {input.layout}"
        )
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.layout is input.layout and mask.shape == input.shape:
        made: Tensor = (mask.coalesce() if mask.layout is SPARSE_COO else mask).to(_BOOL)
        return made
    whole = mask_of(input, mask)
    if input.layout is STRIDED:
        return whole
    if input.layout is SPARSE_CSR:
        return whole.to_sparse_csr()
    return whole.to_sparse(input.sparse_dim())

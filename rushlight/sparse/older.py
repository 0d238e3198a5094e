"""Old names of matrix products with sparse tensors, and those whose result is sparse."""

from __future__ import annotations

from ..ops.sparse_tensors.products import addmm, matmul
from ..ops.sparse_tensors.resizing import sspaddmm
from ..ops.sparse_tensors.tensors import is_sparse
from ..ops.tensors.tensor import Tensor

__all__ = ["dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm"]


def _product(a: Tensor, b: Tensor) -> Tensor:
    return matmul(a, b) if is_sparse(a) or is_sparse(b) else a @ b


def _sparse_product(a: Tensor, b: Tensor) -> Tensor:
    """The product as a tensor that keeps what is not zero."""
    made = _product(a, b)
    return made if is_sparse(made) else made.to_sparse()


spmm = dsmm = _product
smm = hsmm = hspmm = _sparse_product
saddmm = addmm

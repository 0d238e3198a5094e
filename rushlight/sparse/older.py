"""Old names of matrix products with sparse tensors, and those whose result is sparse."""

from __future__ import annotations

from ..ops.sparse_tensors.products import product, product_of_rows, sparse_product
from ..ops.sparse_tensors.resizing import sspaddmm

__all__ = ["dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm"]

spmm = dsmm = product
smm = sparse_product
hsmm = hspmm = product_of_rows
saddmm = sspaddmm

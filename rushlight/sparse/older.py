"""Old names of matrix products with sparse tensors, and those whose result is sparse."""

from __future__ import annotations

from ..ops.sparse_tensors.products import hspmm, smm, spmm
from ..ops.sparse_tensors.resizing import sspaddmm

__all__ = ["dsmm", "hsmm", "hspmm", "saddmm", "smm", "spmm", "sspaddmm"]

dsmm = spmm
hsmm = hspmm
saddmm = sspaddmm

"""`torch.backends`: what computes, and how.  Only what programs and archives name is here."""

from __future__ import annotations

from ..module_names import names_of
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp", "private_backend"]

private_backend = "privateuseone"
"""The name of the device that a backend of its own would have."""

__getattr__ = names_of(__name__)

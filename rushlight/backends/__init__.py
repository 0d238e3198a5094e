"""`torch.backends`: what computes, and how.  Only what programs and archives name is here."""

from __future__ import annotations

import sys
from types import ModuleType

from ..float_precision import OfAll
from ..module_names import names_of
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp
from .switches import disable_global_flags, flags_frozen

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp"]
__all__ += ["disable_global_flags", "flags_frozen", "private_backend"]

private_backend = "privateuseone"
"""The name of the device that a backend of its own would have."""

__getattr__ = names_of(
    __name__, "kleidiai", "nnpack", "onnxruntime", "opt_einsum", "python_native", "quantized"
)


class _Backends(OfAll, ModuleType):
    """This module with `fp32_precision`: how exact products of float32 have to be."""


sys.modules[__name__].__class__ = _Backends

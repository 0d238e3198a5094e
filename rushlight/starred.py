"""The names that `from torch import *` gives: `torch.__all__`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

__all__ = ["starred"]

_LEFT_OUT: Final = frozenset(
    """BFloat16Storage BFloat16Tensor ComplexDoubleStorage ComplexFloatStorage HalfStorage
    HalfTensor LoggerBase PRIVATE_OPS Parameter QInt32Storage QInt8Storage QUInt2x4Storage
    QUInt4x2Storage QUInt8Storage Storage StorageBase USE_GLOBAL_DEPS
    USE_RTLD_GLOBAL_WITH_LIBTORCH broadcast_shapes channels_last channels_last_3d
    classproperty compiled_with_cxx11_abi contiguous_format cpu debug eig from_dlpack
    get_file_path jagged legacy_contiguous_format lstsq lu matrix_rank pca_lowrank
    per_channel_affine per_channel_affine_float_qparams per_channel_symmetric
    per_tensor_affine per_tensor_symmetric prepare_multiprocessing_environment preserve_format
    profiler_allow_cudagraph_cupti_lazy_reinit_cuda12 quantized_gru quantized_lstm random
    segment_reduce set_default_dtype set_grad_enabled set_vital solve sparse_bsc sparse_bsr
    sparse_coo sparse_csc sparse_csr strided svd_lowrank symeig to_dlpack unique
    while_loop""".split()
)
"""Public names that torch leaves out of its list, or that are rushlight's own."""


def starred(names: Iterable[str]) -> list[str]:
    """The public ones of all names of the package that are no modules, but for those left out."""
    found = {name for name in names if not name.startswith("_")}
    return sorted(found - _LEFT_OUT | {"export"})

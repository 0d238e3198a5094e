"""Operators of `prims` on matrices and signals: singular values, Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from ..eager.aten import aten
from ..memory.dims import wrap_dim
from ..tensors.tensor import Tensor
from .declaring import primitive, require

__all__: list[str] = []

Dims = Sequence[int]


@primitive("svd(Tensor A, *, bool full_matrices) -> (Tensor U, Tensor S, Tensor Vh)")
def _svd(A: Tensor, *, full_matrices: bool) -> object:
    require(A.dim() >= 2, "linalg.svd: The input tensor A must have at least 2 dimensions.")
    require(
        A.is_floating_point() or A.is_complex(),
        f"linalg.svd: Expected a floating point or complex tensor as input. Got {A.dtype}",
    )
    require(
        A.dtype.name in ("float32", "float64", "complex64", "complex128"),
        f"linalg.svd: Half precision dtypes not supported. Got {A.dtype}",
    )
    return tuple(aten.linalg_svd(A, full_matrices))


def _dims(self: Tensor, dim: Dims) -> list[int]:
    """The dimensions that are transformed, counted from the first one.

    Raises:
        IndexOutOfRange: there are no such dimensions.
        OperatorError: one of them is named twice.
    """
    found = [wrap_dim(each, self.dim()) for each in dim]
    require(len(set(found)) == len(found), "duplicate value in the list of dims")
    return found


@primitive("fft_r2c(Tensor self, *, int[] dim, bool onesided) -> Tensor")
def _fft_r2c(self: Tensor, *, dim: Dims, onesided: bool) -> Tensor:
    return aten._fft_r2c(self, _dims(self, dim), 0, onesided)


@primitive("fft_c2c(Tensor self, *, int[] dim, bool forward) -> Tensor")
def _fft_c2c(self: Tensor, *, dim: Dims, forward: bool) -> Tensor:
    return aten._fft_c2c(self, _dims(self, dim), 0, forward)


@primitive("fft_c2r(Tensor self, *, int[] dim, SymInt last_dim_size) -> Tensor")
def _fft_c2r(self: Tensor, *, dim: Dims, last_dim_size: int) -> Tensor:
    return aten._fft_c2r(self, _dims(self, dim), 0, last_dim_size)

"""Fourier transforms, over tensors whose last axis holds real and imaginary parts."""

from __future__ import annotations

from ...ops.tensors.tensor import Tensor
from .table import means, torch


@means("DFT")
def dft(
    x: Tensor,
    dft_length: Tensor | None = None,
    axis: Tensor | int | None = None,
    inverse: int = 0,
    onesided: int = 0,
) -> Tensor:
    if axis is None:
        if x.dim() != 3:  # 1 in older opsets, the last one in newer ones
            raise RuntimeError(
                "DFT: which axis is transformed is not said, and opsets differ there"
            )
        axis = 1
    place = int(axis)
    place += x.dim() if place < 0 else 0
    size = None if dft_length is None else int(dft_length)
    numbers = x[..., 0] if x.shape[-1] == 1 else torch.view_as_complex(x.contiguous())
    if inverse and onesided:
        real: Tensor = torch.fft.irfft(numbers, size, place)
        return real.unsqueeze(-1)
    transform = torch.fft.ifft if inverse else torch.fft.rfft if onesided else torch.fft.fft
    return torch.view_as_real(transform(numbers, size, place))

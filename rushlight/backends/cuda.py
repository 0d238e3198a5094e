"""`torch.backends.cuda`: there is none; its switches may be set and say nothing."""

from __future__ import annotations

from types import SimpleNamespace

__all__ = ["is_built", "matmul"]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)
"""How products of matrices may be shortened on such a device."""


def is_built() -> bool:
    """Whether there are kernels for CUDA: no."""
    return False

"""`torch.backends.cpu`: what the processor can do."""

from __future__ import annotations

from ..ops.kernels.code.language.target import host

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """The widest instructions that kernels use: `AVX512`, `AVX2` or `DEFAULT`."""
    target = host()
    if target.has_scaling:
        return "AVX512"
    return "AVX2" if target.has_fma and "86" in target.description else "DEFAULT"

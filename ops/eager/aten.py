"""Eager functions by name, for code that says which operator it calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ..tensors.tensor import Tensor
from .dispatch import eager_function

__all__ = ["Several", "aten"]

Several = Callable[..., tuple[Tensor, ...]]


class _Operators:
    """`aten.mul(x, y)`: those that give one tensor, but for the ones that are listed."""

    _fused_moving_avg_obs_fq_helper: Several
    broadcast_tensors: Several
    fake_quantize_per_channel_affine_cachemask: Several
    fake_quantize_per_tensor_affine_cachemask: Several
    linalg_eig: Several
    linalg_eigh: Several
    linalg_svd: Several
    lu_unpack: Several
    nanmedian: Several
    sort: Several
    unsafe_chunk: Several

    def __getattr__(self, name: str) -> Callable[..., Tensor]:
        found = eager_function(f"aten::{name}")
        setattr(self, name, found)
        return found


aten: Final = _Operators()

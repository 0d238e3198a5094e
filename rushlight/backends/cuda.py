"""`torch.backends.cuda`: there is none; its switches may be set and say nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import NamedTuple

from ..module_names import names_of
from ..ops.tensors.tensor import Tensor

__all__ = ["SDPAParams", "is_built", "matmul"]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)
"""How products of matrices may be shortened on such a device."""


def is_built() -> bool:
    """Whether there are kernels for CUDA: no."""
    return False


_CHOSEN = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True, "reduction": False}
"""Which kernels of attention may be taken; there is one, whatever is chosen."""


def _asks(name: str) -> Callable[[], bool]:
    def asked() -> bool:
        """What was said last."""
        return _CHOSEN[name]

    return asked


def _says(name: str) -> Callable[[bool], None]:
    def say(enabled: bool) -> None:
        """Say whether this kernel may be taken."""
        _CHOSEN[name] = enabled

    return say


flash_sdp_enabled, enable_flash_sdp = _asks("flash"), _says("flash")
math_sdp_enabled, enable_math_sdp = _asks("math"), _says("math")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _asks("mem_efficient"), _says("mem_efficient")
cudnn_sdp_enabled, enable_cudnn_sdp = _asks("cudnn"), _says("cudnn")
fp16_bf16_reduction_math_sdp_allowed = _asks("reduction")
allow_fp16_bf16_reduction_math_sdp = _says("reduction")


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """A block in which some kernels of attention may be taken."""
    before = dict(_CHOSEN)
    _CHOSEN.update(flash=enable_flash, math=enable_math)
    _CHOSEN.update(mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _CHOSEN.update(before)


class SDPAParams(NamedTuple):
    """What a call of `scaled_dot_product_attention` is given, for asking which kernels fit it."""

    query: Tensor
    key: Tensor
    value: Tensor
    attn_mask: Tensor | None
    dropout: float
    is_causal: bool
    enable_gqa: bool


def is_flash_attention_available() -> bool:
    """Whether there is such a kernel for the device: no."""
    return False


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a kernel of the device fits: no."""
    return False


can_use_cudnn_attention = can_use_efficient_attention = can_use_flash_attention
is_ck_sdpa_available = is_flash_attention_available

__getattr__ = names_of(__name__)

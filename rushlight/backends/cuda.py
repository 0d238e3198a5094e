"""`torch.backends.cuda`: there is none; its switches may be set and say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import NamedTuple

from ..frontend.foundations.chosen import Chosen
from ..module_names import names_of
from ..ops.tensors.tensor import Tensor

__all__ = ["SDPAParams", "is_built", "matmul"]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    fp32_precision="none",
)
"""How products of matrices may be shortened on such a device."""


def is_built() -> bool:
    """Whether there are kernels for CUDA: no."""
    return False


_FLASH, _MATH, _EFFICIENT, _CUDNN = Chosen(True), Chosen(True), Chosen(True), Chosen(True)
"""Which kernels of attention may be taken; there is one, whatever is chosen."""
_REDUCTION = Chosen(False)


def _switched(choice: Chosen[bool], asking: str, choosing: str) -> None:
    """Put two functions here: one says what was chosen, the other chooses."""

    def asked() -> bool:
        return choice.now

    def choose(enabled: bool) -> None:
        choice.choose(enabled)

    for name, function in ((asking, asked), (choosing, choose)):
        function.__name__ = function.__qualname__ = name
        globals()[name] = function


_switched(_FLASH, "flash_sdp_enabled", "enable_flash_sdp")
_switched(_MATH, "math_sdp_enabled", "enable_math_sdp")
_switched(_EFFICIENT, "mem_efficient_sdp_enabled", "enable_mem_efficient_sdp")
_switched(_CUDNN, "cudnn_sdp_enabled", "enable_cudnn_sdp")
_switched(_REDUCTION, "fp16_bf16_reduction_math_sdp_allowed", "allow_fp16_bf16_reduction_math_sdp")


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """A block in which some kernels of attention may be taken."""
    flash, math = _FLASH.within(enable_flash), _MATH.within(enable_math)
    with flash, math, _EFFICIENT.within(enable_mem_efficient), _CUDNN.within(enable_cudnn):
        yield


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


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a kernel of the device that saves memory fits: no."""
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether a kernel of cuDNN fits: no."""
    return False


def is_ck_sdpa_available() -> bool:
    """Whether there are kernels for AMD's devices: no."""
    return False


__getattr__ = names_of(__name__)

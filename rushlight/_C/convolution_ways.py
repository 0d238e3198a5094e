"""Which of its ways torch takes for a convolution, as its own tests ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor

__all__ = ["_ConvBackend", "_select_conv_backend"]

_ConvBackend: Any = Enum(
    "_ConvBackend",
    "CudaDepthwise2d CudaDepthwise3d Cudnn CudnnTranspose Empty Miopen MiopenDepthwise "
    "MiopenTranspose Mkldnn MkldnnEmpty NnpackSpatial Overrideable Slow2d Slow3d SlowDilated2d "
    "SlowDilated3d SlowTranspose2d SlowTranspose3d Winograd3x3Depthwise Xnnpack2d Mps MpsTranspose",
    module="torch._C",
    start=0,
)


def _select_conv_backend(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    bias_sizes_opt: Sequence[int] | None = None,
) -> Any:
    """The way of a torch that has only kernels of its own, without oneDNN or NNPACK: by the number
    of dimensions (one goes as two), and whether places of the kernel lie apart.

    Raises:
        RuntimeError: it is no convolution, or the sizes do not fit.
    """
    if weight.dim() < 3:
        raise RuntimeError("unsupported ConvNd parameters")
    nowhere = [None if each is None else each.detach().to("meta") for each in (input, weight, bias)]
    eager_function("aten::convolution")(
        *nowhere, stride, padding, dilation, transposed, output_padding, groups
    )
    if 0 in input.shape[:2]:
        return _ConvBackend.Empty
    kind = "Transpose" if transposed else "Dilated" if any(n != 1 for n in dilation) else ""
    return _ConvBackend[f"Slow{kind}{max(weight.dim() - 2, 2)}d"]

"""Functions of quantized tensors that `torch` itself names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from .ops.eager.dispatch import eager_function
from .ops.memory.dtype import DType
from .ops.tensors.tensor import Tensor

__all__ = [
    "empty_quantized",
    "quantized_max_pool1d",
    "quantized_max_pool2d",
    "quantized_max_pool3d",
]

Sizes: TypeAlias = int | Sequence[int]
"""One for each dimension, or one for all."""


def empty_quantized(
    size: Sequence[int],
    qtensor: Tensor,
    *,
    dtype: DType | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: bool | None = None,
    memory_format: object = None,
) -> Tensor:
    """A tensor (size) with the scale and zero point of a quantized one; its values are zeros."""
    zeros = eager_function("aten::zeros")(list(size))
    quantize = eager_function("aten::quantize_per_tensor")
    kind = qtensor.dtype if dtype is None else dtype
    made: Tensor = quantize(zeros, qtensor.q_scale(), qtensor.q_zero_point(), kind)
    return made


_made = eager_function("aten::_make_per_tensor_quantized_tensor")


def _pool(dims: int) -> Callable[..., Tensor]:
    pool = eager_function(f"aten::max_pool{dims}d")

    def function(
        input: Tensor,
        kernel_size: Sizes,
        stride: Sizes = (),
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
    ) -> Tensor:
        if not input.is_quantized:
            raise NotImplementedError(
                f"Could not run 'aten::quantized_max_pool{dims}d' with arguments from the 'CPU' "
                "backend."
            )
        numbers = input.int_repr()  # which floats hold exactly
        best = pool(numbers.float(), kernel_size, stride, padding, dilation, ceil_mode)
        made: Tensor = _made(best.to(numbers.dtype), input.q_scale(), input.q_zero_point())
        return made

    function.__name__ = function.__qualname__ = f"quantized_max_pool{dims}d"
    function.__doc__ = f"""`torch.nn.functional.max_pool{dims}d` of a quantized tensor.

    Raises:
        NotImplementedError: the tensor is not quantized.
    """
    return function


quantized_max_pool1d = _pool(1)
quantized_max_pool2d = _pool(2)
quantized_max_pool3d = _pool(3)

"""The largest elements of the windows of quantized tensors, by the names of torch's own kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..memory.dtype import Array
from ..table.table import TABLE, operator
from .arrays import quantizer_of

__all__ = ["max_pool"]


def max_pool(dims: int) -> Callable[..., Array]:
    """The operator over so many dimensions."""
    name = f"max_pool{dims}d"

    def pool(
        x: Array,
        kernel_size: list[int],
        stride: list[int],
        padding: list[int],
        dilation: list[int],
        ceil_mode: bool,
    ) -> Array:
        quantizer_of(x, name)
        entry = TABLE.operator(f"aten::{name}")
        assert entry is not None
        made = entry.forward(x, kernel_size, stride, padding, dilation, ceil_mode)
        assert isinstance(made, np.ndarray)
        return made

    return pool


for _dims in (1, 2):
    operator(
        f"quantized::max_pool{_dims}d(Tensor qx, int[] kernel_size, int[] stride, int[] padding, "
        "int[] dilation, bool ceil_mode) -> Tensor",
        cost="windows",
    )(max_pool(_dims))

"""The gradients of a convolution as an operator, which programs call and look for by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import numpy as np

from ..memory.dtype import Array
from ..shapes.windows import Ints
from ..table.grad_mode import no_grad
from ..table.table import operator

__all__ = ["convolution_backward"]


@operator(
    "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, "
    "SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, "
    "SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    face="operator",
    cost="convolved-back",
)
def convolution_backward(
    grad_output: Array,
    input: Array,
    weight: Array,
    bias_sizes: Ints | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Array | None, ...]:
    """The gradients of input, weight and bias, by the formula of the walk back; None in the place
    of one that is not wanted."""
    formula = import_module("..gradients.formulas.convolution", __package__).convolution_backward
    tensor = import_module("..tensors.tensor", __package__).Tensor._of
    with no_grad():
        found = formula(
            *map(tensor, (grad_output, input, weight)), bias_sizes, stride, padding, dilation,
            transposed, output_padding, groups, output_mask,
        )  # fmt: skip
    return tuple(None if each is None else np.ascontiguousarray(each._array) for each in found)

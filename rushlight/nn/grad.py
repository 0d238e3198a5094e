"""`torch.nn.grad`: the gradients of convolutions by their operands, asked for directly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..autograd import grad
from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.table.grad_mode import enable_grad, is_grad_enabled
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight"),
    *("conv3d_input", "conv3d_weight"),
]


def _gradient(
    dims: int,
    input: Tensor,
    weight: Tensor,
    grad_output: Tensor,
    options: Sequence[object],
    at: int,
) -> Tensor:
    """The gradient of a convolution by its input (0) or its weight (1); it has a history."""
    operands = [input, weight]
    own = operands[at] = operands[at].detach()._want_gradients()
    create = is_grad_enabled()
    with enable_grad():
        made = eager_function(f"aten::conv{dims}d")(*operands, None, *options)
    found = grad(made, own, grad_output, create_graph=create)[0]
    assert found is not None
    return found


def _by_input(dims: int) -> Callable[..., Tensor]:
    def function(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        input = grad_output.new_zeros(list(input_size))
        given = (stride, padding, dilation, groups)
        return _gradient(dims, input, weight, grad_output, given, 0)

    function.__name__ = function.__qualname__ = f"conv{dims}d_input"
    function.__doc__ = f"""The gradient of `conv{dims}d` by its input.

    Args:
        input_size: the sizes of the input.
        weight: of the convolution.
        grad_output: the gradient by its result.
        stride, padding, dilation, groups: of the convolution.
    """
    return function


def _by_weight(dims: int) -> Callable[..., Tensor]:
    def function(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        weight = grad_output.new_zeros(list(weight_size))
        given = (stride, padding, dilation, groups)
        return _gradient(dims, input, weight, grad_output, given, 1)

    function.__name__ = function.__qualname__ = f"conv{dims}d_weight"
    function.__doc__ = f"""The gradient of `conv{dims}d` by its weight.

    Args:
        input: of the convolution.
        weight_size: the sizes of the weight.
        grad_output: the gradient by its result.
        stride, padding, dilation, groups: of the convolution.
    """
    return function


conv1d_input, conv2d_input, conv3d_input = map(_by_input, (1, 2, 3))
conv1d_weight, conv2d_weight, conv3d_weight = map(_by_weight, (1, 2, 3))


__getattr__ = names_of(__name__)

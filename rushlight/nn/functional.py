"""Functions of layers without state.  Each is a Python function that can be scripted as well.

Their statements and local names show in the code of archives, where they are those of torch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from ..ops.dispatch import eager_function
from ..ops.dtype import DType
from ..ops.tensor import Tensor

__all__ = ["linear", "relu", "sigmoid", "softmax", "tanh"]

Operator = Callable[..., Tensor]

linear: Operator = eager_function("aten::linear")
"""`linear(input, weight, bias=None)`: `input @ weight.T + bias`."""

_relu: Operator = eager_function("aten::relu")
_relu_: Operator = eager_function("aten::relu_")
_sigmoid: Operator = eager_function("aten::sigmoid")
_softmax: Operator = eager_function("aten::softmax")
_tanh: Operator = eager_function("aten::tanh")


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)` of every element."""
    if inplace:  # noqa: SIM108
        result = _relu_(input)
    else:
        result = _relu(input)
    return result


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` of every element."""
    return _sigmoid(input)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of every element."""
    return _tanh(input)


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension when none is given: 0 for 0, 1 and 3 dimensions, else 1."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    if ndim == 0 or ndim == 1 or ndim == 3:  # noqa: SIM108
        ret = 0
    else:
        ret = 1
    return ret


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Exponentials along `dim`, divided by their sum, computed in `dtype` if given."""
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim(), _stacklevel)
    if dtype is None:  # noqa: SIM108
        ret = _softmax(input, dim)
    else:
        ret = _softmax(input, dim, dtype=dtype)
    return ret

"""Functions of layers: activations."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DType
from ...ops.tensors.tensor import Tensor
from .. import dtype_names

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

Operator = Callable[..., Tensor]

celu_: Operator = eager_function("aten::celu_")
elu_: Operator = eager_function("aten::elu_")
gelu: Operator = eager_function("aten::gelu")
hardshrink: Operator = eager_function("aten::hardshrink")
hardtanh_: Operator = eager_function("aten::hardtanh_")
leaky_relu_: Operator = eager_function("aten::leaky_relu_")
logsigmoid: Operator = eager_function("aten::log_sigmoid")
prelu: Operator = eager_function("aten::prelu")
relu_: Operator = eager_function("aten::relu_")
rrelu_: Operator = eager_function("aten::rrelu_")
selu_: Operator = eager_function("aten::selu_")
softplus: Operator = eager_function("aten::softplus")
softshrink: Operator = eager_function("aten::softshrink")
threshold_: Operator = eager_function("aten::threshold_")

_celu: Operator = eager_function("aten::celu")
_elu: Operator = eager_function("aten::elu")
_empty_like: Operator = eager_function("aten::empty_like")
_glu: Operator = eager_function("aten::glu")
_hardsigmoid: Operator = eager_function("aten::hardsigmoid")
_hardsigmoid_: Operator = eager_function("aten::hardsigmoid_")
_hardswish: Operator = eager_function("aten::hardswish")
_hardswish_: Operator = eager_function("aten::hardswish_")
_hardtanh: Operator = eager_function("aten::hardtanh")
_leaky_relu: Operator = eager_function("aten::leaky_relu")
_mish: Operator = eager_function("aten::mish")
_mish_: Operator = eager_function("aten::mish_")
_relu: Operator = eager_function("aten::relu")
_relu6: Operator = eager_function("aten::relu6")
_relu6_: Operator = eager_function("aten::relu6_")
_rrelu: Operator = eager_function("aten::rrelu")
_selu: Operator = eager_function("aten::selu")
_silu: Operator = eager_function("aten::silu")
_silu_: Operator = eager_function("aten::silu_")
_softmax: Operator = eager_function("aten::softmax")
_threshold_of: Operator = eager_function("aten::threshold")
_zeros_like: Operator = eager_function("aten::zeros_like")

# ruff: noqa: SIM108


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Elements up to `threshold` replaced by `value`."""
    if inplace:
        result = threshold_(input, threshold, value)
    else:
        result = _threshold_of(input, threshold, value)
    return result


threshold = _threshold


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)` of every element."""
    if inplace:
        result = relu_(input)
    else:
        result = _relu(input)
    return result


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second half."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _glu(input, dim)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Every element held between two limits."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if inplace:
        result = hardtanh_(input, min_val, max_val)
    else:
        result = _hardtanh(input, min_val, max_val)
    return result


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Every element held between 0 and 6."""
    if inplace:
        result = _relu6_(input)
    else:
        result = _relu6(input)
    return result


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`alpha * (exp(x) - 1)` for elements below 0."""
    if inplace:
        result = elu_(input, alpha)
    else:
        result = _elu(input, alpha)
    return result


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` scaled so that mean and variance stay."""
    if inplace:
        result = selu_(input)
    else:
        result = _selu(input)
    return result


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`alpha * (exp(x / alpha) - 1)` for elements below 0."""
    if inplace:
        result = celu_(input, alpha)
    else:
        result = _celu(input, alpha)
    return result


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Elements below 0 times `negative_slope`."""
    if inplace:
        result = leaky_relu_(input, negative_slope)
    else:
        result = _leaky_relu(input, negative_slope)
    return result


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Elements below 0 times a slope between `lower` and `upper`, random in training."""
    if inplace:
        result = rrelu_(input, lower, upper, training)
    else:
        result = _rrelu(input, lower, upper, training)
    return result


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`."""
    return input / (input.abs() + 1)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of every element."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` of every element."""
    return input.sigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`(x + 3) / 6`, held between 0 and 1."""
    if inplace:
        return _hardsigmoid_(input)
    return _hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * hardsigmoid(x)`."""
    if inplace:
        return _hardswish_(input)
    return _hardswish(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`."""
    if inplace:
        return _silu_(input)
    return _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))`."""
    if inplace:
        return _mish_(input)
    return _mish(input)


# --------------------------------------------------------------------------- softmax


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension when none is given: 0 for 0, 1 and 3 dimensions, else 1."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    if ndim == 0 or ndim == 1 or ndim == 3:
        ret = 0
    else:
        ret = 1
    return ret


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """`softmax` of the negative elements."""
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim(), _stacklevel)
    if dtype is None:
        ret = (-input).softmax(dim)
    else:
        ret = (-input).softmax(dim, dtype=dtype)
    return ret


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Exponentials along `dim`, divided by their sum, computed in `dtype` if given."""
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim(), _stacklevel)
    if dtype is None:
        ret = input.softmax(dim)
    else:
        ret = input.softmax(dim, dtype=dtype)
    return ret


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """The logarithm of `softmax`."""
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim(), _stacklevel)
    if dtype is None:
        ret = input.log_softmax(dim)
    else:
        ret = input.log_softmax(dim, dtype=dtype)
    return ret


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random sample of classes, softened by `tau`; `hard` gives one-hot vectors."""
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -_empty_like(logits, memory_format=dtype_names.contiguous_format).exponential_().log()
    gumbels = (logits + gumbels) / tau
    y_soft = gumbels.softmax(dim)
    if hard:
        index = y_soft.max(dim, keepdim=True)[1]
        y_hard = _zeros_like(logits, memory_format=dtype_names.contiguous_format).scatter_(
            dim, index, 1.0
        )
        ret = y_hard - y_soft.detach() + y_soft
    else:
        ret = y_soft
    return ret

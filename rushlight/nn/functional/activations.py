"""Functions of layers: activations."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DType
from ...ops.tensors.overriding import PLAIN, ask_for, asks
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
_threshold_of: Operator = eager_function("aten::threshold")
_zeros_like: Operator = eager_function("aten::zeros_like")


def _threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Elements up to `threshold` replaced by `value`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(_threshold, locals())
    return (
        threshold_(input, threshold, value) if inplace else _threshold_of(input, threshold, value)
    )


threshold = _threshold


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """`max(x, 0)` of every element."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(relu, locals())
    return relu_(input) if inplace else _relu(input)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along `dim` times the sigmoid of the second half."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(glu, locals())
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _glu(input, dim)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Every element held between two limits."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(hardtanh, locals())
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return hardtanh_(input, min_val, max_val) if inplace else _hardtanh(input, min_val, max_val)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Every element held between 0 and 6."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(relu6, locals())
    return _relu6_(input) if inplace else _relu6(input)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`alpha * (exp(x) - 1)` for elements below 0."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(elu, locals())
    return elu_(input, alpha) if inplace else _elu(input, alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` scaled so that mean and variance stay."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(selu, locals())
    return selu_(input) if inplace else _selu(input)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """`alpha * (exp(x / alpha) - 1)` for elements below 0."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(celu, locals())
    return celu_(input, alpha) if inplace else _celu(input, alpha)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Elements below 0 times `negative_slope`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(leaky_relu, locals())
    return leaky_relu_(input, negative_slope) if inplace else _leaky_relu(input, negative_slope)


def rrelu(
    input: Tensor,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Elements below 0 times a slope between `lower` and `upper`, random in training."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(rrelu, locals())
    return (
        rrelu_(input, lower, upper, training) if inplace else _rrelu(input, lower, upper, training)
    )


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(tanhshrink, locals())
    return input - input.tanh()


def softsign(input: Tensor) -> Tensor:
    """`x / (1 + |x|)`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(softsign, locals())
    return input / (input.abs() + 1)


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent of every element."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """`1 / (1 + exp(-x))` of every element."""
    return input.sigmoid()


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """`(x + 3) / 6`, held between 0 and 1."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(hardsigmoid, locals())
    return _hardsigmoid_(input) if inplace else _hardsigmoid(input)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * hardsigmoid(x)`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(hardswish, locals())
    return _hardswish_(input) if inplace else _hardswish(input)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(silu, locals())
    return _silu_(input) if inplace else _silu(input)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * tanh(softplus(x))`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(mish, locals())
    return _mish_(input) if inplace else _mish(input)


# --------------------------------------------------------------------------- softmax


def _implied_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension where none is given: 0 of 0, 1 and 3 dimensions, else 1; with a warning."""
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. "
        "Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """`softmax` of the negative elements."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(softmin, locals())
    along = _implied_dim("softmin", input.dim(), _stacklevel) if dim is None else dim
    if dtype is None:
        return (-input).softmax(along)
    return (-input).softmax(along, dtype=dtype)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """Exponentials along `dim`, divided by their sum, computed in `dtype` if given."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(softmax, locals())
    along = _implied_dim("softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.softmax(along) if dtype is None else input.softmax(along, dtype=dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType | None = None
) -> Tensor:
    """The logarithm of `softmax`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(log_softmax, locals())
    along = _implied_dim("log_softmax", input.dim(), _stacklevel) if dim is None else dim
    return input.log_softmax(along) if dtype is None else input.log_softmax(along, dtype=dtype)


def _one_hot_like(soft: Tensor, like: Tensor, dim: int) -> Tensor:
    """1 at the greatest element of `soft` along `dim`, 0 elsewhere."""
    greatest = soft.max(dim, keepdim=True)[1]
    empty = _zeros_like(like, memory_format=dtype_names.contiguous_format)
    return empty.scatter_(dim, greatest, 1.0)


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """A random sample of classes, softened by `tau`; `hard` gives one-hot vectors.

    The gradient of one-hot vectors is that of the soft sample.
    """
    if type(logits) not in PLAIN and asks(logits):
        return ask_for(gumbel_softmax, locals())
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    waits = _empty_like(logits, memory_format=dtype_names.contiguous_format).exponential_()
    soft = ((logits + -waits.log()) / tau).softmax(dim)
    return _one_hot_like(soft, logits, dim) - soft.detach() + soft if hard else soft

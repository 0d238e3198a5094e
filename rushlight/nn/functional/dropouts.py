"""Functions of layers: dropout in all its forms."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]

Operator = Callable[..., Tensor]

_alpha_dropout: Operator = eager_function("aten::alpha_dropout")
_alpha_dropout_: Operator = eager_function("aten::alpha_dropout_")
_dropout: Operator = eager_function("aten::dropout")
_dropout_: Operator = eager_function("aten::dropout_")
_feature_alpha_dropout: Operator = eager_function("aten::feature_alpha_dropout")
_feature_alpha_dropout_: Operator = eager_function("aten::feature_alpha_dropout_")
_feature_dropout: Operator = eager_function("aten::feature_dropout")
_feature_dropout_: Operator = eager_function("aten::feature_dropout_")


def _need_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability `p`, the others scaled by 1 / (1 - p)."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(dropout, locals())
    _need_probability(p)
    return _dropout_(input, p, training) if inplace else _dropout(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean and variance of what `selu` gives."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(alpha_dropout, locals())
    _need_probability(p)
    return _alpha_dropout_(input, p, training) if inplace else _alpha_dropout(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(feature_alpha_dropout, locals())
    _need_probability(p)
    if inplace:
        return _feature_alpha_dropout_(input, p, training)
    return _feature_alpha_dropout(input, p, training)


# --------------------------------------------------------------------------- whole channels


def _without_channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if inplace:
        return _feature_dropout_(input, p, training)
    return _feature_dropout(input, p, training)


def _without_channels_of_one(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """The same for an input that has no batch dimension."""
    if inplace:
        return _feature_dropout_(input.unsqueeze_(0), p, training).squeeze_(0)
    input = input.unsqueeze(0)
    result = _feature_dropout(input, p, training)
    return result.squeeze(0)


def _warn_of_dimensions(dimensions: int, spatial: int) -> None:
    """Warn the caller's caller of an input with too few or too many dimensions beside space."""
    warnings.warn(
        f"dropout{spatial}d: Received a {dimensions}-D input to dropout{spatial}d, which is "
        "deprecated and will result in an error in a future release. To retain the behavior "
        f"and silence this warning, please use dropout instead. Note that dropout{spatial}d "
        f"exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, "
        "a channel dimension, and an optional batch dimension "
        f"(i.e. {spatial + 1}D or {spatial + 2}D inputs).",
        stacklevel=3,
    )


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, L) or (C, L) set to 0 with probability `p`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(dropout1d, locals())
    _need_probability(p)
    dimensions = input.dim()
    if dimensions == 3:
        return _without_channels(input, p, training, inplace)
    if dimensions == 2:
        return _without_channels_of_one(input, p, training, inplace)
    raise RuntimeError(
        f"dropout1d: Expected 2D or 3D input, but received a {dimensions}D input. "
        "Note that dropout1d exists to provide channel-wise dropout on inputs with 1 "
        "spatial dimension, a channel dimension, and an optional batch dimension "
        "(i.e. 2D or 3D inputs)."
    )


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, H, W) set to 0 with probability `p`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(dropout2d, locals())
    _need_probability(p)
    dimensions = input.dim()
    if dimensions == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise "
            "1D dropout behavior is desired - input is interpreted as shape (N, C, L), where C "
            "is the channel dim. This behavior will change in a future release to interpret the "
            "input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D "
            "channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    elif dimensions != 4:
        _warn_of_dimensions(dimensions, 2)
    return _without_channels(input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Whole channels of (N, C, D, H, W) or (C, D, H, W) set to 0 with probability `p`."""
    if type(input) not in PLAIN and asks(input):
        return ask_for(dropout3d, locals())
    _need_probability(p)
    dimensions = input.dim()
    if dimensions == 5:
        return _without_channels(input, p, training, inplace)
    if dimensions != 4:
        _warn_of_dimensions(dimensions, 3)
    return _without_channels_of_one(input, p, training, inplace)

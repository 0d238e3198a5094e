"""Functions of layers: losses of numbers against numbers.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are the older way to say it.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ...ops.eager.dispatch import eager_function
from ...ops.eager.namespace import broadcast_shapes
from ...ops.tensors.tensor import Tensor
from .. import _reduction as _Reduction

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]

Operator = Callable[..., Any]

_abs: Operator = eager_function("aten::abs")
_any: Operator = eager_function("aten::any")
_binary_cross_entropy: Operator = eager_function("aten::binary_cross_entropy")
_binary_cross_entropy_with_logits: Operator = eager_function(
    "aten::binary_cross_entropy_with_logits"
)
_broadcast_shape = broadcast_shapes
_broadcast_tensors: Operator = eager_function("aten::broadcast_tensors")
_huber_loss: Operator = eager_function("aten::huber_loss")
_kl_div: Operator = eager_function("aten::kl_div")
_l1_loss: Operator = eager_function("aten::l1_loss")
_log: Operator = eager_function("aten::log")
_mean: Operator = eager_function("aten::mean")
_mse_loss: Operator = eager_function("aten::mse_loss")
_ones_like: Operator = eager_function("aten::ones_like")
_poisson_nll_loss: Operator = eager_function("aten::poisson_nll_loss")
_pow: Operator = eager_function("aten::pow")
_smooth_l1_loss: Operator = eager_function("aten::smooth_l1_loss")
_soft_margin_loss: Operator = eager_function("aten::soft_margin_loss")
_sum: Operator = eager_function("aten::sum")
_unsqueeze: Operator = eager_function("aten::unsqueeze")


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the logarithm of the Poisson probability of `target`."""
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    if reduction != "none" and reduction != "mean" and reduction != "sum":
        ret = input
        raise ValueError(reduction + " is not a valid value for reduction")
    ret = _poisson_nll_loss(input, target, log_input, full, eps, _Reduction.get_enum(reduction))
    return ret


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Minus the logarithm of the normal density of `target`, for eager code alone."""
    spread = _spread(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    floor = spread.detach().clamp(min=eps)
    spread = floor + (spread - spread.detach())  # the gradient passes the limit unchanged
    loss = 0.5 * (_log(spread) + (input - target) ** 2 / spread)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _spread(input: Tensor, var: Tensor | float) -> Tensor:
    """The variance as a tensor that broadcasts to the input.

    Raises:
        ValueError: it is negative somewhere, or of a wrong size.
    """
    spread: Tensor = _ones_like(input) * var if isinstance(var, (int, float)) else var
    if _any(spread < 0):
        raise ValueError("var has negative entry/entries")
    if spread.size() == input.size():
        return spread
    if input.size()[:-1] == spread.size():
        return _unsqueeze(spread, -1)
    if not _broadcasts_once(input, spread):
        raise ValueError("var is of incorrect size")
    return spread


def _broadcasts_once(input: Tensor, var: Tensor) -> bool:
    """Whether the shapes differ in one dimension only, where that of `var` is 1."""
    if input.dim() != var.dim():
        return False
    return [y for x, y in zip(input.size(), var.size(), strict=True) if x != y] == [1]


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """`target * (log(target) - input)`; "batchmean" divides the sum by the batch size."""
    if size_average is not None or reduce is not None:
        reduction_enum = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support "
                "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
                "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
                "major release.",
                stacklevel=2,
            )
        if reduction == "batchmean":
            reduction_enum = _Reduction.get_enum("sum")
        else:
            reduction_enum = _Reduction.get_enum(reduction)
    reduced = _kl_div(input, target, reduction_enum, log_target=log_target)
    if reduction == "batchmean" and input.dim() != 0:
        reduced = reduced / input.size()[0]
    return reduced


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of probabilities."""
    if size_average is not None or reduce is not None:
        reduction_enum = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _Reduction.get_enum(reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        new_size = _broadcast_shape(target.size(), weight.size())
        weight = weight.expand(new_size)
    return _binary_cross_entropy(input, target, weight, reduction_enum)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of `sigmoid(input)`."""
    if size_average is not None or reduce is not None:
        reduction_enum = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _Reduction.get_enum(reduction)
    if not (target.size() == input.size()):
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction_enum)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared differences below `beta`, absolute ones above."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if beta == 0.0:
        return _l1_loss(expanded_input, expanded_target, _Reduction.get_enum(reduction))
    else:
        return _smooth_l1_loss(
            expanded_input, expanded_target, _Reduction.get_enum(reduction), beta
        )


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences below `delta`, absolute ones above, scaled to meet."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is None:
        return _huber_loss(expanded_input, expanded_target, _Reduction.get_enum(reduction), delta)
    else:
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        unweighted_loss = _huber_loss(
            expanded_input, expanded_target, _Reduction.get_enum("none"), delta
        )
        weighted_loss = unweighted_loss * weight
        if reduction == "none":
            return weighted_loss
        elif reduction == "sum":
            return _sum(weighted_loss)
        elif reduction == "mean":
            return _mean(weighted_loss)
        else:
            raise ValueError(
                f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
            )


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences, each counted `weight` times if that is given."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is not None:
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        absolute_errors = _abs(expanded_input - expanded_target)
        weighted_absolute_errors = absolute_errors * weight
        if reduction == "none":
            return weighted_absolute_errors
        elif reduction == "sum":
            return _sum(weighted_absolute_errors)
        elif reduction == "mean":
            return _sum(weighted_absolute_errors) / _sum(weight)
        else:
            raise ValueError(
                f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
            )
    else:
        return _l1_loss(expanded_input, expanded_target, _Reduction.get_enum(reduction))


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences, each counted `weight` times if that is given."""
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            "Please ensure they have the same size.",
            stacklevel=2,
        )
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is not None:
        if weight.size() != input.size():
            raise ValueError("Weights and input must have the same size.")
        squared_errors = _pow(expanded_input - expanded_target, 2)
        weighted_squared_errors = squared_errors * weight
        if reduction == "none":
            return weighted_squared_errors
        elif reduction == "sum":
            return _sum(weighted_squared_errors)
        elif reduction == "mean":
            return _sum(weighted_squared_errors) / _sum(weight)
        else:
            raise ValueError(
                f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
            )
    else:
        return _mse_loss(expanded_input, expanded_target, _Reduction.get_enum(reduction))


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))`."""
    if size_average is not None or reduce is not None:
        reduction_enum = _Reduction.legacy_get_enum(size_average, reduce)
    else:
        reduction_enum = _Reduction.get_enum(reduction)
    return _soft_margin_loss(input, target, reduction_enum)

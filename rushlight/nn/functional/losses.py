"""Functions of layers: losses of numbers against numbers.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are the older way to say it.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

import math
import warnings
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.eager.namespace import broadcast_shapes
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from ...ops.tensors.tracing import ACTIVE
from .. import _reduction
from ..sizes import in_script

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

Operator = Callable[..., Tensor]

_abs: Operator = eager_function("aten::abs")
_any: Operator = eager_function("aten::any")
_binary_cross_entropy: Operator = eager_function("aten::binary_cross_entropy")
_binary_cross_entropy_with_logits: Operator = eager_function(
    "aten::binary_cross_entropy_with_logits"
)
_broadcast_shape = broadcast_shapes
_broadcast_each: Callable[..., list[Tensor]] = eager_function("aten::broadcast_tensors")
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


@in_script("aten::broadcast_tensors")
def _broadcast_tensors(tensors: list[Tensor]) -> list[Tensor]:
    """The tensors themselves where they are of one shape, and nobody writes down what is called."""
    first, second = tensors
    if ACTIVE or first.shape != second.shape:
        return _broadcast_each(tensors)
    return tensors


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
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(poisson_nll_loss, locals())
    word = _reduction.word_of(size_average, reduce, reduction)
    if word == "elementwise_mean":  # other losses still take it
        raise ValueError(word + " is not a valid value for reduction")
    return _poisson_nll_loss(input, target, log_input, full, eps, _reduction.get_enum(word))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Minus the logarithm of the normal density of `target`, for eager code alone."""
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(gaussian_nll_loss, locals())
    spread = _spread(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    floor = spread.detach().clamp(min=eps)
    spread = floor + (spread - spread.detach())  # the gradient passes the limit unchanged
    loss = 0.5 * (_log(spread) + (input - target) ** 2 / spread)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduction.reduced(loss, reduction)


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
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(kl_div, locals())
    by_batch = reduction == "batchmean"
    if reduction == "mean" and size_average is None and reduce is None:
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition.'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release.",
            stacklevel=2,
        )
    number = _reduction.number_of(size_average, reduce, "sum" if by_batch else reduction)
    loss = _kl_div(input, target, number, log_target=log_target)
    return loss / input.size()[0] if by_batch and input.dim() != 0 else loss


# --------------------------------------------------------------------------- binary cross entropy


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of probabilities.

    Raises:
        ValueError: the sizes of input and target differ.
    """
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(binary_cross_entropy, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is None:
        return _binary_cross_entropy(input, target, None, number)
    wide = weight.expand(_broadcast_shape(target.size(), weight.size()))
    return _binary_cross_entropy(input, target, wide, number)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of `sigmoid(input)`.

    Raises:
        ValueError: the sizes of input and target differ.
    """
    if (
        type(input) not in PLAIN
        or type(target) not in PLAIN
        or type(weight) not in PLAIN
        or type(pos_weight) not in PLAIN
    ) and asks(input, target, weight, pos_weight):
        return ask_for(binary_cross_entropy_with_logits, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _binary_cross_entropy_with_logits(input, target, weight, pos_weight, number)


# --------------------------------------------------------------------------- differences


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    """Warn the caller's caller that broadcasting will make one of two sizes."""
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        stacklevel=3,
    )


def _need_weights(weight: Tensor, input: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _summed_up(counted: Tensor, whole: Tensor | None, reduction: str) -> Tensor:
    """Weighted losses reduced; their mean is their sum divided by that of `whole`, if given.

    Raises:
        ValueError: no reduction that is known.
    """
    if reduction == "none":
        return counted
    if reduction != "sum" and reduction != "mean":
        raise ValueError(
            f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'."
        )
    if reduction == "mean" and whole is None:
        return _mean(counted)
    total = _sum(counted)
    return total if whole is None or reduction == "sum" else total / _sum(whole)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Squared differences below `beta`, absolute ones above."""
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(smooth_l1_loss, locals())
    if target.size() != input.size():
        _warn_of_sizes(input, target)
    word = _reduction.word_of(size_average, reduce, reduction)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    number = _reduction.get_enum(word)
    if beta == 0.0:
        return _l1_loss(expanded_input, expanded_target, number)
    return _smooth_l1_loss(expanded_input, expanded_target, number, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences below `delta`, absolute ones above, scaled to meet."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(huber_loss, locals())
    if target.size() != input.size():
        _warn_of_sizes(input, target)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is None:
        return _huber_loss(expanded_input, expanded_target, _reduction.get_enum(reduction), delta)
    _need_weights(weight, input)
    return _summed_up(
        _huber_loss(expanded_input, expanded_target, 0, delta) * weight, None, reduction
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
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(l1_loss, locals())
    if target.size() != input.size():
        _warn_of_sizes(input, target)
    word = _reduction.word_of(size_average, reduce, reduction)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is None:
        return _l1_loss(expanded_input, expanded_target, _reduction.get_enum(word))
    _need_weights(weight, input)
    return _summed_up(_abs(expanded_input - expanded_target) * weight, weight, word)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences, each counted `weight` times if that is given."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(mse_loss, locals())
    if target.size() != input.size():
        _warn_of_sizes(input, target)
    word = _reduction.word_of(size_average, reduce, reduction)
    expanded_input, expanded_target = _broadcast_tensors([input, target])
    if weight is None:
        return _mse_loss(expanded_input, expanded_target, _reduction.get_enum(word))
    _need_weights(weight, input)
    return _summed_up(_pow(expanded_input - expanded_target, 2) * weight, weight, word)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))`."""
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(soft_margin_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _soft_margin_loss(input, target, number)

"""Functions of layers: losses of classes, of margins between them, and of likeness.

`reduction` is "none", "mean" or "sum"; `size_average` and `reduce` are the older way to say it.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.overriding import PLAIN, ask_for, asks
from ...ops.tensors.tensor import Tensor
from .. import _reduction
from .activations import logsigmoid

__all__ = [
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

Operator = Callable[..., Tensor]

_clamp_min: Operator = eager_function("aten::clamp_min")
_cosine_embedding_loss: Operator = eager_function("aten::cosine_embedding_loss")
_cross_entropy_loss: Operator = eager_function("aten::cross_entropy_loss")
_ctc_loss: Operator = eager_function("aten::ctc_loss")
_hinge_embedding_loss: Operator = eager_function("aten::hinge_embedding_loss")
_margin_ranking_loss: Operator = eager_function("aten::margin_ranking_loss")
_minimum: Operator = eager_function("aten::minimum")
_multi_margin_loss: Operator = eager_function("aten::multi_margin_loss")
_multilabel_margin_loss: Operator = eager_function("aten::multilabel_margin_loss")
_nll_loss_nd: Operator = eager_function("aten::nll_loss_nd")
_triplet_margin_loss: Operator = eager_function("aten::triplet_margin_loss")
_pairwise_distance: Operator = eager_function("aten::pairwise_distance")


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Connectionist temporal classification of log probabilities (T, N, C) or (T, C)."""
    if (
        type(log_probs) not in PLAIN
        or type(targets) not in PLAIN
        or type(input_lengths) not in PLAIN
        or type(target_lengths) not in PLAIN
    ) and asks(log_probs, targets, input_lengths, target_lengths):
        return ask_for(ctc_loss, locals())
    return _ctc_loss(
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        _reduction.get_enum(reduction),
        zero_infinity,
    )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the score of the right class."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(nll_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _nll_loss_nd(input, target, weight, number, ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of scores; the target are classes or probabilities."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(cross_entropy, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _cross_entropy_loss(input, target, weight, number, ignore_index, label_smoothing)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """What `target * (input1 - input2)` lacks to `margin`."""
    if (
        type(input1) not in PLAIN or type(input2) not in PLAIN or type(target) not in PLAIN
    ) and asks(input1, input2, target):
        return ask_for(margin_ranking_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            f"margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _margin_ranking_loss(input1, input2, target, margin, number)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The value where the target is 1, what it lacks to `margin` where it is -1."""
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(hinge_embedding_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _hinge_embedding_loss(input, target, margin, number)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Margins between wanted classes, named before the first -1 of a row, and all others."""
    if (type(input) not in PLAIN or type(target) not in PLAIN) and asks(input, target):
        return ask_for(multilabel_margin_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _multilabel_margin_loss(input, target, number)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross entropy of each class, averaged over the classes."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(multilabel_soft_margin_loss, locals())
    word = _reduction.word_of(size_average, reduce, reduction)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    last = input.dim() - 1
    classes = input.size(last)
    return _reduction.reduced(loss.sum(dim=last) / classes, word)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`1 - cos` where the target is 1, `cos` above `margin` where it is -1."""
    if (
        type(input1) not in PLAIN or type(input2) not in PLAIN or type(target) not in PLAIN
    ) and asks(input1, input2, target):
        return ask_for(cosine_embedding_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    return _cosine_embedding_loss(input1, input2, target, margin, number)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How far other classes come within `margin` of the right one."""
    if (
        type(input) not in PLAIN or type(target) not in PLAIN or type(weight) not in PLAIN
    ) and asks(input, target, weight):
        return ask_for(multi_margin_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    return _multi_margin_loss(input, target, p, margin, weight, number)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """How much nearer than by `margin` the negative is than the positive."""
    if (
        type(anchor) not in PLAIN or type(positive) not in PLAIN or type(negative) not in PLAIN
    ) and asks(anchor, positive, negative):
        return ask_for(triplet_margin_loss, locals())
    number = _reduction.number_of(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, number)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with any distance, for eager code alone."""
    if (
        type(anchor) not in PLAIN or type(positive) not in PLAIN or type(negative) not in PLAIN
    ) and asks(anchor, positive, negative):
        return ask_for(triplet_margin_with_distance_loss, locals())
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs"
        )
    distance = distance_function or _pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = _minimum(far, distance(positive, negative))
    return _reduction.reduced(_clamp_min(margin + near - far, 0), reduction)

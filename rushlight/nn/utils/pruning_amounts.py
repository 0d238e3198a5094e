"""How much is pruned, and which elements or slices that takes."""

from __future__ import annotations

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor

__all__ = ["Amount", "check_amount", "count_of", "count_slices", "without", "without_slices"]

Amount = int | float

_topk: Callable[..., tuple[Tensor, Tensor]] = eager_function("aten::topk")
_zeros_like: Callable[..., Tensor] = eager_function("aten::zeros_like")


def check_amount(amount: Amount) -> None:
    """See that an amount is a share (float, 0 to 1) or a number (int).

    Raises:
        TypeError, ValueError: it is not.
    """
    if not isinstance(amount, int | float):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, int) and amount > 1):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
            "integer"
        )


def count_of(amount: Amount, size: int) -> int:
    """How many of `size` things are taken.

    Raises:
        ValueError: there are not so many.
    """
    if not isinstance(amount, int):
        return round(float(amount) * size)
    if amount > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return amount


def count_slices(t: Tensor, amount: Amount, dim: int) -> int:
    """How many slices along a dimension are taken.

    Raises:
        ValueError: the tensor has fewer than two dimensions, or not so many slices.
    """
    if len(t.shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {len(t.shape)} dims"
        )
    return count_of(amount, t.shape[dim])


def without(mask: Tensor, scores: Tensor, count: int, largest: bool) -> Tensor:
    """The mask with zeros for so many of the largest or smallest scores."""
    mask = mask.clone()
    if count:
        places = _topk(scores.detach().reshape(-1), k=count, largest=largest)[1]
        mask.view(-1)[places] = 0
    return mask


def without_slices(mask: Tensor, scores: Tensor, keep: int, dim: int) -> Tensor:
    """The mask in the `keep` slices of the largest scores, zero elsewhere."""
    places = _topk(scores, k=keep, largest=True)[1]
    kept = _zeros_like(mask)
    slices = (*[slice(None)] * (dim % mask.dim()), places)
    kept[slices] = mask[slices]
    return kept

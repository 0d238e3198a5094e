"""How much is pruned, and which elements or slices that takes."""

from __future__ import annotations

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor

__all__ = [
    *("Amount", "check_amount", "check_dim", "check_number", "check_slices", "count_of"),
    *("count_slices", "norm_of_slices", "number_of", "without", "without_slices"),
]

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


def check_number(amount: Amount, tensor_size: int) -> None:
    """See that there are so many things to take.

    Raises:
        ValueError: there are not.
    """
    if isinstance(amount, int) and amount > tensor_size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to "
            f"prune={tensor_size}"
        )


def number_of(amount: Amount, tensor_size: int) -> int:
    """How many of so many things an amount means."""
    return amount if isinstance(amount, int) else round(amount * tensor_size)


def count_of(amount: Amount, size: int) -> int:
    """How many of `size` things are taken.

    Raises:
        ValueError: there are not so many.
    """
    check_number(amount, size)
    return number_of(amount, size)


def check_slices(t: Tensor) -> None:
    """See that a tensor has slices.

    Raises:
        ValueError: it has fewer than two dimensions.
    """
    if len(t.shape) <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of "
            f"shape {t.shape} with {len(t.shape)} dims"
        )


def check_dim(t: Tensor, dim: int) -> None:
    """See that a tensor has a dimension.

    Raises:
        IndexError: it has not.
    """
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def norm_of_slices(t: Tensor, n: float | str, dim: int) -> Tensor:
    """The norm of order `n` of every slice along a dimension."""
    return t.norm(p=n, dim=[d for d in range(t.dim()) if d != dim % t.dim()])


def count_slices(t: Tensor, amount: Amount, dim: int) -> int:
    """How many slices along a dimension are taken.

    Raises:
        ValueError: the tensor has fewer than two dimensions, or not so many slices.
        IndexError: there is no such dimension.
    """
    check_slices(t)
    check_dim(t, dim)
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

"""Sums, extremes, orders and normalised exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...ops.tensors.tensor import Tensor
from .table import means, torch


def _product(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    for axis in sorted((a % max(x.dim(), 1) for a in axes), reverse=True):
        x = torch.prod(x, axis, keepdim=keep)
    return x.clone()


def _sum(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    return torch.sum(x, axes, keepdim=keep, dtype=x.dtype)


_REDUCTIONS: Final[dict[str, Callable[[Tensor, list[int], bool], Tensor]]] = {
    "ReduceSum": _sum,
    "ReduceMean": lambda x, axes, keep: torch.mean(x, axes, keepdim=keep),
    "ReduceMax": lambda x, axes, keep: torch.amax(x, axes, keepdim=keep),
    "ReduceMin": lambda x, axes, keep: torch.amin(x, axes, keepdim=keep),
    "ReduceProd": _product,
    "ReduceL1": lambda x, axes, keep: _sum(torch.abs(x), axes, keep),
    "ReduceL2": lambda x, axes, keep: torch.sqrt(_sum(x * x, axes, keep)),
    "ReduceSumSquare": lambda x, axes, keep: _sum(x * x, axes, keep),
    "ReduceLogSum": lambda x, axes, keep: torch.log(_sum(x, axes, keep)),
    "ReduceLogSumExp": lambda x, axes, keep: torch.logsumexp(x, axes, keepdim=keep),
}


@means(*_REDUCTIONS, takes_kind=True)
def reduce(
    x: Tensor,
    axes: Tensor | None = None,
    keepdims: int = 1,
    noop_with_empty_axes: int = 0,
    kind: str = "",
) -> Tensor:
    where = [] if axes is None else axes.tolist() if isinstance(axes, Tensor) else list(axes)
    if not where and noop_with_empty_axes:
        return x
    return _REDUCTIONS[kind](x, where or list(range(x.dim())), bool(keepdims))


@means("ArgMax")
def arg_max(x: Tensor, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _extreme(torch.argmax, x, axis, keepdims, select_last_index)


@means("ArgMin")
def arg_min(x: Tensor, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
    return _extreme(torch.argmin, x, axis, keepdims, select_last_index)


def _extreme(
    function: Callable[..., Tensor], x: Tensor, axis: int, keepdims: int, last: int
) -> Tensor:
    if not last:
        return function(x, axis, keepdim=bool(keepdims))
    return x.shape[axis] - 1 - function(torch.flip(x, [axis]), axis, keepdim=bool(keepdims))


@means("TopK")
def top(
    x: Tensor, k: Tensor, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[Tensor, Tensor]:
    found = torch.sort(x, dim=axis, descending=bool(largest), stable=True)
    count = int(k.reshape([]))
    values, places = (each.narrow(axis, 0, count) for each in found)
    return values, places


@means("CumSum")
def running_sum(x: Tensor, axis: Tensor, exclusive: int = 0, reverse: int = 0) -> Tensor:
    where = int(axis.reshape([]))
    x = torch.flip(x, [where]) if reverse else x
    made = torch.cumsum(x, where, dtype=x.dtype)
    made = made - x if exclusive else made
    return torch.flip(made, [where]) if reverse else made


@means("Softmax")
def softmax(x: Tensor, axis: int = -1) -> Tensor:
    return torch.softmax(x, axis)


@means("LogSoftmax")
def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    return torch.log_softmax(x, axis)


@means("Hardmax")
def hardmax(x: Tensor, axis: int = -1) -> Tensor:
    best = torch.argmax(x, axis, keepdim=True)
    return torch.zeros_like(x).scatter(axis, best, 1.0)


@means("NegativeLogLikelihoodLoss")
def nll_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> Tensor:
    return torch.nn.functional.nll_loss(
        x, target, weight, reduction=reduction, ignore_index=ignore_index
    )


@means("Einsum")
def summed_products(*given: Tensor, equation: str = "") -> Tensor:
    return torch.einsum(equation, *given)

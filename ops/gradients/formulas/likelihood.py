"""Ways back through the losses of classes by number, given how much all targets count."""

from __future__ import annotations

from collections.abc import Sequence

from ...losses.class_losses import (
    check_maps,
    check_scores,
    check_targets,
    check_weight,
    sizes_differ,
)
from ...memory.errors import IndexOutOfRange, OperatorError
from ...reductions.loss_reduction import MEAN, NONE
from ...tensors.tensor import Tensor
from ..table.rows import aten, composite


@composite("aten::nll_loss_backward")
def nll_loss_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int, total_weight: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of scores [C] or [N, C]."""
    check_scores(self._array, target._array)
    if self.ndim == target.ndim == 1 and self.shape != target.shape:
        raise sizes_differ(self._array, target._array)
    _check_total(total_weight, "a  single")
    is_each = reduction == NONE and self.ndim == 2
    if is_each:
        _check_row(grad_output, len(self))
    else:
        _check_one(grad_output)
        grad_output = grad_output.reshape([1])
    scores, places = self, target
    if self.ndim == 1:  # a single sample, whose class is the first
        scores, places = self.unsqueeze(0), target.reshape([-1]).narrow(0, 0, 1)
    found = _of_scores(grad_output, scores, places, weight, reduction, ignore_index, total_weight)
    return found if self.ndim == 2 else found.squeeze(0)


@composite("aten::nll_loss2d_backward")
def nll_loss2d_backward(
    grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int, total_weight: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of scores [N, C, H, W]."""
    check_maps(self._array, target._array)
    _check_total(total_weight, "a single")
    if reduction == NONE:
        _check_map(grad_output, target.shape)
    else:
        _check_one(grad_output)
        grad_output = grad_output.reshape([1])
    return _of_scores(grad_output, self, target, weight, reduction, ignore_index, total_weight)


def _of_scores(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int,
    ignore_index: int, total: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of scores [N, C, *], whose targets [N, *] count as their classes do."""
    check_weight(None if weight is None else weight._array, self._array, 1)
    ignored = Tensor._of(~check_targets(target._array, self.shape[1], ignore_index))
    places = target.long().masked_fill(ignored, 0)
    share = -(grad / total.reshape([1]) if reduction == MEAN else grad)
    if weight is not None:
        share = share * weight.index_select(0, places.reshape([-1])).reshape(places.shape)
    shares = share.expand(places.shape).masked_fill(ignored, 0)
    return aten.zeros_like(self).scatter(1, places.unsqueeze(1), shares.unsqueeze(1))


def _check_total(total: Tensor, one: str) -> None:
    if total.numel() != 1:
        raise OperatorError(
            f"expected total_weight to be {one} element tensor, got: {_sizes(total.shape)} "
            f"({total.numel()} elements)",
            code="shape-mismatch",
        )


def _check_one(grad: Tensor) -> None:
    if grad.ndim > 1 or grad.numel() != 1:
        raise OperatorError(
            f"Expected a single element grad_output tensor, but got: {_sizes(grad.shape)}",
            code="shape-mismatch",
        )


def _check_row(grad: Tensor, count: int) -> None:
    if not grad.ndim:
        raise IndexOutOfRange("Dimension specified as 0 but tensor has no dimensions")
    if list(grad.shape) != [count]:
        raise OperatorError(
            f"Expected a tensor of dimension 1 and tensor.size[0] == {count} but got: dimension "
            f"{grad.ndim} and tensor.size[0] = {grad.shape[0]}",
            code="shape-mismatch",
        )


def _check_map(grad: Tensor, sizes: Sequence[int]) -> None:
    if grad.ndim != len(sizes):
        raise OperatorError(
            f"grad_output must have same dimension as target ({len(sizes)}) but got dimension: "
            f"{_sizes(grad.shape)}",
            code="shape-mismatch",
        )
    if list(grad.shape) != list(sizes):
        raise OperatorError(
            f"size mismatch (got grad_output: {_sizes(grad.shape)} target: {_sizes(sizes)}",
            code="shape-mismatch",
        )


def _sizes(sizes: Sequence[int]) -> str:
    return str(list(sizes))

"""Places in the history of tensors that users name: `GradientEdge`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..memory.dtype import dtype_of
from ..tensors.tensor import Tensor
from .autograd import AccumulateGrad, Edge, Node, edge_of, fit, single

__all__ = [
    *("GradientEdge", "add_to_leaf", "first_gradient", "get_gradient_edge", "place_of"),
    "target_of",
]


class GradientEdge(NamedTuple):
    """Where a tensor came from: a node, and which of its results it is."""

    node: Node
    output_nr: int
    ownership_token: Any = None
    """An array without memory that has the tensor's sizes and dtype."""


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor came from; for a leaf, what adds to its `grad`.

    Raises:
        RuntimeError: the tensor requires no gradient.
    """
    edge = edge_of(tensor) if tensor.requires_grad else None
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    array = tensor._array
    return GradientEdge(*single(edge), np.broadcast_to(np.zeros((), array.dtype), array.shape))


def place_of(value: Tensor | GradientEdge) -> Edge | None:
    """Where a tensor, or what names a place, came from; None if it needs no gradient."""
    return value[:2] if isinstance(value, GradientEdge) else edge_of(value)


def target_of(value: Tensor | GradientEdge) -> Edge | None:
    """The same for a tensor whose gradient is wanted: all of it arrives there."""
    edge = place_of(value)
    return single(edge) if edge is not None and edge[0].is_call and edge[0].has_inner else edge


def first_gradient(
    value: Tensor | GradientEdge, grad: Tensor | None, number: int
) -> tuple[Edge, Tensor]:
    """Where a result came from, and the gradient to begin with: one, for a single number.

    Raises:
        RuntimeError: there is no way back, no default gradient, or it has other sizes.
    """
    edge = place_of(value)
    if edge is None:
        raise RuntimeError(
            f"element {number} of tensors does not require grad and does not have a grad_fn"
        )
    like = value.ownership_token if isinstance(value, GradientEdge) else value._array
    if grad is None:
        return edge, _one(like)
    if like is None:
        return edge, grad
    if grad._array.shape != like.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {grad.shape} and "
            f"output[{number}] has a shape of {_size(like)}."
        )
    return edge, fit(grad, like.shape, dtype_of(like))


def _size(like: Any) -> object:
    return Tensor._of(like).shape


def _one(like: Any) -> Tensor:
    if like is None or like.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if like.dtype.kind == "c":
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype_of(like)}"
        )
    return Tensor._of(np.ones_like(like))


def add_to_leaf(value: Tensor | GradientEdge, grad: Tensor) -> None:
    """Add to the `grad` of a tensor, or of the leaf that a place is."""
    if isinstance(value, GradientEdge):
        if not isinstance(value.node, AccumulateGrad):
            return
        value = value.node.variable
    before = value._gradient
    value._gradient = grad if before is None else before + grad

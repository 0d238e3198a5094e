"""`torch.autograd.graph`: the nodes that operators leave behind."""

from __future__ import annotations

from typing import NamedTuple

from ..ops.gradients.autograd import Node, edge_of
from ..ops.tensors.tensor import Tensor

__all__ = ["GradientEdge", "Node", "get_gradient_edge"]


class GradientEdge(NamedTuple):
    """Where a tensor came from: a node, and which of its results it is."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor came from; for a leaf, what adds to its `grad`.

    Raises:
        RuntimeError: the tensor requires no gradient.
    """
    edge = edge_of(tensor)
    if edge is None:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*edge)

"""Gradients in the shape and dtype of what they belong to."""

from __future__ import annotations

from ...conjugates.tensors import in_memory
from ...eager.aten import aten
from ...memory.dtype import DType
from ...tensors.tensor import Tensor
from .autograd import AccumulateGrad, Edge, Node

__all__ = ["fit", "thin"]


def thin(grad: Tensor, edge: Edge | None) -> bool:
    """Whether a gradient is sparse and goes to a leaf, which takes it as it is."""
    is_of_leaf = edge is not None and type(edge[0]) is AccumulateGrad
    return is_of_leaf and type(grad) is not Tensor and bool(grad.is_sparse)


def fit(
    grad: Tensor, shape: tuple[int, ...], dtype: DType, node: Node | None = None, place: int = 0
) -> Tensor:
    """A gradient in the shape and dtype of the tensor it belongs to, argument `place` of `node`; a
    sparse one with all its elements.

    Raises:
        RuntimeError: the tensor does not broadcast to the gradient's shape.
    """
    if type(grad) is not Tensor:
        grad = grad.to_dense() if grad.is_sparse else in_memory(grad)
    if grad.dtype is not dtype:
        if grad.dtype.is_complex and not dtype.is_complex:
            grad = grad.real
        if grad.dtype is not dtype:
            grad = grad.to(dtype)
    return grad if grad._array.shape == shape else _summed(grad, shape, node, place)


def _summed(grad: Tensor, shape: tuple[int, ...], node: Node | None, place: int) -> Tensor:
    sizes = grad._array.shape
    new = len(sizes) - len(shape)
    if new > 0 and sizes[new:] == shape:  # what was added to each row, mostly
        return aten.sum(grad, list(range(new)))
    try:
        return aten.sum_to_size(grad, list(shape))
    except RuntimeError:
        if node is None:
            raise
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {place} - got "
            f"{list(grad._array.shape)} but expected shape compatible with {list(shape)}"
        ) from None

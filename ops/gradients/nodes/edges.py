"""Places in the history of tensors that users name: `GradientEdge`."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from ...conjugates.tensors import in_memory
from ...eager.dispatch import eager_function
from ...memory.complex_parts import is_complex
from ...memory.dtype import LAYOUTS, Array, dtype_of
from ...tensors.dispatched import is_dispatched
from ...tensors.tensor import PLAIN_TENSORS, Tensor
from .autograd import Edge, Node, edge_of, single
from .fitting import fit

__all__ = [
    *("GradientEdge", "as_wanted", "first_gradient", "get_gradient_edge"),
    *("place_of", "target_of"),
]


class GradientEdge(NamedTuple):
    """Where a tensor came from: a node, and which of its results it is."""

    node: Node
    output_nr: int
    ownership_token: Any = None
    """An array without memory that has the tensor's sizes and dtype."""

    def __eq__(self, other: object) -> bool:
        """Whether both name one place, by whatever tensor."""
        if not isinstance(other, GradientEdge):
            return NotImplemented
        return self.node is other.node and self.output_nr == other.output_nr

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.node, self.output_nr))


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
    array = tensor._array
    return GradientEdge(*single(edge), np.broadcast_to(np.zeros((), array.dtype), array.shape))


def place_of(value: Tensor | GradientEdge) -> Edge | None:
    """Where a tensor, or what names a place, came from; None if it needs no gradient.  That of a
    sparse tensor is its values'."""
    if isinstance(value, GradientEdge):
        return value[:2]
    return edge_of(_values_of(value) if _is_sparse(value) else value)


def _is_sparse(value: object) -> bool:
    return (
        type(value) not in PLAIN_TENSORS and isinstance(value, Tensor) and value.layout in _SPARSE
    )


_SPARSE: Final = frozenset(layout for layout in LAYOUTS.values() if "sparse" in str(layout))


def _values_of(sparse: Tensor) -> Tensor:
    from ...sparse_tensors.tensors import parts_of  # few programs have such tensors

    return parts_of(sparse).values


def as_wanted(gradient: Tensor | None, of: Tensor | GradientEdge) -> Tensor | None:
    """A gradient that was found for a tensor: of a sparse one it is that of the values, and gets
    their places."""
    if gradient is None or isinstance(of, GradientEdge) or not _is_sparse(of):
        return gradient
    if gradient.layout in _SPARSE:
        return gradient
    from ...sparse_tensors.tensors import of_parts, parts_of

    return of_parts(parts_of(of).with_gradient(gradient))


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
    if not isinstance(value, GradientEdge) and _is_sparse(value):
        return edge, _of_elements(value, grad, number)
    like = value.ownership_token if isinstance(value, GradientEdge) else value._array
    if grad is None:
        one = _one(like)
        if is_dispatched(value):
            one = eager_function("aten::ones_like")(value)
        return edge, one
    if like is None:
        return edge, grad
    grad = in_memory(grad)
    is_sparse = _is_sparse(grad)  # and no array lies behind it
    if (tuple(grad.shape) if is_sparse else grad._array.shape) != like.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {grad.shape} and "
            f"output[{number}] has a shape of {_size(like)}."
        )
    if grad.dtype.is_complex is not is_complex(like.dtype):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. "
            f"Mismatch in dtype: grad_output[{number}] has a dtype of {grad.dtype} and "
            f"output[{number}] has a dtype of {dtype_of(like)}."
        )
    if is_sparse and edge[0].is_leaf:
        return edge, grad.to(dtype_of(like))
    return edge, fit(grad, like.shape, dtype_of(like))


def _of_elements(value: Tensor, grad: Tensor | None, number: int) -> Tensor:
    """The gradient to begin with of each element that a sparse result keeps.

    Raises:
        RuntimeError: there is none, or it has other sizes.
    """
    if grad is None:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if grad.shape != value.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{number}] has a shape of {grad.shape} and "
            f"output[{number}] has a shape of {value.shape}."
        )
    from ...sparse_tensors.structure import mask

    dense = grad.to_dense() if _is_sparse(grad) else grad
    return _values_of(mask(dense.to(value.dtype), value.detach()))


def _size(like: Array) -> object:
    return Tensor._of(like).shape


def _one(like: Array) -> Tensor:
    if like is None or like.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if is_complex(like.dtype):
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype_of(like)}"
        )
    return Tensor._of(np.ones(like.shape, like.dtype))

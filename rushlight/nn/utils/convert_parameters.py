"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor
from ..registration import type_name

__all__ = ["parameters_to_vector", "vector_to_parameters"]

_cat = eager_function("aten::cat")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """The elements of all parameters one after the other."""
    vector: Tensor = _cat([parameter.view(-1) for parameter in parameters])
    return vector


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters have the elements of a vector, which they share from then on.

    Raises:
        TypeError: `vec` is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type_name(vec)}")
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end

"""Functions of layers: distances, and vectors made one long."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Tensor

__all__ = [
    "cosine_similarity",
    "pairwise_distance",
    "pdist",
]

Operator = Callable[..., Tensor]

cosine_similarity: Operator = eager_function("aten::cosine_similarity")
pairwise_distance: Operator = eager_function("aten::pairwise_distance")
pdist: Operator = eager_function("aten::pdist")

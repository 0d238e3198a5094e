"""Functions of layers: distances, and vectors made one long."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable

from ..ops.dispatch import eager_function
from ..ops.tensor import Tensor

__all__ = [
    "cosine_similarity",
    "normalize",
    "pairwise_distance",
    "pdist",
]

Operator = Callable[..., Tensor]

cosine_similarity: Operator = eager_function("aten::cosine_similarity")
pairwise_distance: Operator = eager_function("aten::pairwise_distance")
pdist: Operator = eager_function("aten::pdist")

_div: Operator = eager_function("aten::div")


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """Vectors along `dim` divided by their p-norm, which counts as at least `eps`."""
    if out is None:
        denom = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
        return input / denom
    else:
        denom = input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input)
        return _div(input, denom, out=out)

"""Functions of tensors that script compiles from Python: what `torch.functional` has of them."""

from __future__ import annotations

from collections.abc import Callable

from .ops.dispatch import eager_function
from .ops.tensor import Tensor

__all__ = ["cdist"]

_cdist: Callable[..., Tensor] = eager_function("aten::cdist")


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """The p-norm distance of every row of `x1` to every row of `x2`: (*, P, R).

    Raises:
        ValueError: `compute_mode` is not one of the three words.
    """
    if compute_mode == "use_mm_for_euclid_dist_if_necessary":
        return _cdist(x1, x2, p, None)
    elif compute_mode == "use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 1)
    elif compute_mode == "donot_use_mm_for_euclid_dist":
        return _cdist(x1, x2, p, 2)
    else:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")

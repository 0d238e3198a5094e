"""The two operators that GradScaler is made of: gradients divided and looked at, and the factor
moved.  What they find and keep lies in tensors of one element, as in torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..ops.memory.dtype import DTYPES
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor

__all__ = ["_amp_foreach_non_finite_check_and_unscale_", "_amp_update_scale_"]


def _check(tensor: Tensor, name: str, dtype: str = "float32", said: str = "a float") -> None:
    if tensor.numel() != 1:
        raise RuntimeError(f"{name} must be a 1-element tensor.")
    if tensor.dtype is not DTYPES[dtype]:
        raise RuntimeError(f"{name} must be {said} tensor.")


def _amp_foreach_non_finite_check_and_unscale_(
    self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor
) -> None:
    """Multiply tensors by a factor, and set `found_inf` to 1 if one has infinities or NaN.

    Raises:
        RuntimeError: the factor or `found_inf` is no float32 of one element.
    """
    _check(inv_scale, "inv_scale")
    _check(found_inf, "found_inf")
    factor = inv_scale.item()
    with no_grad():
        for each in self:
            if not each.isfinite().all().item():
                found_inf.fill_(1.0)
            if factor != 1.0:
                each.mul_(factor)


def _amp_update_scale_(
    self: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    scale_growth_factor: float,
    scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:
    """Have a factor shrink where something was found, or grow after so many times without.

    Raises:
        RuntimeError: a tensor has more than one element, or another dtype.
    """
    _check(growth_tracker, "growth_tracker", "int32", "an int")
    _check(self, "current_scale")
    _check(found_inf, "found_inf")
    with no_grad():
        if found_inf.item():
            self.mul_(scale_backoff_factor)
            growth_tracker.zero_()
        elif growth_tracker.item() + 1 == growth_interval:
            grown = self * scale_growth_factor
            if math.isfinite(grown.item()):  # else it stays as large as it can be
                self.copy_(grown)
            growth_tracker.zero_()
        else:
            growth_tracker.add_(1)
    return self

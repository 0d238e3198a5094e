"""`torch.utils.flop_counter`: counting of multiplications and additions, which is not here yet."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = "FlopCounterMode register_flop_formula"
__all__ = _NAMES.split()
_REFUSED: dict[str, Any] = refusing(
    __name__, _NAMES, "rushlight has no __torch_dispatch__ that would see every operator"
)
globals().update(_REFUSED)

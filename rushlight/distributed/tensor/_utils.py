"""`torch.distributed.tensor._utils`: work over several processes, of which there is one."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = "compute_local_shape_and_global_offset"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

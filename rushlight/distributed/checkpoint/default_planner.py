"""`torch.distributed.checkpoint.default_planner`: refused, as one process runs."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = "DefaultLoadPlanner DefaultSavePlanner"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

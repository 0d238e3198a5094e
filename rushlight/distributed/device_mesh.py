"""`torch.distributed.device_mesh`: processes in rows and columns, of which there are none."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = "DeviceMesh init_device_mesh"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

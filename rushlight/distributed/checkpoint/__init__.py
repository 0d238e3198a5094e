"""`torch.distributed.checkpoint`: refused, as one process runs."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = "FileSystemReader FileSystemWriter async_save load save"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

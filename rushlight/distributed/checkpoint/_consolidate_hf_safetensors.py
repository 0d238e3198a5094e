"""`torch.distributed.checkpoint._consolidate_hf_safetensors`: refused, as one process runs."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = "consolidate_safetensors_files"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

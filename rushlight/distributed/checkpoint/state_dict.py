"""`torch.distributed.checkpoint.state_dict`: refused, as one process runs."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = """StateDictOptions get_model_state_dict get_optimizer_state_dict get_state_dict
set_model_state_dict set_optimizer_state_dict set_state_dict"""
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = sorted(_REFUSED)

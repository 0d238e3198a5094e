"""`torch.distributed.checkpoint.default_planner`: work over several processes, of which there is one."""

from __future__ import annotations

from typing import Any

from ...refused_names import refusing

_NAMES = "DefaultLoadPlanner DefaultSavePlanner"
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
__all__ = sorted(_REFUSED)


def __getattr__(name: str) -> Any:
    if name in _REFUSED:
        return _REFUSED[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

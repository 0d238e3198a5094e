"""`torch.distributed._composable.fsdp`: parameters in parts; see `torch.distributed.fsdp`."""

from __future__ import annotations

from typing import Any

from .. import fsdp

_NAMES = "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard"
__all__ = sorted(_NAMES.split())


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(fsdp, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

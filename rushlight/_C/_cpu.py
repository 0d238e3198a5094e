"""`torch._C._cpu`: what the CPU can do."""

from __future__ import annotations

from ..backends.cpu import get_cpu_capability as _get_cpu_capability

__all__ = ["_get_cpu_capability", "_init_amx"]


def _init_amx() -> bool:
    """Whether tiles of the CPU may be used: no kernel of rushlight's asks for them."""
    return False

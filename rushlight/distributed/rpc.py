"""`torch.distributed.rpc`: calls of functions in other processes, of which there are none."""

from __future__ import annotations

from ..module_names import names_in, names_of

__getattr__ = names_of(__name__)
__all__ = [*sorted(names_in(__name__)), "is_available"]


def is_available() -> bool:
    """No."""
    return False

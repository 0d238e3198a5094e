"""`torch.distributed.rpc`: calls of functions in other processes, of which there are none."""

from __future__ import annotations

from typing import Any

from ..refused_names import refusing

_NAMES = """PyRRef RRef TensorPipeRpcBackendOptions WorkerInfo get_worker_info init_rpc remote
rpc_async rpc_sync shutdown"""
_REFUSED: dict[str, Any] = refusing(__name__, _NAMES, "rushlight runs one process")
globals().update(_REFUSED)
__all__ = [*_REFUSED, "is_available"]


def is_available() -> bool:
    """No."""
    return False

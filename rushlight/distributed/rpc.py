"""`torch.distributed.rpc`: calls of functions in other processes, of which there are none."""

from __future__ import annotations

from .one_process import refusing_class, refusing_function

__all__ = [
    *("PyRRef", "RRef", "TensorPipeRpcBackendOptions", "WorkerInfo", "get_worker_info"),
    *("init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"),
]


def is_available() -> bool:
    """No."""
    return False


_NAME = "torch.distributed.rpc."
RRef = PyRRef = refusing_class(_NAME + "RRef")
WorkerInfo = refusing_class(_NAME + "WorkerInfo")
TensorPipeRpcBackendOptions = refusing_class(_NAME + "TensorPipeRpcBackendOptions")
get_worker_info = refusing_function(_NAME + "get_worker_info")
init_rpc = refusing_function(_NAME + "init_rpc")
remote = refusing_function(_NAME + "remote")
rpc_async = refusing_function(_NAME + "rpc_async")
rpc_sync = refusing_function(_NAME + "rpc_sync")
shutdown = refusing_function(_NAME + "shutdown")

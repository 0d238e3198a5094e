"""`torch.utils`: data sets and their loaders, checkpoints, handles of hooks, trees."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]

_LATER = (
    *("_python_dispatch", "_pytree", "benchmark", "collect_env", "flop_counter", "model_zoo"),
    *("module_tracker", "tensorboard"),
)


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

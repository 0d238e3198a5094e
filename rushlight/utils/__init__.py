"""`torch.utils`: data sets and their loaders, checkpoints, handles of hooks, trees."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..module_names import names_of
from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]

_LATER = (
    *("_python_dispatch", "_pytree", "benchmark", "collect_env", "flop_counter", "model_zoo"),
    *("module_tracker", "tensorboard", "throughput_benchmark", "weak"),
)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    return names_of(__name__)(name)

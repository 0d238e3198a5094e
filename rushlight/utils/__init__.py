"""`torch.utils`: data sets and their loaders, checkpoints, handles of hooks, trees."""

from __future__ import annotations

from ..module_names import names_of
from . import checkpoint, data, dlpack, hooks

__all__ = ["checkpoint", "data", "dlpack", "hooks"]

__getattr__ = names_of(
    __name__,
    *(
        "_contextlib",
        "_mode_utils",
        "_python_dispatch",
        "_pytree",
        "backcompat",
        "benchmark",
        "collect_env",
        "deterministic",
    ),
    *("flop_counter", "model_zoo", "module_tracker", "tensorboard", "throughput_benchmark", "weak"),
)

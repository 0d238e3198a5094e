"""`torch.fx.passes`: changes of graphs, and what is found out about them."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_LATER = (
    *("annotate_getitem_nodes", "fake_tensor_prop", "graph_drawer", "graph_manipulation"),
    *("infra", "net_min_base", "operator_support", "param_fetch", "pass_manager", "reinplace"),
    *("shape_prop", "split_module", "split_utils", "splitter_base", "tools_common", "utils"),
)


def __getattr__(name: str) -> ModuleType:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

"""`torch.fx.passes`: changes of graphs, and what is found out about them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...module_names import names_of

_LATER = (
    *("annotate_getitem_nodes", "fake_tensor_prop", "graph_drawer", "graph_manipulation"),
    *("infra", "net_min_base", "operator_support", "param_fetch", "pass_manager", "reinplace"),
    *("shape_prop", "split_module", "split_utils", "splitter_base", "tools_common", "utils"),
)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module(f".{name}", __name__)
    return names_of(__name__)(name)

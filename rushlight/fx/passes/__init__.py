"""`torch.fx.passes`: changes of graphs, and what is found out about them."""

from __future__ import annotations

from ...module_names import names_of

__getattr__ = names_of(
    __name__,
    *("annotate_getitem_nodes", "fake_tensor_prop", "graph_drawer", "graph_manipulation"),
    *("infra", "net_min_base", "operator_support", "param_fetch", "pass_manager", "reinplace"),
    *("shape_prop", "split_module", "split_utils", "splitter_base", "tools_common", "utils"),
)

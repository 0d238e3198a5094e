"""`torch.fx.passes.utils`: parts of graphs: found, taken out, put in."""

from __future__ import annotations

from .common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]

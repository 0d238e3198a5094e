"""`torch.fx.passes.utils`: parts of graphs: found, taken out, put in."""

from __future__ import annotations

from ....module_names import names_of
from .common import HolderModule, compare_graphs, lift_subgraph_as_module

__all__ = ["HolderModule", "compare_graphs", "lift_subgraph_as_module"]

__getattr__ = names_of(__name__, "matcher_utils")

"""Archives, and graphs as source code."""

from __future__ import annotations

from ..ir.graph import Graph
from .printing.printer import print_graph_source

Graph.source_formatter = print_graph_source

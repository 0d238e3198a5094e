"""Archives, and graphs as source code."""

from __future__ import annotations

from ..ir.graph import SOURCE_PRINTER
from .printing.printer import print_graph_source

SOURCE_PRINTER.install(print_graph_source)

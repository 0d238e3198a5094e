"""Graphs: structure, lowering, passes, printer, parser, verifier."""

from __future__ import annotations

from .graphs.graph import PRINTER
from .text.printer import print_graph

PRINTER.install(print_graph)

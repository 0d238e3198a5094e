"""Graphs: structure, lowering, passes, printer, parser, verifier."""

from __future__ import annotations

from .graph import PRINTER
from .printer import print_graph

PRINTER.install(print_graph)

"""Graphs: structure, lowering, passes, printer, parser, verifier."""

from __future__ import annotations

from .graph import Graph
from .printer import print_graph

Graph.formatter = print_graph

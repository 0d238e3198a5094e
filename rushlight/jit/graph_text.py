"""Graph text, read back."""

from __future__ import annotations

from .._C.handles import Graph
from ..ir.text import parser
from ..ops.table.table import TABLE

__all__ = ["parse_ir"]


def parse_ir(input: str) -> Graph:
    """The graph that a text, such as `str(f.graph)` or torch's, describes.

    Classes and functions that it names are made up: empty, without bodies.

    Raises:
        rushlight.ir.text.parser.GraphSyntaxError: the text is no graph; line and column are told.
    """
    return Graph(parser.parse_ir(input, table=TABLE))

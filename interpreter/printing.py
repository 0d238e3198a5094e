"""`print` of the language."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..ops.errors import UnsupportedOperator
from ..ops.table import TABLE

__all__ = ["print_values"]


def print_values(values: Sequence[object]) -> None:
    """Write the values to standard output as `str` of the language gives them, and end the line.

    Raises:
        UnsupportedOperator: the operator table has no `aten::str`.
    """
    entry = TABLE.operator("aten::str")
    if entry is None:
        raise UnsupportedOperator("print needs the operator `aten::str`")
    texts = [v if isinstance(v, str) else str(entry.forward(v)) for v in values]
    sys.stdout.write(" ".join(texts) + "\n")

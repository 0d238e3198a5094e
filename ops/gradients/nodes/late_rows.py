"""Rows that are read when somebody asks for nodes."""

from __future__ import annotations

from collections.abc import Callable

from ...table.table import Operator
from .bound import Bound, bound_row_in_script

__all__ = ["LateBound"]


class LateBound:
    """What stands for the row of an overload that a script calls until somebody asks for nodes,
    since to read all rows takes longer than a first call: `put` is told of it then."""

    def __init__(self, entry: Operator, put: Callable[[Bound], None]) -> None:
        self._entry, self._put = entry, put

    def settled(self) -> Bound:
        """The row itself."""
        bound = bound_row_in_script(self._entry)
        self._put(bound)
        return bound

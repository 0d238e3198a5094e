"""The operators that archive code may name: all of the table's, and the statements that such code
writes as calls of operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Signature
from ...typecheck.definitions.schema_text import parse_schema

__all__ = ["ARCHIVE_TABLE", "ArchiveTable"]

_STATEMENTS = {"prim::RaiseException": "prim::RaiseException(str msg, str? cls=None) -> ()"}
"""`raise` has no form in archive code but this; it is a node kind of its own, not an operator."""


@cache
def _statement(name: str) -> Signature:
    return parse_schema(_STATEMENTS[name])


class ArchiveTable:
    """See `typecheck.definitions.schema.OperatorTable`."""

    unchosen = TABLE.unchosen

    def overloads(self, name: str) -> Sequence[Signature]:
        """The overloads of an operator; empty for an unknown name."""
        return [_statement(name)] if name in _STATEMENTS else TABLE.overloads(name)

    def has(self, name: str) -> bool:
        """Whether there is an operator of that name; no schema is parsed to know it."""
        return name in _STATEMENTS or bool(TABLE.operators(name))

    def names(self) -> Sequence[str]:
        """All qualified names."""
        return [*TABLE.names(), *_STATEMENTS]


ARCHIVE_TABLE = ArchiveTable()
"""What archive code is compiled against."""

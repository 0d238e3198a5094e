"""The operators that archive code may name: all of the table's, and the statements that such code
writes as calls of operators."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from typing import Final

from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Signature
from ...typecheck.definitions.schema_text import parse_schema

__all__ = ["ARCHIVE_TABLE", "ArchiveTable", "operator_named", "statement"]

_STATEMENTS = {"prim::RaiseException": "prim::RaiseException(str msg, str? cls=None) -> ()"}
"""`raise` has no form in archive code but this; it is a node kind of its own, not an operator."""


@cache
def statement(name: str) -> Signature | None:
    """How a statement is written as a call; None for what is none."""
    return parse_schema(_STATEMENTS[name]) if name in _STATEMENTS else None


_FORMER: Final = {"prim::shape": "aten::size"}
"""Names that operators had in the first archives, until PyTorch 1.3."""


def operator_named(namespace: str, name: str) -> str:
    """The qualified name of what code calls `ops.namespace.name`."""
    qualified = f"{namespace}::{name}"
    return _FORMER.get(qualified, qualified)


class ArchiveTable:
    """See `typecheck.definitions.schema.OperatorTable`."""

    unchosen = TABLE.unchosen

    @property
    def effects(self) -> Collection[str]:
        """See `OperatorTable.effects`."""
        return TABLE.effects

    def overloads(self, name: str) -> Sequence[Signature]:
        """The overloads of an operator; empty for an unknown name."""
        written = statement(name)
        return [written] if written is not None else TABLE.overloads(name)

    def has(self, name: str) -> bool:
        """Whether there is an operator of that name; no schema is parsed to know it."""
        return name in _STATEMENTS or bool(TABLE.operators(name))

    def names(self) -> Sequence[str]:
        """All qualified names."""
        return [*TABLE.names(), *_STATEMENTS]


ARCHIVE_TABLE = ArchiveTable()
"""What archive code is compiled against."""

"""Operators without a native form, which native code calls as plans do: `operators.native`.

They are those whose calls may be learned: what they do follows from what they are given, and they
write nothing, so a plan may do the whole call once more.  The word for one in the table of outer
addresses is `operator <name>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...ops.table.direct import has_direct_form
from ...ops.table.record import Operator
from ...typecheck.types.types import NUMBER, Type
from .kinds import ARRAY, BOOL, FLOAT, INT, NONE, STR, Kind, bound, holds_arrays

__all__ = ["CALLED", "may_be_called", "results_of"]

CALLED: Final = "operator "
"""What the words for such operators begin with."""

_TAKEN: Final = (INT, FLOAT, BOOL, NONE, STR)
_GIVEN: Final = (ARRAY, INT, FLOAT, BOOL)


def may_be_called(entry: Operator) -> bool:
    """Whether native code may call an operator that has no form for what it is given."""
    takes_tensors = "Tensor" in entry.schema.partition("->")[0]
    writes = entry.is_in_place or entry.changes or entry.trains_by
    is_left_open = entry.undefined or entry.data_dependent is not None
    return takes_tensors and has_direct_form(entry) and not (writes or is_left_open)


def results_of(entry: Operator, kinds: Sequence[Kind], types: Sequence[Type]) -> list[Kind] | None:
    """The kinds of what an operator gives for values of some kinds, which it takes for those of
    some types; None where it may not be called with them."""
    if not may_be_called(entry) or len(kinds) != len(types):
        return None
    if not all(map(_may_be_given, kinds, types)):
        return None
    results = [bound(each.type, {}) for each in entry.signature.returns]
    return results if all(kind in _GIVEN for kind in results) else None


def _may_be_given(kind: Kind, type: Type) -> bool:
    inner = kind.element if kind.family == "list" else kind
    if type == NUMBER and holds_arrays(kind):  # whose number nobody has read yet
        return False
    return inner in _TAKEN or inner.family == "array"

"""Traces in which operators in place are written as those that make new memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...ops.table.table import TABLE, Operator
from ...ops.tensors.tensor import Tensor
from .trace_writer import Writer

__all__ = ["not_in_place", "warn_of_views"]

Call = tuple[Operator, Sequence[Any]]

_SHARED: Final = (
    "There are 2 live references to the data region being modified when tracing in-place operator "
    "{}. This might cause the trace to be incorrect, because all other views that also reference "
    "this data will not reflect this change in the trace! On the other hand, if all other views "
    "use the same memory chunk, but are disjoint (e.g. are outputs of torch.split), this might "
    "still be safe."
)


def not_in_place(entry: Operator, values: Sequence[Any]) -> Call:
    """The call that gives the same result in new memory, if there is one."""
    if not entry.is_in_place:
        return entry, values
    if entry.name == "aten::copy_" and values[0].dtype == values[1].dtype:
        spread = TABLE.operator("aten::expand_as")
        assert spread is not None
        return spread, values[1::-1]
    plain = entry.name.removesuffix("_")
    full = f"{plain}.{entry.overload}" if entry.overload else plain
    return TABLE.operator(full) or entry, values


def warn_of_views(tracer: Writer, entry: Operator, handles: Sequence[object]) -> None:
    """Warn where a view is written, of which the tensors around it will not know."""
    tensor = handles[0] if handles else None
    if entry.is_in_place and isinstance(tensor, Tensor) and tensor._view_of is not None:
        name = entry.name.removeprefix("aten::")
        assigned = " (possibly due to an assignment)" if name == "copy_" else ""
        tracer.warn(_SHARED.format(name + assigned))

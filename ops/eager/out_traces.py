"""What traces hear of `out=`: that results were written into tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..table.table import TABLE, Operator
from ..tensors.tensor import Tensor
from ..tensors.tracing import Tracer, current_tracer
from .out_tensors import is_out_form

__all__ = ["note_written"]


def note_written(
    tracer: Tracer | None,
    entry: Operator,
    values: Sequence[object],
    handles: Sequence[object],
    out: Any,
    result: Any,
) -> None:
    """Have this thread's tracer write down the form of an operator with `out`, or copies.

    Args:
        tracer: whom nothing of the operator was told; None: who listens knows it already.
        entry: the operator, without `out`.
        values: its operands, and `handles` as Python gave them.
        out: the tensor, or tensors, written into; of several, the operator has no derived form.
        result: what it gave.
    """
    form = _out_form(entry) if tracer is not None else None
    if tracer is not None and form is not None:
        tracer.record(form, [*values, out._array], out, [*handles, out])
        return
    listener = tracer or current_tracer()
    if listener is None:
        return
    if tracer is not None:
        tracer.record(entry, values, result, handles)
    copy = TABLE.operator("aten::copy_")
    assert copy is not None
    for part, target in (
        [(result, out)] if isinstance(out, Tensor) else zip(result, out, strict=True)
    ):
        listener.record(copy, [target._array, part._array, False], target, [target, part])


def _out_form(entry: Operator) -> Operator | None:
    wanted = [(each.name, each.type) for each in entry.signature.arguments]
    for form in filter(is_out_form, TABLE.operators(entry.name)):
        if [(each.name, each.type) for each in form.signature.arguments[:-1]] == wanted:
            return form
    return None

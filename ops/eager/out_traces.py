"""What traces hear of `out=`: that results were written into tensors."""

from __future__ import annotations

from collections.abc import Sequence

from ..table.table import TABLE, Operator
from ..tensors.tensor import Tensor
from ..tensors.tracing import Tracer, current_tracer

__all__ = ["note_written"]


def note_written(
    tracer: Tracer | None,
    entry: Operator,
    values: Sequence[object],
    handles: Sequence[object],
    out: Tensor,
    result: Tensor,
) -> None:
    """Have this thread's tracer write down the form of an operator with `out`, or copies.

    Args:
        tracer: whom nothing of the operator was told; None: who listens knows it already.
        entry: the operator, without `out`.
        values: its operands, and `handles` as Python gave them.
        out: the tensor, or tensors, written into.
        result: what it gave.
    """
    outs = [out] if isinstance(out, Tensor) else list(out)
    form = _out_form(entry, len(outs)) if tracer is not None else None
    if tracer is not None and form is not None:
        arrays = [each._array for each in outs]
        tracer.record(form, [*values, *arrays], out, [*handles, *outs])
        return
    listener = tracer or current_tracer()
    if listener is None:
        return
    if tracer is not None:
        tracer.record(entry, values, result, handles)
    copy = TABLE.operator("aten::copy_")
    assert copy is not None
    for part, target in zip([result] if isinstance(out, Tensor) else result, outs, strict=True):
        listener.record(copy, [target._array, part._array, False], target, [target, part])


def _out_form(entry: Operator, count: int) -> Operator | None:
    """The form of an operator with so many outs, if there is one."""
    wanted = [(each.name, each.type) for each in entry.signature.arguments]
    for form in TABLE.operators(entry.name):
        if form.is_out_form:
            arguments = form.signature.arguments[:-count]
            if [(each.name, each.type) for each in arguments] == wanted:
                return form
    return None

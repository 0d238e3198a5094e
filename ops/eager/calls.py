"""The call of an operator: machine values in, tensors out; tape and tracer see every one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, dtype_by_number
from ..memory.made_since import WATCHED, check_age
from ..memory.named_results import named_results
from ..memory.quiet import QUIET, enter, leave
from ..memory.versions import owner_of, version_of, written
from ..table.grad_mode import is_recording
from ..table.out_forms import outs_in
from ..table.table import Operator
from ..tensors.differentiable import AMONG_UNKNOWN
from ..tensors.tape_port import tape
from ..tensors.tensor import Tensor, view_of
from ..tensors.tracing import ACTIVE, current_tracer, with_plain_numbers

__all__ = [
    "any_requires_grad",
    "finish",
    "note_view",
    "run",
    "seen_as_view",
    "several_of",
    "tensors_in",
    "views_of",
]

_ndarray: Final = np.ndarray


def run(
    entry: Operator,
    values: list[object],
    handles: Sequence[object],
    forward: Callable[..., object] | None = None,
) -> Any:
    """Run an operator on machine values; arrays come back as tensors.

    `handles` are the Python arguments: what comes back in place is the same handle again.  A
    `forward` stands for the operator's own.
    """
    if ACTIVE:
        forward = with_plain_numbers(forward or entry.forward)
    if any_requires_grad(handles) and is_recording():
        return tape().taped(entry, values, handles, entry.unwatched is not None, None, forward)
    if WATCHED and entry.is_in_place:
        check_age(values[0], entry.full_name)  # type: ignore[arg-type]
    state = enter(QUIET)
    try:
        result = (forward or entry.forward)(*values)
    finally:
        leave(state)
    return finish(entry, values, result, handles)


def any_requires_grad(handles: Sequence[object]) -> bool:
    """Whether a tensor among some values requires gradients, or may."""
    for handle in handles:
        if isinstance(handle, Tensor):
            if handle._requires_grad:
                return True
        elif isinstance(handle, (list, tuple)) and any_requires_grad(handle):
            return True
    return False


def tensors_in(value: object) -> list[Tensor]:
    """The tensors of a value or of lists and tuples of them, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for each in value for tensor in tensors_in(each)]
    return []


def finish(entry: Operator, values: list[Any], result: object, handles: Sequence[object]) -> object:
    """Make tensors of a result's arrays and tell the tracer of this thread, if there is one."""
    if type(result) is _ndarray:
        wrapped: object = _handle_of(result, handles)
    else:
        wrapped = _wrapped(entry, result, handles)
    if entry.is_in_place:
        written(values[0])
    elif entry.is_view and not (isinstance(wrapped, Tensor) and wrapped._view_of is not None):
        note_view(wrapped, handles, entry)
    elif entry.is_out_form:
        for out in outs_in(result, values):
            written(out)
    if ACTIVE:
        tracer = current_tracer()
        if tracer is not None:
            return tracer.record(entry, values, wrapped, handles)
    return wrapped


def note_view(wrapped: object, handles: Sequence[object], entry: Operator) -> None:
    """Tell views what they are views of, unless the tape does."""
    base = handles[0] if handles else None
    if not isinstance(base, Tensor) or (base._requires_grad and is_recording()):
        return
    for view in wrapped if isinstance(wrapped, tuple) else (wrapped,):
        if isinstance(view, Tensor) and view is not base:
            view._seen_as(base)
            if type(wrapped) is tuple and not entry.slices:
                view._view_among = AMONG_UNKNOWN


def seen_as_view(made: object, base: Any) -> object:
    """A result, known to be a view of a tensor if it shares its memory."""
    if type(made) is not Tensor:
        return made  # behind which there may be no array
    if made is base or owner_of(made._array) is not owner_of(base._array):
        return made
    if not made._requires_grad:
        return made._seen_as(base)
    made._view_of, made._view_version = base, version_of(made._array)
    return made


def views_of(base: Tensor, arrays: list[Array]) -> tuple[Tensor, ...]:
    """Tensors of several arrays that are views of one tensor's."""
    made = []
    for array in arrays:
        if array is base._array:
            made.append(base)
            continue
        view = view_of(base, array)
        view._view_among = AMONG_UNKNOWN
        made.append(view)
    return tuple(made)


def _handle_of(array: Array, handles: Sequence[object]) -> Tensor:
    for handle in handles:
        if isinstance(handle, Tensor) and handle._array is array:
            return handle
    return Tensor._of(array)


def _by_array(handles: Sequence[object]) -> dict[int, Tensor]:
    """The tensors among some values, and in lists of them, by their arrays: the first that has
    one, of lists before others."""
    listed = [each for each in handles if isinstance(each, (list, tuple))]
    given = [*chain.from_iterable(listed), *handles]
    return {id(each._array): each for each in reversed(given) if isinstance(each, Tensor)}


def _wrapped(entry: Operator, result: object, handles: Sequence[object]) -> object:
    if isinstance(result, _ndarray):
        return _handle_of(result, handles)
    if isinstance(result, tuple) and (several := several_of(entry)) is not None:
        given = [each for each in handles if isinstance(each, (Tensor, list, tuple))]
        return tuple.__new__(several, [_part(r, given) for r in result])
    if isinstance(result, list) and (not result or isinstance(result[0], np.ndarray)):
        known = _by_array(handles)
        return tuple([known[id(a)] if id(a) in known else Tensor._of(a) for a in result])
    if isinstance(result, int) and entry.schema.endswith("-> ScalarType"):
        return dtype_by_number(result)
    return result


def several_of(entry: Operator) -> type[tuple[object, ...]] | None:
    """The type of an operator's results; None if there are not several."""
    return _several_of(entry) if len(entry.signature.returns) > 1 else None


@cache
def _several_of(entry: Operator) -> type[tuple[object, ...]]:
    names = tuple(result.name for result in entry.signature.returns)
    return named_results(entry.name.partition("::")[2], names) if all(names) else tuple


def _part(result: object, handles: Sequence[object]) -> object:
    """One of several results."""
    if type(result) is _ndarray:
        return _handle_of(result, handles)
    if isinstance(result, list):
        given = [h for each in handles for h in (each if isinstance(each, (list, tuple)) else ())]
        return tuple(_part(each, [*given, *handles]) for each in result)
    return _handle_of(result, handles) if isinstance(result, np.ndarray) else result

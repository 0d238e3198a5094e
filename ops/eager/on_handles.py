"""Operators for running code whose values are tensors themselves, not the arrays behind them.

Code runs so where it meets a tensor behind which no array stands (`elsewhere.py`), and while a mode
sees the operators below gradients: each operator is then an eager call of the overload that the
code names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...typecheck.types.types import TENSOR, Type
from ..memory.dtype import DType, Layout, MemoryFormat
from ..memory.errors import Elsewhere
from ..memory.unforeseen import told
from ..table.table import Operator
from ..tensors.dispatched import check_dispatched
from ..tensors.overriding import STATE
from ..tensors.sizes import Size
from ..tensors.tensor import Tensor
from .calls import run
from .elsewhere import Run, elsewhere
from .open_operators import call_kernel, python_values

__all__ = ["on_handles"]


def on_handles(
    entry: Operator, forward: Callable[..., object], *, bounded: bool = False
) -> Callable[..., object]:
    """What stands in an operator's place where tensors are handles.

    `forward` is the operator's own, with whatever counts it around it.  Where calls are `bounded`
    no other tensors are taken than those without data, whose operators cost nothing.
    """
    if not _is_about_tensors(entry):
        return forward
    name = entry.name.partition("::")[2]
    alone = entry.name.startswith("prim::") and len(entry.signature.arguments) == 1

    def call(*values: object) -> object:
        first = values[0] if values else None
        if isinstance(first, Tensor):
            own = getattr(type(first), name, None)
            if own is not None and (alone or own is not getattr(Tensor, name, None)):
                return _lowered(_asked(entry, own, values), entry.signature.returns)
        return _lowered(_run(entry, forward, values, bounded), entry.signature.returns)

    return call


def _is_about_tensors(entry: Operator) -> bool:
    arguments = (*entry.signature.arguments, *entry.signature.returns)
    return any(_holds_tensors(argument.type) for argument in arguments)


def _holds_tensors(type: Type) -> bool:
    inner = type.inner
    return inner == TENSOR or (inner.list_of is not None and inner.list_of.inner == TENSOR)


def _asked(entry: Operator, own: object, values: Sequence[object]) -> object:
    """What a member of the tensor's own class says, as it does in Python."""
    if not callable(own):
        return getattr(values[0], entry.name.partition("::")[2])
    return call_kernel(entry, own, python_values(entry, values))


def _run(
    entry: Operator, forward: Callable[..., object], values: Sequence[object], bounded: bool
) -> object:
    below = STATE.below

    def choose(run: Run) -> object:
        check_dispatched(values, {})
        return run(entry, [_array(value) for value in values], values)

    try:
        return choose(partial(run, forward=forward) if below is None else below.run)
    except Elsewhere as place:
        if bounded and place.kind != "meta":
            raise NotImplementedError(
                f"code that is not trusted takes no {place.kind} tensors: what `{entry.name}` does "
                "with them is not bounded"
            ) from None
        kind = place.kind
    except Exception as error:
        raise told(error, entry.name)  # noqa: B904

    def call(*args: object, **kwargs: object) -> object:
        return elsewhere(
            kind,
            entry.name,
            args,
            kwargs,
            lambda run: choose(run if below is None else below.running(run)),
        )

    return call_kernel(entry, call, python_values(entry, [_handle(each) for each in values]))


def _handle(value: object) -> object:
    """A value as a tensor: constants of the code are arrays."""
    if isinstance(value, list):
        return [_handle(each) for each in value]
    return Tensor._of(value) if isinstance(value, np.ndarray) else value


def _array(value: object) -> object:
    """A value with arrays in the place of tensors."""
    if isinstance(value, Tensor):
        return value._array
    if isinstance(value, list):
        return [_array(each) for each in value]
    return value


def _lowered(result: Any, returns: Sequence[Any]) -> object:
    """An eager result as running code has it."""
    if len(returns) > 1:
        return tuple(_lowered(part, [r]) for part, r in zip(result, returns, strict=True))
    if isinstance(result, (DType, Layout, MemoryFormat)):
        return result.number
    if isinstance(result, Size):
        return list(result)
    if isinstance(result, tuple) and returns and returns[0].type.inner.list_of is not None:
        return list(result)
    return Tensor._of(result) if isinstance(result, np.ndarray) else result

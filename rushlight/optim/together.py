"""Steps of optimizers that are one kernel for a parameter, and one call for the small parameters
of a group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter, is_
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from ..ops.memory.dtype import STRIDED, Array
from ..ops.memory.versions import count_writes, counts_of
from ..ops.table.grad_mode import is_grad_enabled
from ..ops.table.row_updates import RowUpdate
from ..ops.table.updates import Update
from ..ops.tensors.dispatched import is_dispatched
from ..ops.tensors.overriding import STATE, asks
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.tracing import ACTIVE

__all__ = ["Fused", "Together", "bare"]

_array = attrgetter("_array")
_GRADIENT: Final = 1
"""The place of the gradient among what a kernel is given."""
_LONGEST_WAIT: Final = 1 << 10

State = dict[str, Any]


def bare(*tensors: Tensor) -> list[Array] | None:
    """The arrays of tensors that nobody listens to, and no gradients go through; None of others."""
    if is_grad_enabled() or ACTIVE or STATE.below is not None or asks(*tensors):
        return None
    if any(each.layout is not STRIDED or is_dispatched(each) for each in tensors):
        return None
    return [each._array for each in tensors]


class Fused(NamedTuple):
    """A step as one kernel of the parameter, its gradient and what is kept under some names."""

    update: Update
    names: Sequence[str]
    numbers: Sequence[float]

    def done(self, parameter: Tensor, grad: Tensor, state: State) -> bool:
        """Do it for a parameter; False, with nothing done, where there is no kernel (yet)."""
        arrays = bare(parameter, grad, *(state[name] for name in self.names))
        return arrays is not None and self.update(arrays, *self.numbers)


class _Optimizer(Protocol):
    state: dict[Tensor, State]

    def _fused(self, step: float, group: State) -> Fused | None: ...


class Together:
    """What is known of the groups of an optimizer."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}

    def left(self, optimizer: _Optimizer, group: State) -> Iterable[Tensor]:
        """Do the step of the small parameters of a group; the others are given back."""
        params: list[Tensor] = group["params"]
        if len(params) < 2 or bare() is None:
            return params
        known = self._known.get(id(group))
        if known is None or known.group is not group:
            known = self._known[id(group)] = _Known(group)
        return known.left(optimizer)


class _Known:
    """What is known of a group: its rows, or after how many steps to look for some."""

    def __init__(self, group: State) -> None:
        self.group = group
        self._rows: _Rows | None = None
        self._wait, self._left = 2, 2

    def left(self, optimizer: _Optimizer) -> Iterable[Tensor]:
        rows, params = self._rows, self.group["params"]
        if rows is None:
            self._left -= 1
            if self._left:
                return params  # type: ignore[no-any-return]
            self._wait = self._left = min(2 * self._wait, _LONGEST_WAIT)
            rows = _Rows.of(optimizer, self.group)
            if rows is None:
                return params  # type: ignore[no-any-return]
        if rows.did(optimizer, self.group):
            self._rows = rows
            return rows.others
        self._rows = None
        return params  # type: ignore[no-any-return]


class _Rows:
    """Small parameters of a group whose steps are one call, as long as they and what is kept of
    them are what they were."""

    def __init__(
        self, params: list[Tensor], chosen: list[Tensor], states: list[State], update: RowUpdate
    ) -> None:
        self._params = params[:]
        self._chosen, self._states, self._update = chosen, states, update
        self._if_absent = [None if each else each for each in states]  # nothing is kept of some
        self._values = [*chain(*map(dict.values, states))]
        self._sizes = list(map(len, states))
        self._tensors = [*chosen, *(each for each in self._values if isinstance(each, Tensor))]
        self._arrays = list(map(_array, self._tensors))
        self._counters = [state["step"]._array for state in states if "step" in state]
        self._counts = [(counts_of(each), 1) for each in self._counters]
        taken = set(map(id, chosen))
        self.others = [each for each in params if id(each) not in taken]

    @staticmethod
    def of(optimizer: _Optimizer, group: State) -> _Rows | None:
        """Those of a group; None where there are none."""
        form = optimizer._fused(_next_step(optimizer, group), group)
        if form is None:
            return None
        chosen, states, sets = list[Tensor](), list[State](), list[Sequence[Array]]()
        for each in group["params"]:
            state = optimizer.state.get(each, {})
            arrays = _arrays_of(each, state, form)
            if arrays is not None and RowUpdate.takes(form.update, arrays, _GRADIENT):
                chosen.append(each)
                states.append(state)
                sets.append(arrays)
        update = RowUpdate.of(form.update, sets, _GRADIENT) if len(sets) > 1 else None
        return None if update is None else _Rows(group["params"], chosen, states, update)

    def did(self, optimizer: _Optimizer, group: State) -> bool:
        """Do the step; False, with nothing done, where something is not what it was."""
        params, states = group["params"], optimizer.state
        grads: list[Tensor | None] = [each._gradient for each in self._chosen]
        if (
            len(params) != len(self._params)
            or not all(map(is_, params, self._params))
            or any(type(each) is not Tensor for each in grads)
            or not all(map(is_, map(states.get, self._chosen, self._if_absent), self._states))
            or list(map(len, self._states)) != self._sizes
            or not all(map(is_, chain(*map(dict.values, self._states)), self._values))
            or not all(map(is_, map(_array, self._tensors), self._arrays))
        ):
            return False
        steps = {each.item() for each in self._counters}
        if len(steps) > 1:
            return False
        now = float(np.float32(steps.pop()) + np.float32(1)) if steps else 0.0
        form = optimizer._fused(now, group)
        if form is None or form.update is not self._update.update:
            return False
        if not self._update(list(map(_array, grads)), *map(float, form.numbers)):
            return False
        for each in self._counters:
            each.fill(now)
        count_writes(self._counts)
        return True


def _next_step(optimizer: _Optimizer, group: State) -> float:
    """The number of the step that comes, as the first parameter counts."""
    step = optimizer.state.get(group["params"][0], {}).get("step")
    return step.item() + 1.0 if type(step) is Tensor and step.numel() == 1 else 1.0


def _arrays_of(parameter: Tensor, state: State, form: Fused) -> list[Array] | None:
    """What a kernel is given for a parameter; None of what is not as it should be."""
    grad, step = parameter._gradient, state.get("step")
    if type(grad) is not Tensor or not all(name in state for name in form.names):
        return None
    if "step" in state and not (type(step) is Tensor and step._array.shape == ()):
        return None
    if step is not None and step._array.dtype.char != "f":
        return None
    kept = [state[name] for name in form.names]
    if not all(isinstance(each, Tensor) for each in kept):
        return None
    return bare(parameter, grad, *kept)

"""The state of optimizers as `state_dict` gives it and `load_state_dict` takes it over."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.overriding import STATE
from ..ops.tensors.tensor import Tensor

__all__ = [
    "Group",
    "StateDict",
    "count_step",
    "counter",
    "loaded_state",
    "packed",
    "with_counters",
]

Group = dict[str, Any]
"""The options of some parameters, or what is remembered of one, by name."""
StateDict = dict[str, Any]
"""What `state_dict` gives."""
_COUNTERS = ("step", "eta", "mu", "mu_product")
"""What may be a number in states of old files, and is a tensor now."""


def counter(value: float = 0.0) -> Tensor:
    """A number that is kept in an optimizer's state, as torch keeps it."""
    made = Tensor._of(np.asarray(value, np.float32))
    return made if STATE.below is None else STATE.below.fresh(made)


def count_step(state: Group, like: Tensor, *zeros: str) -> None:
    """Count a step of a parameter; before the first one, make its state: a counter, and zeros."""
    if not state:
        state["step"] = counter()
        zeros_like = eager_function("aten::zeros_like")
        state.update((name, zeros_like(like)) for name in zeros)
    state["step"] += 1


def packed(groups: list[Group], state: Mapping[Any, object]) -> Group:
    """State and options with numbers in place of parameters; other keys of the state stay."""
    numbers: dict[int, int] = {}
    packed_groups, start = [], 0
    for group in groups:
        members = enumerate(group["params"], start)
        numbers.update({id(p): i for i, p in members if id(p) not in numbers})
        start += len(group["params"])
        kept = {key: value for key, value in group.items() if key != "params"}
        packed_groups.append({**kept, "params": [numbers[id(p)] for p in group["params"]]})
    by_number = {
        numbers[id(key)] if isinstance(key, Tensor) else key: _copied(value)
        for key, value in state.items()
    }
    return {"state": by_number, "param_groups": packed_groups}


def _copied(value: object) -> object:
    return dict(value) if isinstance(value, dict) else value


def loaded_state(
    saved: Mapping[Any, Any], by_number: Mapping[int, Tensor], has_counters: bool
) -> defaultdict[Any, Any]:
    """A saved state by parameters, in their dtypes.

    Args:
        saved: the state by numbers; other keys are taken over.
        by_number: the parameters.
        has_counters: whether numbers of steps are tensors in this optimizer.
    """
    state: defaultdict[object, object] = defaultdict(dict)
    for key, values in saved.items():
        parameter = by_number.get(key)
        if parameter is None:
            if not isinstance(key, int):
                state[key] = copy.deepcopy(values)
            continue
        fitting = {name: _fitting(name, v, parameter) for name, v in dict(values).items()}
        state[parameter] = with_counters(fitting) if has_counters else fitting
    return state


def _fitting(name: str, value: object, parameter: Tensor) -> object:
    """A copy of what is kept of a parameter, floats in its dtype; steps stay what they are."""
    if isinstance(value, Tensor):
        other = value.detach().clone()
        if name == "step" or not parameter.is_floating_point():
            return other
        return other.to(parameter.dtype)
    if isinstance(value, dict):
        return {key: _fitting(name, each, parameter) for key, each in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_fitting(name, each, parameter) for each in value)
    return copy.deepcopy(value)


def with_counters(state: Group) -> Group:
    """A state whose counters are tensors, as old files have numbers there."""
    for name in _COUNTERS:
        if isinstance(state.get(name), (int, float)):
            state[name] = counter(state[name])
    return state

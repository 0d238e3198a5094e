"""Whether functions look for `__torch_function__`: the state of a thread, as tests ask for it."""

from __future__ import annotations

from enum import Enum

from ..ops.tensors.overriding import STATE

__all__ = [
    *("_TorchFunctionState", "_get_torch_function_state", "_set_torch_function_state"),
    *("_is_torch_function_all_disabled", "_pop_torch_function_stack"),
]


class _TorchFunctionState(Enum):
    """Classes and modes are asked, modes alone, or neither."""

    ENABLED = 0
    SUBCLASSES_DISABLED = 1
    ALL_DISABLED = 2


def _get_torch_function_state() -> _TorchFunctionState:
    """The state of this thread."""
    if STATE.subclasses:
        return _TorchFunctionState.ENABLED
    return _TorchFunctionState(1 if STATE.modes_too else 2)


def _set_torch_function_state(state: _TorchFunctionState) -> None:
    """Have functions look for classes and modes as `state` says."""
    STATE.subclasses = state is _TorchFunctionState.ENABLED
    STATE.modes_too = state is not _TorchFunctionState.ALL_DISABLED


def _is_torch_function_all_disabled() -> bool:
    """Whether neither classes nor modes are asked."""
    return not (STATE.subclasses or STATE.modes_too)


def _pop_torch_function_stack() -> object:
    """Take away the mode that was entered last, and give it.

    Raises:
        IndexError: there is none.
    """
    return STATE.modes.pop()

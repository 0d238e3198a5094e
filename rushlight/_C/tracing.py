"""Whether a tracer listens, and which."""

from __future__ import annotations

from ..ops.tensors.tracing import ACTIVE, Tracer, current_tracer

__all__ = ["_get_tracing_state", "_is_tracing", "_set_tracing_state"]


def _get_tracing_state() -> Tracer | None:
    """The tracer that records what this thread does, if there is one."""
    return current_tracer()


def _is_tracing() -> bool:
    """Whether what this thread does is recorded."""
    return current_tracer() is not None


def _set_tracing_state(state: Tracer | None) -> None:
    """Have this thread's tracer pause, for None, or go on.

    Args:
        state: as `_get_tracing_state` gave it before the pause.

    Raises:
        RuntimeError: what is to go on traces no longer.
    """
    tracer = current_tracer()
    if state is None:
        if tracer is not None:
            tracer.paused += 1
    elif state is not tracer:
        if state not in ACTIVE:
            raise RuntimeError("_set_tracing_state: this state belongs to a trace that has ended")
        state.paused -= 1

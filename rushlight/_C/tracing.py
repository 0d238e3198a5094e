"""Whether a tracer listens, and which."""

from __future__ import annotations

from ..ops.tensors.tracing import Tracer, current_tracer

__all__ = ["_get_tracing_state", "_is_tracing"]


def _get_tracing_state() -> Tracer | None:
    """The tracer that records what this thread does, if there is one."""
    return current_tracer()


def _is_tracing() -> bool:
    """Whether what this thread does is recorded."""
    return current_tracer() is not None

"""`torch.utils.checkpoint`: parts of a network that torch computes again on the way back.

Here they are computed once and keep their intermediate results: the same values, more memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = [
    *("checkpoint", "checkpoint_sequential", "get_device_states", "noop_context_fn"),
    *("set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states"),
]

_OPTIONS = (
    *("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check"),
    *("debug", "early_stop"),
)


def checkpoint(function: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """`function(*args, **kwargs)`; torch's options are taken and say nothing here."""
    return function(*args, **{key: kwargs[key] for key in kwargs if key not in _OPTIONS})


def checkpoint_sequential(functions: Any, segments: int, input: object, **kwargs: object) -> Any:
    """What a sequence of functions, or a Sequential, makes of an input."""
    steps: Sequence[Callable[[Any], object]] = (
        list(functions.children()) if hasattr(functions, "children") else list(functions)
    )
    for step in steps:
        input = step(input)
    return input


def get_device_states(*args: object) -> tuple[list[int], list[Any]]:
    """The devices of tensors other than the CPU, and their generators' states: none."""
    del args
    return [], []


def set_device_states(devices: object, states: object, *, device_type: str | None = None) -> None:
    """Give the generators of such devices their states back."""
    del devices, states, device_type


def set_checkpoint_early_stop(enable: bool) -> AbstractContextManager[None]:
    """A block in which computing again may stop early; nothing is computed again."""
    del enable
    return nullcontext()


set_checkpoint_debug_enabled = set_checkpoint_early_stop


def noop_context_fn() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Blocks for the first computation and the second that change nothing."""
    return nullcontext(), nullcontext()

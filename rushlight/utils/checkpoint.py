"""`torch.utils.checkpoint`: parts of a network that torch computes again on the way back.

Here they are computed once and keep their intermediate results: the same values, more memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["checkpoint", "checkpoint_sequential"]

_OPTIONS = (
    *("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check"),
    *("debug", "early_stop"),
)


def checkpoint(function: Callable[..., object], *args: object, **kwargs: object) -> Any:
    """`function(*args, **kwargs)`; torch's options are taken and say nothing here."""
    return function(*args, **{key: kwargs[key] for key in kwargs if key not in _OPTIONS})


def checkpoint_sequential(functions: Any, segments: int, input: object, **kwargs: object) -> Any:
    """What a sequence of functions, or a Sequential, makes of an input."""
    steps: Sequence[Callable[[Any], Any]] = (
        list(functions.children()) if hasattr(functions, "children") else list(functions)
    )
    for step in steps:
        input = step(input)
    return input

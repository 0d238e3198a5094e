"""`torch.testing._utils`: random numbers of tests, which leave those of others alone."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import ParamSpec, TypeVar

from ..random import fork_rng, manual_seed

__all__ = ["freeze_rng_state", "wrapper_set_seed"]

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def freeze_rng_state() -> AbstractContextManager[None]:
    """A block after which the generator of random numbers is as it was before."""
    return fork_rng()


def wrapper_set_seed(
    op: Callable[_Given, _Result], *args: _Given.args, **kwargs: _Given.kwargs
) -> _Result:
    """Call a function with random numbers of the seed 42; the generator is then as before."""
    with freeze_rng_state():
        manual_seed(42)
        return op(*args, **kwargs)

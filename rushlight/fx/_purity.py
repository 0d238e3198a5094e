"""Which calls change something besides their result."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final, TypeVar

from ..jit.special_names import _assert
from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet

__all__ = ["has_side_effect", "impure_call"]

Call = TypeVar("Call", bound=Callable[..., object])

_side_effectful_functions: Final[set[object]] = {operator.setitem, _assert}
_RANDOM: Final = frozenset(
    """bernoulli multinomial normal poisson rand rand_like randint randint_like randn randn_like
    randperm""".split()
)
"""Functions of torch that draw from its generator."""


def has_side_effect(fn: Call) -> Call:
    """A decorator: calls of the function are never dropped from graphs."""
    _side_effectful_functions.add(fn)
    return fn


def impure_call(target: object, random_counts: bool) -> bool:
    """Whether a call of the function must stay though its result is not used.

    Args:
        random_counts: whether operators that draw random numbers must.
    """
    if isinstance(target, EagerFunction):
        return target.__name__ in _RANDOM and not target.is_method
    if isinstance(target, (Overload, Packet)):
        return target.mutates or target.has_effects or (random_counts and target.draws)
    try:
        return target in _side_effectful_functions
    except TypeError:  # it has no hash
        return False

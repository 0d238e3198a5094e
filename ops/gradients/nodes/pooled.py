"""Nodes, and what they keep, take the memory of earlier ones where there are many."""

from __future__ import annotations

from functools import cache
from typing import Final

from ...kernels import family
from ..table.rules import Meta
from .autograd import AccumulateGrad, Saved

__all__ = ["OFTEN", "are_parts_pooled", "pooled"]

OFTEN: Final = 16
"""Nodes of an operator from which on its class is pooled."""


def pooled(kind: type) -> type:
    """A class of nodes whose objects, and what they keep, are pooled from now on, where there is
    native code for that."""
    if are_parts_pooled():
        family("calls.pools").pool(kind)
    return kind


@cache
def are_parts_pooled() -> bool:
    """Whether what nodes keep is pooled, which it is from the first time on that this is asked."""
    pools = family("calls.pools")
    return pools is not None and all(map(pools.pool, (Saved, Meta, AccumulateGrad)))

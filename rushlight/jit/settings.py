"""Settings of torch's executor, which are accepted and change nothing: results are the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["optimized_execution", "set_fusion_strategy"]

_fusion: list[tuple[str, int]] = []


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which torch would (not) specialise what runs; here code runs the same way."""
    yield


def set_fusion_strategy(strategy: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Set how often torch would specialise for shapes; gives the strategy that was set before."""
    before = list(_fusion)
    _fusion[:] = strategy
    return before

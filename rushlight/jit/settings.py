"""Settings of torch's executor, which are accepted and change nothing: results are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._C.settings import SWITCHES, set_fusion_strategy

__all__ = [
    "enable_onednn_fusion",
    "fuser",
    "onednn_fusion_enabled",
    "optimized_execution",
    "set_fusion_strategy",
    "strict_fusion",
]

_FUSERS = ("fuser0", "fuser1", "fuser2", "fuser3", "none")


@contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which torch would (not) specialise what runs; here code runs the same way."""
    setting = SWITCHES["_get_graph_executor_optimize"]
    before = setting(should_optimize)
    try:
        yield
    finally:
        setting(before)


@contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block in which torch would use one of its fusers; here code runs the same way.

    Raises:
        Exception: there is no fuser of that name.
    """
    if name not in _FUSERS:
        raise Exception(f"unrecognized fuser option (name: {name})")  # as in torch
    yield


def enable_onednn_fusion(enabled: bool) -> None:
    """Whether torch would use oneDNN; here code runs the same way."""
    SWITCHES["_jit_set_llga_enabled"](enabled)


def onednn_fusion_enabled() -> bool:
    """What `enable_onednn_fusion` was last given."""
    return bool(SWITCHES["_jit_llga_enabled"]())


class strict_fusion:
    """A `with` block in script whose operators torch would have to fuse; here just a block."""

    def __enter__(self) -> None:
        """Enter it."""

    def __exit__(self, *details: object) -> None:
        """Leave it."""

"""`torch.backends.cudnn`: there is none; its switches may be set and say nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

from ..module_names import names_of
from .switches import Switches

__all__ = [
    "allow_tf32",
    "benchmark",
    "deterministic",
    "enabled",
    "flags",
    "is_available",
    "version",
]

enabled = True
allow_tf32 = True
benchmark = False
deterministic = False
fp32_precision = "none"
conv, rnn = SimpleNamespace(fp32_precision="tf32"), SimpleNamespace(fp32_precision="tf32")
"""How convolutions and recurrent layers may be shortened on such a device."""


def is_available() -> bool:
    """Whether the library is there: no."""
    return False


def version() -> None:
    """The library's version: None."""
    return


_SWITCHES = ("enabled", "benchmark", "deterministic", "allow_tf32")


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    **others: object,
) -> Iterator[None]:
    """Set the switches within a `with` block."""
    own = globals()
    before = {name: own[name] for name in _SWITCHES}
    own.update(zip(_SWITCHES, (enabled, benchmark, deterministic, allow_tf32), strict=True))
    try:
        yield
    finally:
        own.update(before)


__getattr__ = names_of(__name__)
sys.modules[__name__].__class__ = Switches

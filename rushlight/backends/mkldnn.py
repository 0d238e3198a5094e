"""`torch.backends.mkldnn`: products of matrices, convolutions and recurrent layers, ours here.

`fp32_precision` of the module, of `matmul`, `conv` and `rnn` says how exact they are (see
`rushlight.float_precision`); recurrent layers are float32 always.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ..float_precision import OfAll, Precision, ask
from .switches import Switches

__all__ = [
    *("allow_tf32", "conv", "deterministic", "enabled", "flags", "is_available", "matmul", "rnn"),
    "set_flags",
]

matmul, conv, rnn = map(Precision, ("matmul", "conv", "rnn"))
enabled = True
deterministic = False
allow_tf32: bool | None = None
_SWITCHES = ("enabled", "deterministic", "allow_tf32", "fp32_precision")


class _Mkldnn(OfAll, Switches):
    """This module with its setting."""


sys.modules[__name__].__class__ = _Mkldnn


def is_available() -> bool:
    """Whether the library itself is there: no."""
    return False


def set_flags(
    _enabled: bool | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
) -> tuple[bool, bool, bool | None, str]:
    """Set the switches that are given; what all of them were before is returned.

    Raises:
        RuntimeError: no such precision.
    """
    own, module = globals(), sys.modules[__name__]
    before = (enabled, deterministic, allow_tf32, str(module.fp32_precision))
    given = zip(_SWITCHES, (_enabled, _deterministic, _allow_tf32), strict=False)
    own.update({name: value for name, value in given if value is not None})
    ask("all", _fp32_precision)
    return before


@contextmanager
def flags(
    enabled: bool = False,
    deterministic: bool = False,
    allow_tf32: bool | None = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """A block with other switches."""
    before = set_flags(enabled, deterministic, allow_tf32, fp32_precision)
    try:
        yield
    finally:
        set_flags(*before)

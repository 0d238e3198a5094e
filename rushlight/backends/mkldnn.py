"""`torch.backends.mkldnn`: products of matrices, convolutions and recurrent layers, ours here.

`fp32_precision` of the module, of `matmul`, `conv` and `rnn` says how exact they are (see
`rushlight.float_precision`); recurrent layers are float32 always.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ..float_precision import OfAll, Precision

__all__ = ["conv", "is_available", "matmul", "rnn"]

matmul, conv, rnn = map(Precision, ("matmul", "conv", "rnn"))


class _Mkldnn(OfAll, ModuleType):
    """This module with its setting."""


sys.modules[__name__].__class__ = _Mkldnn


def is_available() -> bool:
    """Whether the library itself is there: no."""
    return False

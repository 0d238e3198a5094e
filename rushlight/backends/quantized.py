"""`torch.backends.quantized`: which library quantized operators are computed by.

They are ours here and compute as torch's do under `x86`; the setting is kept for programs that
choose one, and read it back.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Final

__all__: list[str] = []

_KNOWN: Final = {
    **{"none": "NoQEngine", "qnnpack": "QNNPACK", "fbgemm": "FBGEMM"},
    **{"onednn": "ONEDNN", "x86": "X86"},
}
"""torch's names of engines, and what its errors call them."""


class _Quantized(ModuleType):
    """This module with its settings."""

    _engine = "x86"

    @property
    def engine(self) -> str:
        """The engine that was chosen; `x86` unless set.

        Raises:
            RuntimeError: when set, to what is no engine, or to one that is not there.
        """
        return self._engine

    @engine.setter
    def engine(self, name: object) -> None:
        if name not in _KNOWN:
            raise RuntimeError(f"{name} is not a valid value for quantized engine")
        if name not in self.supported_engines:
            raise RuntimeError(f"quantized engine {_KNOWN[str(name)]} is not supported")
        self._engine = str(name)

    @property
    def supported_engines(self) -> list[str]:
        """The engines that can be chosen.

        Raises:
            RuntimeError: when set.
        """
        return ["qnnpack", "onednn", "x86", "fbgemm"]

    @supported_engines.setter
    def supported_engines(self, _: object) -> None:
        raise RuntimeError("Assignment not supported")


sys.modules[__name__].__class__ = _Quantized

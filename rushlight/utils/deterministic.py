"""`torch.utils.deterministic`: what new memory holds while equal results are asked for."""

from __future__ import annotations

import sys
import types

from ..ops.memory.determinism import DETERMINISM

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory: bool


class _Deterministic(types.ModuleType):
    """The module itself, since its one setting is an attribute."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether `torch.empty` and its like give NaN, the largest number or True, and not what
        lies in memory, while `torch.use_deterministic_algorithms` holds."""
        return DETERMINISM.is_filled

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(f"expected a bool, but got {type(mode)}")
        DETERMINISM.become(is_filled=mode)


sys.modules[__name__].__class__ = _Deterministic

"""Whether `script` compiles: `PYTORCH_JIT=0`, `disable()` and `enable()`; what was compiled."""

from __future__ import annotations

import os
from collections.abc import Callable
from weakref import WeakValueDictionary

from ..frontend.foundations.kept import KeptWith
from ..typecheck.definitions.functions import Function
from ..typecheck.types.types import Type

__all__ = ["disable", "enable"]

script_classes: KeptWith[type, Type] = KeptWith()
"""The types of the Python classes that were compiled."""

named_classes: WeakValueDictionary[str, type] = WeakValueDictionary()
"""The classes that were compiled, by their qualified names."""

_jit_caching_layer: KeptWith[Callable[..., object], Function] = KeptWith()
"""The Python functions that were compiled; who clears it has them compiled anew."""

_WORDS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_LOUD = {"1v": "> Using PyTorch JIT", "0v": "> PyTorch JIT DISABLED"}


class _Enabled:
    """The switch; `enabled` starts as the environment says.

    Raises:
        ValueError: `PYTORCH_JIT` has no known value.
    """

    def __init__(self) -> None:
        self.enabled = self._of_environment()

    @staticmethod
    def _of_environment() -> bool:
        given = os.environ.get("PYTORCH_JIT")
        if given is None:
            return True
        if given in _LOUD:
            print(_LOUD[given])
            return given == "1v"
        if given.lower() not in _WORDS:
            raise ValueError(f"Unknown setting of PYTORCH_JIT. Try using 0 or 1. Got {given}")
        return _WORDS[given.lower()]

    def __bool__(self) -> bool:
        return self.enabled


_enabled = _Enabled()


def disable() -> None:
    """From now on `script` gives back what it is given."""
    _enabled.enabled = False


def enable() -> None:
    """Let `script` compile again."""
    _enabled.enabled = True


def _clear_class_state() -> None:
    """Forget the compiled classes but interfaces, which have no other maker than their file."""
    script_classes.clear()

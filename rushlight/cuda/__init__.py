"""`torch.cuda` on a machine without one: programs ask whether it is there, and are told no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from ..absent_devices import names_without
from ..exceptions import OutOfMemoryError
from ..module_names import names_of
from . import amp, nvtx, random, streams

__all__ = ["OutOfMemoryError", "amp", "has_half", "has_magma", "nvtx", "random", "streams"]

has_half = has_magma = False
_initialized = False
globals().update(names_without("CUDA"))
_TENSORS = "Float Double Half BFloat16 Byte Char Short Int Long Bool".split()
__all__ += sorted(names_without("CUDA"))


def _lazy_init() -> NoReturn:
    """Make the device ready, which is not there.

    Raises:
        AssertionError: always.
    """
    raise AssertionError("Torch not compiled with CUDA enabled")


def _is_in_bad_fork() -> bool:
    """Whether a process was forked after the device was used: never."""
    return False


class _AbsentTensor(type):
    """Classes of tensors on the device: nothing is one, and none can be made."""

    def __call__(cls, *arguments: object, **named: object) -> Any:
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
        )

    def __instancecheck__(cls, value: object) -> bool:
        return False


def _lazy_call(callable: Callable[[], object], **kwargs: object) -> None:
    """What is to be called once the device is there is never called."""


def __getattr__(name: str) -> Any:
    if name.endswith("Tensor") and name.removesuffix("Tensor") in _TENSORS:
        found = globals()[name] = _AbsentTensor(name, (), {"__module__": "torch.cuda"})
        return found
    return names_of(__name__)(name)

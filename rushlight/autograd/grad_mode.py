"""`torch.autograd.grad_mode`: whether gradients are recorded."""

from __future__ import annotations

from types import TracebackType

from ..frontend.foundations.chosen import Chosen
from ..module_names import names_of
from ..ops.table.grad_mode import (
    enable_grad,
    inference_mode,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "is_inference_mode_enabled",
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_THREADS = Chosen(True)


class enforce_grad_layout_policy:
    """Say whether gradients lie in memory as their tensors do; they lie as they are computed."""

    def __init__(self, enable: bool = True) -> None:
        self.enable = enable

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        return None


def is_multithreading_enabled() -> bool:
    """What was said last about whether a walk back may use several threads."""
    return _THREADS.now


class set_multithreading_enabled:
    """Say whether a walk back may use several threads; it uses the one that asks."""

    def __init__(self, mode: bool) -> None:
        self._before = _THREADS.exchange(mode)
        self.mode = mode

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        _THREADS.choose(self._before)


__getattr__ = names_of(__name__)

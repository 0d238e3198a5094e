"""`torch.autograd.grad_mode`: whether gradients are recorded."""

from __future__ import annotations

from types import TracebackType

from .._C._autograd import _unsafe_set_version_counter
from ..frontend.foundations.chosen import Chosen
from ..module_names import names_of
from ..ops.table.grad_mode import (
    enable_grad,
    inference_mode,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from ..ops.tensors.tensor import Tensor

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


class _unsafe_preserve_version_counter:
    """A block after which tensors count their writes as if it had made none."""

    def __init__(self, tensors: Tensor | tuple[Tensor, ...]) -> None:
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        self.prev_versions = tuple(tensor._version for tensor in self.tensors)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        _unsafe_set_version_counter(self.tensors, self.prev_versions)


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

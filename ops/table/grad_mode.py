"""Whether gradients are recorded: `no_grad`, `enable_grad`, `inference_mode`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Final, Self

from ..memory.dtype import Array
from ..memory.versions import version_of
from .table import operator

__all__ = [
    "RUNNING",
    "enable_grad",
    "grad_mode_set",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


class _Running(threading.local):
    """What notes down what the script that runs in a thread does; None if nothing does.

    `bounds` are those of code that is not trusted whose results get their history now;
    `version_of` tells the version of memory that is kept: of now, or, while nodes are made of a
    script's notes, of when a step was noted.
    """

    record: Any = None
    bounds: tuple[Any, ...] = ()
    version_of: Callable[[Array], int] = staticmethod(version_of)


RUNNING: Final = _Running()

_ENABLED: ContextVar[bool] = ContextVar("grad_enabled", default=True)

_INFERENCE: ContextVar[bool] = ContextVar("inference_mode", default=False)


def is_grad_enabled() -> bool:
    """Whether gradients are recorded here."""
    return _ENABLED.get()


class _GradMode:
    """A mode for a `with` block, or for every call of the function it decorates."""

    mode = True

    def __init__(self, function: Callable[..., object] | None = None) -> None:
        self._before: list[bool] = []

    def __new__(cls, function: Callable[..., object] | None = None) -> Any:
        made = super().__new__(cls)
        if callable(function):  # @no_grad without brackets
            made.__init__()  # type: ignore[misc]
            return made(function)
        return made

    def __enter__(self) -> Self:
        self._before.append(_ENABLED.get())
        _ENABLED.set(self.mode)
        return self

    def __exit__(self, *exception: object) -> None:
        _ENABLED.set(self._before.pop())

    def __call__(self, function: Callable[..., object]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Any:
            with self:
                return function(*args, **kwargs)

        return call


class no_grad(_GradMode):
    """No gradients are recorded inside."""

    mode = False


class enable_grad(_GradMode):
    """Gradients are recorded inside."""


class inference_mode(_GradMode):
    """No gradients are recorded inside, nor can they be later."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = not mode
        self._outside: list[bool] = []

    def __enter__(self) -> Self:
        self._outside.append(_INFERENCE.get())
        _INFERENCE.set(not self.mode)
        return super().__enter__()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        _INFERENCE.set(self._outside.pop())


def is_inference_mode_enabled() -> bool:
    """Whether this is inside of `inference_mode`."""
    return _INFERENCE.get()


class grad_mode_set(_GradMode):
    """Recording on or off inside."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode


class set_grad_enabled(_GradMode):
    """Switch recording at once; as a context manager, back at the end of the block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = bool(mode)
        self._before.append(_ENABLED.get())
        _ENABLED.set(self.mode)

    def __enter__(self) -> Self:
        return self


@operator("aten::is_grad_enabled() -> bool", effects=True)
def grad_enabled() -> bool:
    return _ENABLED.get()


@operator("aten::set_grad_enabled(bool val) -> ()", effects=True)
def set_enabled(val: bool) -> None:
    _ENABLED.set(val)

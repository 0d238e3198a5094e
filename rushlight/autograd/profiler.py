"""`torch.autograd.profiler`: labelled blocks of code, and the older face of `torch.profiler`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Optional, ParamSpec, Protocol, TypeVar

from ..module_names import names_of

__all__ = ["active_recorder", "record_function"]

P = ParamSpec("P")
R = TypeVar("R")


class Recorder(Protocol):
    """What records: it is told where labelled blocks begin and end."""

    def begin(self, name: str, /) -> object:
        """A block that has begun."""

    def finish(self, span: object, /) -> None:
        """It has ended."""


def active_recorder() -> Recorder | None:
    """The profiler that records, the last one of several; None if there is none."""
    recording = sys.modules.get(f"{_OWN}.profiler.recording")
    active: Sequence[Recorder] = () if recording is None else recording.ACTIVE
    return active[-1] if active else None


class record_function:
    """A block, or with `@record_function("label")` a function, with a label; also in script.

    A profiler that records notes when it began and ended.
    """

    @staticmethod
    def _compiled_as() -> type:
        """What scripts compile in its place."""
        found: type = import_module(".jit.labelled_blocks", _OWN).record_function
        return found

    def __init__(self, name: str, args: Optional[str] = None) -> None:  # noqa: UP045
        self.name: str = name
        self.args: Optional[str] = args  # noqa: UP045
        self.run_callbacks_on_exit: bool = True
        self._spans: list[tuple[Recorder, object]] = []

    def __enter__(self) -> record_function:
        recorder = active_recorder()
        if recorder is not None:
            self._spans.append((recorder, recorder.begin(self.name)))
        return self

    def __exit__(self, *raised: object) -> None:
        if self._spans:
            recorder, span = self._spans.pop()
            recorder.finish(span)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return call


_OWN = __name__.partition(".")[0]
_LATER = {
    **dict.fromkeys(("EventList", "FunctionEvent", "FunctionEventAvg", "Interval"), "events"),
    **dict.fromkeys(("ProfilerActivity", "emit_itt", "emit_nvtx", "kineto_available"), "profiler"),
    "profile": "older",
}


def __getattr__(name: str) -> Any:
    """What records is imported when it is first named."""
    if name not in _LATER:
        return names_of(__name__)(name)
    return getattr(import_module(f"..profiler.{_LATER[name]}", __package__), name)

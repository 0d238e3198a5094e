"""What ran while a profiler was on, and when.

While one records, Python tells it of every call (`sys.setprofile`); those of operators' forwards
are known by their code and what that closes over.  While none does, nothing asks anything.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Final

import numpy as np

from ..frontend.foundations.loaded_names import loaded_name
from ..interpreter.running.tiers import watch
from ..ops.python_values.labels import RECORDER
from ..ops.table.direct import NAMES, listen
from ..ops.table.table import TABLE

__all__ = ["ACTIVE", "Recorder", "Span"]


class Span:
    """A call: its name, nanoseconds at its begin and end, its thread and the spans inside it."""

    __slots__ = (
        *("children", "end", "is_label", "memory", "name", "native", "parent", "shapes", "stack"),
        *("start", "thread"),
    )

    def __init__(self, name: str, parent: Span | None, *, is_label: bool = False) -> None:
        self.name, self.parent, self.is_label = name, parent, is_label
        self.children: list[Span] = []
        self.thread = threading.get_ident()
        self.shapes: list[object] = []
        self.stack: list[str] = []
        self.memory = 0
        self.native: object = None
        self.start = self.end = perf_counter_ns()


_OWN: Final = __name__.partition(".")[0]
ACTIVE: Final[list[Recorder]] = []
"""The recorders at work, the innermost last."""
RECORDER.install(lambda: ACTIVE[-1] if ACTIVE else None)


def _cells(function: Callable[..., object]) -> tuple[int, ...]:
    return tuple(id(cell.cell_contents) for cell in function.__closure__ or ())


def _known_forwards() -> dict[CodeType, dict[tuple[int, ...], str]]:
    """The operators by the code of their forwards and what it closes over; the first of several."""
    found: dict[CodeType, dict[tuple[int, ...], str]] = {}
    for entry in TABLE:
        if entry.name.startswith("profiler::"):
            continue
        for each in filter(None, (entry.forward, entry.on_arrays)):
            forward = getattr(each, "__func__", each)
            code = getattr(forward, "__code__", None)
            if code is not None:
                found.setdefault(code, {}).setdefault(_cells(forward), entry.name)
    return found


class Recorder:
    """Notes calls of operators, and labelled blocks, from `start` to `stop`."""

    def __init__(
        self, *, record_shapes: bool = False, memory: bool = False, with_stack: bool = False
    ) -> None:
        self.spans: list[Span] = []
        self._shapes, self._memory, self._with_stack = record_shapes, memory, with_stack
        self._inspects = record_shapes or memory or with_stack
        self._forwards: dict[CodeType, dict[tuple[int, ...], str]] = {}
        self._here = threading.local()
        self._before: Callable[..., object] | None = None
        self.began = self.ended = 0

    def start(self) -> None:
        """Begin."""
        self._forwards = _known_forwards()
        self._before = sys.getprofile()
        ACTIVE.append(self)
        watch(True)
        listen(1, inspects=self._inspects)
        self.began = perf_counter_ns()
        threading.setprofile(self._heard)
        sys.setprofile(self._heard)

    def stop(self) -> None:
        """End, in the thread that began; what is still open ends now."""
        sys.setprofile(self._before)
        threading.setprofile(None)
        self.ended = perf_counter_ns()
        if self in ACTIVE:
            ACTIVE.remove(self)
            listen(-1, inspects=self._inspects)
        watch(bool(ACTIVE))
        for span in self.spans:
            if span.end < span.start or span in self._open():
                span.end = self.ended

    def _open(self) -> list[Span]:
        found = getattr(self._here, "spans", None)
        if found is None:
            found = self._here.spans = []
        return found

    def begin(self, name: str, *, is_label: bool = True) -> Span:
        """A call, or a labelled block, begins."""
        inside = self._open()
        span = Span(name, inside[-1] if inside else None, is_label=is_label)
        if span.parent is not None:
            span.parent.children.append(span)
        self.spans.append(span)
        inside.append(span)
        return span

    def finish(self, span: Span) -> None:
        """It ends, and so does what began inside and has not."""
        inside = self._open()
        span.end = perf_counter_ns()
        if span in inside:
            del inside[inside.index(span) :]

    def _heard(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            known = self._forwards.get(frame.f_code)
            if known is not None:
                self._called(frame, known)
        elif event == "c_call":
            name = NAMES.get(id(argument))
            if name is not None:
                self.begin(name, is_label=False).native = argument
        elif event in ("c_return", "c_exception"):
            if id(argument) in NAMES:
                span = next((s for s in reversed(self._open()) if s.native is argument), None)
                if span is not None:
                    self.finish(span)
        elif event == "return" and frame.f_code in self._forwards:
            inside = self._open()
            frames = getattr(self._here, "frames", [])
            if frames and frames[-1][0] is frame:
                span = frames.pop()[1]
                if self._memory:
                    span.memory = _taken(argument)
                if span in inside:
                    self.finish(span)

    def _called(self, frame: FrameType, known: dict[tuple[int, ...], str]) -> None:
        code = frame.f_code
        values = frame.f_locals if code.co_freevars or self._shapes else {}
        name = known.get(tuple(id(values.get(free)) for free in code.co_freevars))
        if name is None:
            if len(known) != 1 or code.co_freevars:
                return
            name = next(iter(known.values()))
        inside = self._open()
        frames = getattr(self._here, "frames", None)
        if frames is None:
            frames = self._here.frames = []
        is_handed_on = bool(inside) and inside[-1].name == name
        if is_handed_on and (inside[-1].native or (frames and frames[-1][0] is frame.f_back)):
            span = inside[-1]  # by native code, or by the forward that asks for quantized arrays
        else:
            span = self.begin(name, is_label=False)
        if self._shapes:
            count = code.co_argcount
            given = [values.get(each) for each in code.co_varnames[:count]]
            if code.co_flags & 4:  # *args
                given.extend(values.get(code.co_varnames[count + code.co_kwonlyargcount]) or ())
            span.shapes = [_sizes(each) for each in given]
        if self._with_stack:
            span.stack = _stack(frame)
        frames.append((frame, span))


def _sizes(value: object) -> list[object]:
    if isinstance(value, np.ndarray):
        return list(value.shape)
    if isinstance(value, list) and value and all(isinstance(e, np.ndarray) for e in value):
        return [list(each.shape) for each in value]
    return []


def _taken(result: object) -> int:
    """The bytes of the arrays that a result owns."""
    if isinstance(result, np.ndarray):
        return result.nbytes if result.base is None else 0
    return sum(map(_taken, result)) if isinstance(result, (tuple, list)) else 0


def _stack(frame: FrameType | None) -> list[str]:
    """The lines of the program, the innermost first, without those of this package."""
    found: list[str] = []
    while frame is not None:
        if loaded_name(frame.f_globals).partition(".")[0] != _OWN:
            code = frame.f_code
            found.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return found

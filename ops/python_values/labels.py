"""Labelled blocks of scripted code (`torch.profiler.record_function`) and who notes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, ClassVar, Final, NoReturn, Protocol

import numpy as np

from ...frontend.foundations.port import Port
from ...typecheck.definitions.builtin_classes import LABEL_CLASS
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..quantized_tensors.packed_weights import PackedWeights
from ..table.table import operator
from .futures import TaskResult

__all__ = ["RECORDER", "Label", "Recorder"]


class Recorder(Protocol):
    """What notes when labelled blocks begin and end."""

    def begin(self, name: str) -> object:
        """A block begins; what comes back stands for it."""

    def finish(self, span: Any) -> None:
        """It ends."""


RECORDER: Final[Port[Callable[[], Recorder | None]]] = Port()
"""Gives the profiler that records now, if there is one."""


@dataclass(eq=False, repr=False)
class Label(PackedWeights):
    """A block that has begun, and who noted it."""

    class_name: ClassVar[str] = "profiler._RecordFunction"
    state_type: ClassVar[str] = "NoneType"
    recorder: Recorder | None = None
    span: object = None

    @property
    def state(self) -> NoReturn:
        """Nothing an archive could hold."""
        raise OperatorError("a block that a profiler watches cannot be saved")


def _begun(name: str) -> Label:
    recorder = None if RECORDER.installed is None else RECORDER.installed()
    return Label() if recorder is None else Label(recorder, recorder.begin(name))


def _end(label: Label) -> None:
    if label.recorder is not None:
        label.recorder.finish(label.span)
        label.recorder = None


@operator(
    f"profiler::_record_function_enter_new(str name, str? args=None) -> {LABEL_CLASS}", effects=True
)
def begin(name: str, args: str | None) -> Label:
    return _begun(name)


@operator(
    f"profiler::_record_function_exit._RecordFunction({LABEL_CLASS} record) -> ()",
    effects=True,
)
def end(record: Label) -> None:
    _end(record)


@operator(
    f"profiler::_call_end_callbacks_on_jit_fut._RecordFunction({LABEL_CLASS} x, Future(t) y)"
    " -> Future(t)",
    effects=True,
)
def end_with(x: Label, y: TaskResult) -> TaskResult:
    """A task has ended when it has been made."""
    _end(x)
    return y


# --------------------------------------------------------------------------- of older archives

_OPEN: Final[dict[int, Label]] = {}
"""Blocks that a profiler watches, by the numbers that older archives have for them."""
_NUMBERS: Final = count(1)


@operator("profiler::_record_function_enter(str name, str? args=None) -> Tensor", effects=True)
def begin_numbered(name: str, args: str | None) -> Array:
    label, number = _begun(name), next(_NUMBERS)
    if label.recorder is not None:
        _OPEN[number] = label
    return np.array(number)


@operator(
    "profiler::_record_function_exit(Tensor handle) -> ()",
    effects=True,
    order="- _RecordFunction",
)
def end_numbered(handle: Array) -> None:
    label = _OPEN.pop(int(handle), None)
    if label is not None:
        _end(label)


@operator(
    "profiler::_call_end_callbacks_on_jit_fut(Tensor x, Future(t) y) -> Future(t)",
    effects=True,
    order="- _RecordFunction",
)
def end_numbered_with(x: Array, y: TaskResult) -> TaskResult:
    end_numbered(x)
    return y

"""Where operators, sizes and indexing ask whether a tracer listens.

A tracer records what eager calls do.  It works on graphs, which this floor does not know; so it
puts itself into `ACTIVE`, and is told of operators through `eager.calls`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Final, Protocol, TypeVar

from ...frontend.foundations.locks import after_fork
from ..memory.dtype import Array
from ..table.table import Operator

__all__ = [
    "READINGS",
    *(
        "ACTIVE",
        "TracedFloat",
        "TracedInt",
        "Tracer",
        "asked_by_operators",
        "current_tracer",
        "decided",
    ),
    *("own_questions", "paused", "traced_number", "with_plain_numbers", "traced_sizes"),
]


_T = TypeVar("_T")


class Handle(Protocol):
    """A tensor, of which this floor knows no more than its array."""

    _array: Array


class Tracer(Protocol):
    """What is told of the things that happen while it traces; `tensor` is always a handle."""

    thread: int
    paused: int

    def pause(self) -> AbstractContextManager[None]:
        """A block of which nothing is written down."""

    def record(
        self, entry: Operator, values: Sequence[object], result: object, handles: Sequence[object]
    ) -> object:
        """An operator was run: machine values of its arguments, its result, Python's arguments.

        Gives what the call shall give.
        """

    def size_of(self, tensor: Any, dim: int) -> object:
        """A size, as a tensor that the trace knows."""

    def made(self, tensor: Any, maker: str = "", through: Sequence[str] = ("to",)) -> None:
        """A tensor was made `through` operators of data, or, if through none, of sizes alone; of
        `maker` a trace warns."""

    def operator(self, name: str, tensor: _T, *args: object) -> _T:
        """Call an operator that makes a tensor of a tensor, by name."""

    def get_item(self, tensor: Any, key: object) -> Any:
        """`tensor[key]`."""

    def set_item(self, tensor: Any, key: object, value: object) -> None:
        """`tensor[key] = value`."""

    def number_from(self, tensor: Any, number: object, full_name: str) -> object:
        """A tensor was given where an operator takes a number; the named one reads it."""

    def decided(self, tensor: Any, how: str) -> None:
        """Python reads a value or a size off a tensor, as `READINGS` names it."""

    def read_sizes(self, tensor: Any) -> None:
        """Python reads all sizes of a tensor, and how many there are."""

    def path_of(self, module: object) -> str | None:
        """The path of a module whose call becomes a call in the graph."""

    def enter_module(self, path: str) -> None:
        """The call of a module begins."""

    def leave_module(self) -> None:
        """It ends."""

    def knows(self, tensor: Any) -> bool:
        """Whether a tensor is an input or a result of what was recorded."""


class TracedInt(int):
    """A number that came from a tensor of the trace; `value` is what stands for it there."""

    value: Any


class TracedFloat(float):
    """The same for floats."""

    value: Any


def with_plain_numbers(forward: Callable[..., object]) -> Callable[..., object]:
    """A forward that sees numbers of the trace as numbers, which is all that kernels take."""
    return lambda *values: forward(*map(_plain, values))


def _plain(value: object) -> object:
    if isinstance(value, TracedInt):
        return int(value)
    if isinstance(value, TracedFloat):
        return float(value)
    return [_plain(each) for each in value] if type(value) is list else value


ACTIVE: Final[list[Tracer]] = []
"""The tracers at work; empty nearly always, which is all that most code looks at."""


def _forget() -> None:
    """In a forked child only the tracers of the thread that forked are left."""
    here = threading.get_ident()
    ACTIVE[:] = [tracer for tracer in ACTIVE if tracer.thread == here]


after_fork(_forget)


def told(made: _T, args: Sequence[object], sizes_class: type, maker: str = "") -> _T:
    """A tensor that a class made when called with `args`, of which the tracer is told."""
    tracer = current_tracer() if ACTIVE else None
    if tracer is None or (args and hasattr(args[0], "_array")):
        return made
    of_data = len(args) == 1 and not isinstance(args[0], (int, sizes_class))
    tracer.made(made, maker, ["to"] if of_data else [])
    return made


def current_tracer() -> Tracer | None:
    """The tracer that records what this thread does; None if there is none or it pauses."""
    here = threading.get_ident()
    for tracer in reversed(ACTIVE):
        if tracer.thread == here:
            return None if tracer.paused else tracer
    return None


@contextmanager
def paused() -> Iterator[Tracer | None]:
    """A block in which this thread's tracer, which is given, hears of nothing."""
    tracer = current_tracer() if ACTIVE else None
    if tracer is None:
        yield None
        return
    with tracer.pause():
        yield tracer


class _Formulas(threading.local):
    depth = 0


_FORMULAS: Final = _Formulas()


@contextmanager
def own_questions() -> Iterator[None]:
    """What is asked of tensors inside, a formula of gradients asks: it is no part of a trace."""
    _FORMULAS.depth += 1
    try:
        yield
    finally:
        _FORMULAS.depth -= 1


def asked_by_operators() -> bool:
    """Whether what is asked of a tensor now belongs to the operators themselves."""
    return _FORMULAS.depth > 0


def traced_number(tensor: object, number: object, full_name: str) -> object:
    """A number read from a tensor for an operator; while tracing one that remembers it."""
    tracer = current_tracer()
    return number if tracer is None else tracer.number_from(tensor, number, full_name)


def traced_sizes(tensor: Handle) -> Sequence[object]:
    """The sizes of a tensor, as tensors that the trace knows unless operators ask."""
    tracer = current_tracer()
    if tracer is None or asked_by_operators():
        return tensor._array.shape
    tracer.read_sizes(tensor)
    return [tracer.size_of(tensor, dim) for dim in range(tensor._array.ndim)]


def decided(tensor: object, how: str) -> None:
    """Tell the tracer that Python reads a value or a size, which it cannot show."""
    tracer = current_tracer()
    if tracer is not None and not asked_by_operators():
        tracer.decided(tensor, how)


_LENGTHS: Final = (
    " might cause the trace to be incorrect. Recommended usage would be tensor.shape[0]. Passing a "
    "tensor of different shape might lead to errors or silently give incorrect results."
)
_ROUNDS: Final = (
    " might cause the trace to be incorrect. Passing a tensor of different shape won't change the "
    "number of iterations executed (and might lead to errors or silently give incorrect results)."
)
_MIGHT: Final = (
    " might cause the trace to be incorrect. We can't record the data flow of Python values, so "
    "this value will be treated as a constant in the future. This means that the trace might not "
    "generalize to other inputs!"
)

READINGS: Final[dict[str, str | None]] = {
    **{
        name: f"Converting a tensor to a {what}{_MIGHT}"
        for name, what in (
            ("item", "Python number"),
            ("list", "Python list"),
            ("array", "NumPy array"),
            ("bool", "Python boolean"),
            ("int", "Python integer"),
            ("float", "Python float"),
            ("complex", "Python complex"),
        )
    },
    "index": None,
    "rank": None,
    "dtype": None,
    "length": "Using len to get tensor shape" + _LENGTHS,
    "rounds": "Iterating over a tensor" + _ROUNDS,
}
"""How Python reads values and sizes off tensors, and what a trace warns of where it does."""

"""How long each step of scripted code takes, and who called it.

While somebody takes times, code runs on a machine that reads the clock around each of its steps;
while nobody does, this module is not even there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns
from typing import Final

from ...frontend.foundations.chosen import Chosen
from ...frontend.foundations.locks import DEFINING
from ...ir.graphs.graph import Node
from ..code.calls import Calls
from ..code.code import Code, Step
from ..code.instructions import row
from ..code.machine import Act, Frame, Invoke, Machine
from .tiers import FunctionTiers, Tiers, Way, exchange

__all__ = ["Run", "Spent", "Timed", "Timer", "timing"]


class Spent:
    """What a step took: how often it ran, nanoseconds, and the codes that it called."""

    __slots__ = ("calls", "count", "time")

    def __init__(self) -> None:
        self.count = self.time = 0
        self.calls: dict[Timed, Run] = {}


class Run:
    """What the runs of a code took, as called from one place: `steps` by the node they are for."""

    __slots__ = ("at", "count", "spent", "steps", "time")

    def __init__(self) -> None:
        self.count = self.time = 0
        self.spent: dict[int, Spent] = {}
        self.steps: dict[int, Node] = {}
        self.at = Spent()

    def of(self, node: Node) -> Spent:
        """What the steps of a node took here."""
        number = id(node)
        self.steps[number] = node
        return self.spent.setdefault(number, Spent())

    def nodes(self) -> Iterator[tuple[Node, Spent]]:
        """The nodes that ran, each with what it took."""
        for number, node in self.steps.items():
            yield node, self.spent[number]


class _TimedMachine(Machine):
    """A machine whose frames hold, behind the registers, the run whose steps are timed."""

    def __init__(self, code: Code, invoke: Invoke, calls: Calls, timer: Timer) -> None:
        self._timer = timer
        super().__init__(code, invoke, calls)

    def empty(self, arguments: Sequence[object]) -> Frame:
        """A frame that holds arguments, and the present run."""
        return [*super().empty(arguments), self._timer.here]

    def _step(self, step: Step) -> Act:
        act = super()._step(step)
        if row(step.instruction).name == "free":
            return act
        return _timed(act, step.node)


def _timed(act: Act, node: Node) -> Act:
    number = id(node)

    def timed(frame: Frame) -> None:
        run: Run = frame[-1]
        spent = run.spent.get(number) or run.of(node)
        run.at = spent
        began = perf_counter_ns()
        act(frame)
        spent.time += perf_counter_ns() - began
        spent.count += 1

    return timed


class Timed(Way):
    """Runs on the machine alone, and takes times."""

    steps_up = False

    def __init__(self, usual: Way, tiers: Tiers, timer: Timer) -> None:
        super().__init__(usual.executable, usual._calls, usual._invoke)
        self.usual, self.tiers = usual, tiers
        self._timer = timer

    @property
    def name(self) -> str:
        """The function's: `Net.forward` for a method."""
        tiers = self.tiers
        function = tiers.binding.function if isinstance(tiers, FunctionTiers) else None
        if function is None:
            return self.executable.code.name
        return function.name if function.owner is None else f"{function.owner.name}.{function.name}"

    def run(self, values: Sequence[object]) -> object:
        """The result on machine values, within the bounds of the guard if there is one.

        Raises:
            Failure: the program failed.
            LimitExceeded: it did not keep its bounds.
        """
        with self._timer.entered(self):
            return self.usual.run_by(self._on_machine, values)

    def _new_machine(self) -> Machine:
        return _TimedMachine(self.executable.code, self._invoke, self._calls, self._timer)


class Timer:
    """Takes times: `quickest` is what the quickest of its calls took, and holds the codes that
    Python called there.

    `clock` is what reading the clock adds to each step, in nanoseconds.
    """

    def __init__(self) -> None:
        self.quickest = Spent()
        self._root = Run()
        self.clock = _time_of_nothing()
        self._ways: dict[Way, Timed] = {}
        self._threads = threading.local()

    @property
    def here(self) -> Run:
        """The run that this thread is in."""
        return getattr(self._threads, "run", self._root)

    def call(self, function: Callable[[], object]) -> None:
        """Call something, and keep what it took if it is the quickest so far."""
        spent = self._root.at = Spent()
        began = perf_counter_ns()
        function()
        spent.time = perf_counter_ns() - began
        spent.count = 1
        if not self.quickest.count or spent.time < self.quickest.time:
            self.quickest = spent

    def cut(self) -> Spent:
        """What was taken since the last time, outside of `call`."""
        spent, self._root.at = self._root.at, Spent()
        return spent

    @contextmanager
    def entered(self, way: Timed) -> Iterator[None]:
        """A code runs."""
        outer = self.here
        spent = outer.at
        run = spent.calls.get(way)
        if run is None:
            run = spent.calls.setdefault(way, Run())
        self._threads.run = run
        began = perf_counter_ns()
        try:
            yield
        finally:
            run.time += perf_counter_ns() - began
            run.count += 1
            self._threads.run = outer

    def way(self, tiers: Tiers, records: bool = False) -> Way:
        """The way that takes times in place of the usual one."""
        return self._way_for(tiers, tiers.usual_way(records))

    def way_on_handles(self, tiers: Tiers) -> Way:
        """The same, where values are tensors themselves."""
        return self._way_for(tiers, tiers.usual_way_on_handles())

    def _way_for(self, tiers: Tiers, usual: Way) -> Way:
        with DEFINING:
            if usual not in self._ways:
                self._ways[usual] = Timed(usual, tiers, self)
            return self._ways[usual]


@contextmanager
def timing() -> Iterator[Timer]:
    """Take times of all scripted code that runs inside, in all threads; one timer at a time.

    Raises:
        RuntimeError: somebody takes times already.
    """
    with DEFINING:
        if _IN_USE.exchange(True):
            raise RuntimeError("a profile is being taken already")
    timer = Timer()
    try:
        exchange("timers", (_method(timer.way), _method(timer.way_on_handles)))
        yield timer
    finally:
        exchange("timers", None)
        _IN_USE.choose(False)


def _method(function: Callable[..., Way]) -> Callable[..., Way]:
    """A function as a method: called with the object first."""

    def method(tiers: Tiers, *given: bool) -> Way:
        return function(tiers, *given)

    return method


def _time_of_nothing() -> int:
    """What a step that does nothing seems to take."""
    found: list[int] = []
    nothing: Frame = []

    def act(frame: Frame) -> None:
        pass

    for _ in range(_SAMPLES):
        began = perf_counter_ns()
        act(nothing)
        found.append(perf_counter_ns() - began)
    return sorted(found)[_SAMPLES // 2]


_IN_USE: Final = Chosen(False)
_SAMPLES: Final = 999

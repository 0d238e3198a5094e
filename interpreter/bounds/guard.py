"""Bounds on what code that is not trusted may use up: instructions, memory, output and time.

Machine and plan count alike: each run of a code, each round of a loop, each way of a branch, each
operator.  Memory is counted where it is made (`ops/memory/allocation.py`), work before an operator
begins it (`work.py`), and a thread watches the clock (`watch.py`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from ...frontend.limits.clock import arm, disarm, next_alarm, reprieve
from ...ops.memory.allocation import Ledger, current_ledger, is_counting
from ...ops.memory.errors import LimitExceeded, OutOfMemory, out_of_memory
from ...ops.table.table import Operator
from .watch import Watched, unwatch, watch
from .work import work_of

__all__ = [
    "CALLS",
    "OPERATOR",
    "REGION",
    "Bounds",
    "Guard",
    "LimitExceeded",
    "active_guard",
    "documented",
    "telling",
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one call of guarded code may use: instructions, bytes of memory, seconds, and
    characters that it prints or warns with."""

    instructions: int = 20_000_000
    memory: int = 1 << 31
    seconds: float = 60.0
    output: int = 1 << 24


class _Active(threading.local):
    guard: Guard | None = None


_ACTIVE = _Active()

REGION = 64
"""Instructions that are counted at once: for a run, a round, a way of a branch."""

OPERATOR = 8
"""Instructions that an operator counts for."""

_BETWEEN = 4096
"""Instructions between two looks at the clock."""

_SPEED = 2e9
"""Elementary steps a second that an operator is trusted to do; slower ones end a little later."""

CALLS = 200
"""How many running calls may lie in each other."""


def active_guard() -> Guard | None:
    """The guard under which this thread runs code, if any."""
    return _ACTIVE.guard


class _Use(Watched):
    """What the running call of a thread has used."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self.ledger = ledger
        self.depth = 0
        self.instructions = 0
        self.checked = 0
        self.resident = 0
        self.limits = (0, 0)
        self.alarm: Any = None
        self.is_outermost = False


class _Uses(threading.local):
    def __init__(self) -> None:
        self.use = _Use(current_ledger())


class Guard:
    """The bounds of one archive's code."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._uses = _Uses()

    def entered(self, deepest: int = 1 << 20, room: int = 0) -> Entered:
        """Code runs under this guard inside; the outermost call begins to count anew.

        `deepest` is how many may lie in each other, `room` what may be taken beyond the bound.

        Raises:
            LimitExceeded: calls lie too deep in each other; at the end, for a MemoryError because
                of the bound.
        """
        return Entered(self, deepest, room)

    def prepare(self) -> None:
        """Note what `end` puts back."""
        use = self._uses.use
        use.is_outermost, use.limits = not use.ledger.is_open, use.ledger.limits
        use.alarm = next_alarm()

    def begin(self, room: int) -> None:
        """The first of what may be several calls inside each other; `prepare` comes before."""
        use, bounds = self._uses.use, self.bounds
        memory = bounds.memory + room
        use.instructions = use.checked = 0
        (use.ledger.open if use.is_outermost else use.ledger.lower)(memory, bounds.output)
        use.resident = 0 if is_counting() else resident() + memory
        watch(use, bounds.seconds)
        arm(use.until, bounds.seconds)

    def end(self) -> None:
        """The last of them is over, or was never wholly begun."""
        use = self._uses.use
        disarm(use.alarm)
        unwatch(use)
        if use.is_outermost:
            use.ledger.close()
        else:
            use.ledger.restore(use.limits)

    # -- counting

    def count(self, instructions: int = REGION) -> None:
        """Note that so many instructions have run.

        Raises:
            LimitExceeded: they, or the time, are too many.
        """
        use = self._uses.use
        use.instructions += instructions
        self._counted(use)

    def _counted(self, use: _Use) -> None:
        if use.instructions > self.bounds.instructions:
            raise LimitExceeded(f"more than {self.bounds.instructions} instructions have run")
        if use.instructions - use.checked >= _BETWEEN:
            use.checked = use.instructions
            self._look(use)

    def _look(self, use: _Use) -> None:
        if time.monotonic() > use.until:
            raise LimitExceeded(f"it has run for more than {self.bounds.seconds:g} seconds")
        if use.resident and resident() > use.resident:
            raise LimitExceeded(self.out_of_memory)

    @property
    def out_of_memory(self) -> str:
        """What is said when the memory is used up."""
        return f"it has taken more than {self.bounds.memory} bytes of memory"

    # -- operators

    def forward(self, operator: Operator, plain: Callable[..., object]) -> Callable[..., object]:
        """An operator's forward with the checks around it."""
        work, uses, most = work_of(operator), self._uses, self.bounds.instructions

        def forward(*values: object) -> object:
            use = uses.use
            steps = work(values)
            if steps > 1e7:
                self._afford(use, steps, operator)
            result = plain(*values)
            if use.resident:
                self._look(use)
            use.instructions += OPERATOR
            if use.instructions > most or use.instructions - use.checked >= _BETWEEN:
                self._counted(use)
            return result

        return forward

    def _afford(self, use: _Use, steps: float, operator: Operator) -> None:
        """Refuse work that would not end in time."""
        left = use.until - time.monotonic()
        if steps > left * _SPEED:
            raise LimitExceeded(
                f"`{operator.name}` asks for about {steps:.3g} steps, more than can be done in the "
                f"{max(left, 0):.3g} seconds that are left"
            )


class Entered:
    """A guard that is entered for a `with` block."""

    __slots__ = ("_before", "_deepest", "_guard", "_room")

    def __init__(self, guard: Guard, deepest: int, room: int) -> None:
        self._guard = guard
        self._deepest = deepest
        self._room = room

    def __enter__(self) -> None:
        guard = self._guard
        use = guard._uses.use
        depth, self._before = use.depth, _ACTIVE.guard
        if depth > self._deepest:
            raise LimitExceeded(f"calls lie more than {self._deepest} deep in each other")
        if not depth:
            guard.prepare()
        try:
            if not depth:
                guard.begin(self._room)
            use.depth = depth + 1
            _ACTIVE.guard = guard
        except BaseException:  # an interrupt: what is not entered is never left
            use.depth, _ACTIVE.guard = depth, self._before
            if not depth:
                guard.end()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        guard = self._guard
        use = guard._uses.use
        try:
            told = None if error is None else documented(error)
        finally:  # also if there is no memory to tell of it
            use.depth -= 1
            _ACTIVE.guard = self._before
            if use.depth == 0:
                guard.end()
        if told is not None and told is not error:
            raise told from None


def documented(error: BaseException) -> BaseException:
    """What a MemoryError is told as; any other error itself."""
    if not isinstance(error, MemoryError | OutOfMemory):
        return error
    guard = _ACTIVE.guard
    if guard is not None and (current_ledger().refused or not is_counting()):
        return LimitExceeded(guard.out_of_memory)
    return out_of_memory(error) if isinstance(error, MemoryError) else error


_MOMENT = 0.5
"""Seconds that may be spent on where and why code failed, beyond its own."""


@contextmanager
def telling() -> Iterator[None]:
    """What failed is told inside, for which there is a moment also if the time is up."""
    guard = _ACTIVE.guard
    if guard is None:
        yield
        return
    use = guard._uses.use
    until = use.until
    try:
        use.until = max(until, time.monotonic() + _MOMENT)
        with reprieve(_MOMENT):
            yield
    finally:
        use.until = until


def resident() -> int:
    """The bytes of memory of the process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * 4096
    except (OSError, IndexError, ValueError):
        return 0

"""Native code for functions over numbers, strings, containers and few tensors that have proved hot.

What calls of a function spend, in its plan and in binding its arguments, is added up; past a limit
it is compiled, in a thread of its own, and plans go on until that is done.  That is done quickly
first; what spends long in such a draft is compiled with care.  Native code that cannot
finish a call (an operator would fail, a list is empty) gives up without having touched anything
outside, and the plan does the call.

The environment variable `RUSHLIGHT_NATIVE` set to `off` switches this off; `now` compiles
everything at its first call.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from itertools import count
from time import perf_counter, thread_time
from typing import Any, Final, Protocol
from weakref import WeakSet

import numpy as np

from ...frontend.foundations.beside import Beside
from ...frontend.foundations.locks import fork_safe_lock
from ...frontend.foundations.made_once import made_once
from ...frontend.foundations.started import started
from ...ops.kernels.code.loading.objects import is_possible
from ...ops.memory.dtype import Array
from ...typecheck.types.types import Type
from ..code.code import Code
from ..plans.compiling import NATIVE_VARIABLE
from ..plans.plan import Plan
from ..plans.stretches import Search
from .kinds import NotNative
from .program import FAILED, STOPPED, compile_native, is_compiled
from .reads import touches_tensors
from .refusals import (
    LONGEST,
    count_refusal,
    is_off,
    reason_against,
    reason_of_arguments,
    take_tensors,
)
from .remembered import looks_of, remember, was_hot
from .source import CodeOf, NativeSource, write_native

__all__ = [
    *("NATIVE_VARIABLE", "NEVER", "ROUNDS", "STRAIGHT", "Native", "is_native_possible"),
    *("kept_native", "native_island", "native_of"),
]

MOST: Final = 2000
"""Functions that become native in a process: their code is kept for ever."""

SPENT: Final = 0.02
"""Seconds of a thread's time in calls that make a function hot: about what compiling it takes."""

DRAFT_SPENT: Final = 0.03
"""Seconds of native calls after which a function is compiled again, with care."""

DRAFT_CALLS: Final = 3000
"""Calls after which it is, too: until then they do not take the short way of `quick`."""

MISSES: Final = 8
"""Calls that native code may give up before it is given up itself."""

_LATELY: Final = 0.125
"""How much of the time that calls lately took is that of the last one."""

FIRST: Final = 2
"""Calls that find out what others know, and say nothing of what one takes."""

_UNFINISHED: Final = "calls could not be finished natively"

TRIALS: Final = 5
"""Calls with lists that are timed: to hand lists over may cost more than the plan does."""

ROUNDS: Final = 20_000_000
"""Rounds of loops after which a call is long: some hundredths of a second."""


def native_of(
    code: Code,
    arguments: Sequence[Type],
    code_of: CodeOf,
    in_parts: Callable[[], Code] | None = None,
    search: Search | None = None,
) -> Native | None:
    """What makes native code of a code when it is hot; None if there never will be any.

    `code_of` gives the codes of functions that it calls; `in_parts` gives the code without what it
    has taken in, which is made native in its place where it is too long as a whole.  `search` is
    the one for its stretches, if its plan shall have what that finds.
    """
    why = reason_against(code, arguments, search)
    is_long = len(code.instructions) > LONGEST
    if is_long and in_parts is not None and not reason_of_arguments(arguments):
        code = in_parts()
        why = reason_against(code, arguments)
    if why:
        count_refusal(why)
        return None
    touches = touches_tensors(code)
    return Native(lambda: code, arguments, _limit(), code_of, touches_tensors=touches)


def kept_native(
    code: Callable[[], Code],
    looks: str,
    arguments: Sequence[Type],
    code_of: CodeOf,
    *,
    touches_tensors: bool,
) -> Native:
    """The same of a code that is known by its looks, and made when it is needed."""
    limit = _limit()
    return Native(code, arguments, limit, code_of, looks=looks, touches_tensors=touches_tensors)


def native_island(code: Code, arguments: Sequence[Type], registers: Sequence[int]) -> Native:
    """What makes native code of a part of a code when it is hot: it takes what `registers` hold."""
    return Native(lambda: code, arguments, _limit(), registers=registers)


def is_native_possible() -> bool:
    """Whether codes can become native here."""
    return not is_off() and is_possible()


def _limit() -> float:
    """How much calls may take before a code is hot."""
    return 0.0 if os.environ.get(NATIVE_VARIABLE, "").lower() == "now" else SPENT


class _Stage(Enum):
    """How calls are done, and what is on the way."""

    NEW = auto()
    """Never called: native code may be on disk."""

    COLD = auto()
    """In the plan; what they take is added up."""

    PLAN = auto()
    """In the plan: native code is being compiled, or does not pay."""

    TRIAL = auto()
    """Natively, and timed: it has to be quicker than the plan was."""

    HOT = auto()
    """Natively."""


class Follower(Protocol):
    """Who hopes for native code."""

    def go_without_native(self) -> None:
        """There will be none."""


class Native:
    """The native code of a code, to be; `refusal` says why it has none, once that is known."""

    def __init__(
        self,
        code: Callable[[], Code],
        arguments: Sequence[Type],
        limit: float,
        code_of: CodeOf | None = None,
        registers: Sequence[int] | None = None,
        looks: str = "",
        touches_tensors: bool = False,
    ) -> None:
        """Native code to be; whether the code `touches_tensors` that objects hold is told."""
        self._make_code, self._code_of = code, code_of
        self._looks = looks
        self._registers = registers
        self._how = _BOUND if registers is None else _CHECKED
        self._arguments = arguments
        is_whole = registers is None
        self.takes_tensors = is_whole and (touches_tensors or take_tensors(arguments))
        self._limit = limit
        self._spent = 0.0
        self._in_plan = self._first_in_plan = 0.0
        self._lately_in_plan = self._in_binding = 0.0
        self._arrived = 0.0
        self._calls = 0
        self._misses = 0
        self._trials = 0
        self._stage = _Stage.NEW
        self._is_long = False
        self._straight = self._crosses = False
        self._straight_misses = 0
        self._run: Callable[..., object] = _unready
        self._draft: NativeSource | None = None
        self._is_made_anew = False
        self._in_draft = 0.0
        self._draft_calls = 0
        self.refusal = ""
        self._left_out = ""
        self.followers: WeakSet[Follower] = WeakSet()
        """Who is told when there will be no native code."""

    @made_once
    def _code(self) -> Code:
        return self._make_code()

    @property
    def looks(self) -> str:
        """What tells its code from others."""
        if not self._looks:
            self._looks = looks_of(self._code, self._arguments)
        return self._looks

    @property
    def is_ready(self) -> bool:
        """Whether calls run natively now."""
        return self._stage in (_Stage.TRIAL, _Stage.HOT)

    @property
    def straight_run(self) -> Callable[..., object] | None:
        """What does calls with values straight from a caller in Python: it takes `ROUNDS`, `NEVER`
        and `STRAIGHT` before them.  None if it is not there, if there will be a better one, or if
        calls take long."""
        if not self._straight or not self.is_ready or self._is_long or self._may_be_better:
            return None
        return self._run

    def quick_run(self) -> Callable[..., object] | None:
        """What does calls with machine values, as `run` does: it takes `ROUNDS`, `NEVER` and `how`
        before them.  None if calls are still timed or counted, or take long."""
        is_settled = self._stage is _Stage.HOT and not self._may_be_better and not self._is_long
        return self._run if is_settled else None

    @property
    def _may_be_better(self) -> bool:
        """Whether it is a draft, or what is made with care in its place is not there yet."""
        return self._draft is not None or self._is_made_anew

    @property
    def how(self) -> int:
        """How it takes values in."""
        return self._how

    def call(self, plan: Plan, values: Sequence[object]) -> object:
        """The result on machine values."""
        if self._stage is _Stage.HOT:
            result = self._attempt(values)
            if result is not FAILED:
                return result
        elif self._stage is _Stage.COLD:
            return self._timed(plan, values)
        elif self._stage is _Stage.TRIAL:
            result = self._tried(values, self._how)
            if result is not FAILED:
                return result
        return plan.run(*values)

    def attempt(self, values: Sequence[object]) -> object:
        """The result on machine values; `FAILED` where a plan has to do the call, of which
        `count_in_plan` is told."""
        if self._stage is _Stage.NEW:
            self._look()
        if self._stage is _Stage.TRIAL:
            return self._tried(values, self._how)
        return self._attempt(values) if self._stage is _Stage.HOT else FAILED

    def call_first(self, values: Sequence[object]) -> object:
        """The result on machine values where there is no plan yet; `FAILED` if that is needed."""
        if self._stage is _Stage.NEW:
            self._look()
        return self._attempt(values) if self._stage is _Stage.HOT else FAILED

    def _attempt(self, values: Sequence[object]) -> object:
        """The result of hot native code, or `FAILED`."""
        result = self._run_natively(values, self._how)
        if result is FAILED:
            self._misses += 1
            if self._misses >= MISSES and self._limit:
                self._give_up(self._left_out or _UNFINISHED)
                self._straight = False
        return result

    def call_straight(self, values: Sequence[object]) -> object:
        """The result on values as a caller in Python has them, as it gets it; `FAILED` where they
        have to be bound first.

        To take values in is quicker here than to bind them, so nothing is on trial but what objects
        hold, and what is done with tensors, which the plan's kernels may do sooner.
        """
        if self._stage is _Stage.NEW:
            self._look()
        if not self._straight or len(values) != len(self._arguments):
            if self._stage is _Stage.COLD:
                self._arrived = thread_time()
            return FAILED
        if self.takes_tensors and self._stage is _Stage.TRIAL:
            return self._tried(values, STRAIGHT)
        result = self._run_natively(values, STRAIGHT)
        if result is FAILED:
            self._straight_misses += 1
            self._straight = self._straight_misses < MISSES
        return result

    def _give_up(self, why: str) -> None:
        self._stage = _Stage.PLAN
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        self.refusal = why
        count_refusal(why)
        for each in list(self.followers):
            each.go_without_native()

    def _run_natively(self, values: Sequence[object], how: int) -> object:
        """The result, or `FAILED`; what takes long runs in a thread beside this one.

        Native code looks at no signals: Python's handlers run here, while this thread waits.
        """
        is_tried = self._stage is _Stage.TRIAL and how != STRAIGHT
        is_counted = self._draft is not None and not is_tried
        began = perf_counter() if is_counted else 0.0
        run = self._run
        found = STOPPED if self._is_long else run(ROUNDS, NEVER, how, *values)
        if found is STOPPED:
            begins = perf_counter()
            found = _beside(run, (how, *values))
            self._is_long = perf_counter() - begins > 0.001
        if began:
            self._count_draft(perf_counter() - began)
        return found

    def _count_draft(self, seconds: float) -> None:
        """A call of a draft: it is compiled with care when it has proved to be worth that."""
        self._in_draft += seconds
        self._draft_calls += 1
        if self._in_draft < DRAFT_SPENT and self._draft_calls < DRAFT_CALLS:
            return
        with _BEGINNING:
            source, self._draft = self._draft, None
            self._is_made_anew = self._is_made_anew or source is not None
        if source is not None:
            self._begin_beside(source, self._compile_again)

    def _timed(self, plan: Plan, values: Sequence[object]) -> object:
        began = thread_time()
        result = plan.run(*values)
        ended = thread_time()
        binding = began - (self._arrived or began)
        self._spent += binding
        self._in_binding += (binding - self._in_binding) * _LATELY
        self._arrived = 0.0
        self.count_in_plan(ended - began)
        return result

    def count_in_plan(self, seconds: float) -> None:
        """A plan did a call; compile when that has taken long enough."""
        self._in_plan += seconds
        self._spent += seconds
        self._calls += 1
        if self._calls == FIRST:
            self._first_in_plan = self._in_plan
            self._lately_in_plan = seconds
        self._lately_in_plan += (seconds - self._lately_in_plan) * _LATELY
        if self._stage is _Stage.COLD and self._spent >= self._limit:
            self._begin()

    @property
    def _usual_in_plan(self) -> float:
        """What a call takes in the plan, without the first ones if there were others: on the
        average, or lately, when it may know more kernels beforehand."""
        if self._calls > FIRST:
            average = (self._in_plan - self._first_in_plan) / (self._calls - FIRST)
            return min(average, self._lately_in_plan)
        return self._in_plan / max(1, self._calls)

    def _tried(self, values: Sequence[object], how: int) -> object:
        """A call that is timed; if none of a few pays, plans go on."""
        began, began_here = perf_counter(), thread_time()
        result = self._run_natively(values, how)
        took = perf_counter() - began if self._is_long else thread_time() - began_here
        usual = self._usual_in_plan + (self._in_binding if how == STRAIGHT else 0.0)
        if result is not FAILED and took < usual:
            if self._stage is _Stage.TRIAL:  # another thread may have given it up meanwhile
                self._stage = _Stage.HOT
                self._straight = self._crosses
                remember(self.looks)
            return result
        self._trials += 1
        self._misses += result is FAILED
        if self._trials >= TRIALS:
            self._end_trial()
        return result

    def _end_trial(self) -> None:
        """Give native code up that did not pay; a draft is compiled with care first."""
        with _BEGINNING:
            source, self._draft = self._draft, None
            if self.takes_tensors:
                self._straight = False
            were_misses, self._misses = self._misses >= TRIALS, 0
            if source is not None:
                self._stage, self._trials = _Stage.PLAN, 0
        if were_misses:
            self._give_up(self._left_out or _UNFINISHED)
        elif source is None:
            self._give_up("handing its arguments over costs more than it saves")
        else:
            self._begin_beside(source, partial(self._compile, quickly=False))

    # ------------------------------------------------------------------ compiling

    def _look(self) -> None:
        """At the first call: take native code from disk, if this has been hot before; compile it
        if that is to be done now."""
        with _BEGINNING:
            if self._stage is not _Stage.NEW:
                return
            self._stage = _Stage.COLD
        if not self._limit:
            self._begin()
        elif was_hot(self.looks):
            self._begin(only_found=True)

    def _begin(self, *, only_found: bool = False) -> None:
        """Compile, in a thread of its own unless it is to be done now; or take what has been
        compiled, and has proved to pay, if there is such."""
        with _BEGINNING:
            if self._stage not in (_Stage.NEW, _Stage.COLD):
                return
            self._stage = _Stage.PLAN
        try:
            source = write_native(self._code, self._arguments, self._code_of, self._registers)
        except NotNative as error:
            self._refuse(str(error))
            return
        is_told = self.takes_tensors or self._registers is not None
        if (self.takes_tensors and not source.crosses_plainly) or (
            source.touches_tensors and not is_told
        ):
            self._refuse("what it does with tensors is left to islands")
            return
        self._left_out = "; ".join(dict.fromkeys(source.left_out))
        quickly = bool(self._limit)
        if only_found:
            quickly = not is_compiled(source)
            if quickly and not is_compiled(source, quickly=True):
                self._stage = _Stage.COLD
                return
        if not is_possible() or next(_BEGUN) > MOST:
            self._refuse("no more functions can be compiled here")
        elif only_found or not self._limit:
            self._compile(source, quickly=quickly, pays=True)
        else:
            self._begin_beside(source, self._compile)

    def _begin_beside(self, source: NativeSource, work: Callable[[NativeSource], None]) -> None:
        """Compile in a thread of its own."""
        again = partial(self.begin_anew, source)
        _UNDER_WAY.begin((self, id(source)), partial(work, source), again)

    def _compile(self, source: NativeSource, *, quickly: bool = True, pays: bool = False) -> None:
        try:
            run = compile_native(source, quickly=quickly)
        except NotNative as error:
            self._refuse(str(error))
        except Exception:
            if not self._limit:  # whoever asks for it now wants to know
                raise
        else:
            self._run = run
            self._draft = source if quickly else None
            may_cost = source.takes_containers or self.takes_tensors or source.calls_out
            is_tried = may_cost and not pays
            self._crosses = source.crosses_plainly
            self._straight = self._crosses and not (is_tried and source.takes_objects)
            self._stage = _Stage.TRIAL if is_tried else _Stage.HOT
            if not pays and (self._straight or self._stage is _Stage.HOT):
                remember(self.looks)

    def _compile_again(self, source: NativeSource) -> None:
        """Put code that is made with care in the place of a draft."""
        try:
            with suppress(OSError, RuntimeError):  # the draft stays
                self._run = compile_native(source)
        finally:
            self._is_made_anew = False

    def begin_anew(self, source: NativeSource) -> None:
        """In a forked child: what was being compiled will not come."""
        if self._stage is _Stage.PLAN:
            self._stage = _Stage.COLD
        else:
            self._draft, self._is_made_anew = source, False


def _unready(*given: object) -> object:
    """What stands for native code that is not there: the plan does the call."""
    return FAILED


_BEGINNING: Final = fork_safe_lock()
_BEGUN: Final = count(1)
_UNDER_WAY: Final[Beside[tuple[Native, int]]] = Beside("rushlight-native")


_BOUND: Final = 0
STRAIGHT: Final = 1
_CHECKED: Final = 2
"""Whether values are the machine's or come straight from Python; or are the machine's, but have to
be looked at."""

_EVER: Final = 1 << 62
"""More rounds than there is time for."""

_ZERO: Final = np.zeros(1, np.int64)
NEVER: Final = _ZERO.ctypes.data
"""The address of a number that stays 0."""


def _beside(run: Callable[..., object], values: Sequence[object]) -> object:
    """What native code gives in a thread of its own, which ends when this one is interrupted.

    In a child that a signal's handler forked that thread is not, and there it begins anew.
    """
    stop, found = np.zeros(1, np.int64), list[object]()
    try:
        while not found:
            done = threading.Lock()  # an Event has a lock inside, which a fork might find taken
            done.acquire()
            thread = _begun(run, values, stop, found, done)
            if thread is None:
                return run(_EVER, NEVER, *values)
            while not done.acquire(timeout=0.05) and thread.is_alive():
                pass
    finally:
        stop[0] = 1
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def _begun(
    run: Callable[..., object],
    values: Sequence[object],
    stop: Array,
    found: list[object],
    done: Any,
) -> threading.Thread | None:
    """A thread that runs native code; None if there are no more, or Python is shutting down."""

    def work() -> None:
        try:
            found.append(run(_EVER, stop.ctypes.data, *values))
        except BaseException as error:
            found.append(error)
        finally:
            done.release()

    return started("rushlight-hot", work)

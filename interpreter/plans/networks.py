"""Stretches with convolutions over large tensors, as a row of kernels.

Such a stretch is looked at while a plan of its own runs it, with its chains and groups, and is then
one call of native code, as other stretches are (`replaying`): nothing lies between its kernels, and
what they make on the way lies in one piece of memory.  Of a batch whose arrays are larger than the
caches some samples go first, as far as what they make is large (`kernels/code/calls/samples.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import thread_time
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...frontend.foundations.locks import fork_safe_lock
from ...ops.kernels import family, is_last_whole
from ...ops.memory.dtype import Array, default_dtype
from ...ops.memory.storage import root_of
from ...ops.table.direct import is_compiling, last_compiled
from ...ops.table.noticing import (
    Unforeseen,
    arrays_in,
    check_training,
    notes_of_copy,
    noticed,
)
from ...ops.table.record import Operator
from ..code.outside import comes_from_outside
from .compiling import is_under_way, last_done
from .looking import (
    MOST_RUNS,
    Looking,
    bytes_of,
    lies_forward,
    owns_all,
    roots_of,
    seen_class,
)
from .numerals import is_numeral

if TYPE_CHECKING:
    from ...ops.kernels.code.calls.arena import Piece
    from ...ops.kernels.code.calls.pieces import Run, Told
    from ...ops.kernels.code.calls.watching import Seen

__all__ = ["Function", "Network", "Telling"]

LONGEST: Final = 2.0
"""Seconds of a call: Python's handlers of signals wait as long as it takes."""

LARGEST: Final = 1 << 27
"""Bytes of all that is made on the way."""

WARMING: Final = 2
"""Calls of a plan, after which it has the kernels that it wants, unless they are compiled."""

BETWEEN: Final = 4
"""Calls between two by which it is found out whether kernels are there."""

ndarray: Final = np.ndarray

_LOOKING: Final = fork_safe_lock(is_tried=True)

Function = Callable[..., Sequence[object]]
"""A plan of a stretch: it gives its results, of which the last may be a list."""

Gathered = Callable[[Sequence[object]], Sequence[object]]
"""What makes of values what a plan takes."""


class Network:
    """A stretch of which a plan is made that calls operators in its way: a function of what the
    stretch takes, which gives a tuple of its results.  Of what is given the first `own` are no
    parts of modules."""

    def __init__(
        self, own: int, constants: Sequence[object], make: Callable[[Telling], Function]
    ) -> None:
        self._own, self._make = own, make
        self._calls = Telling()
        self._constants = [root_of(each) for each in arrays_in(constants)]
        self._plan: Function | None = None
        self._warm = 0

    def seen(self, values: Sequence[object], gathered: Gathered) -> Seen:
        """The results of a call and its runs; `gathered` makes of values what the plan takes.

        Neither where another thread looks at one meanwhile.

        Raises:
            Unforeseen: it is more than runs of kernels, or too much for one call.
        """
        if not _LOOKING.acquire(blocking=False):
            return seen_class()(None, None, wait=BETWEEN)
        try:
            return self._seen(values, gathered)
        finally:
            _LOOKING.release()

    def _seen(self, values: Sequence[object], gathered: Gathered) -> Seen:
        if self._plan is None:
            self._plan = self._make(self._calls)
        seen = seen_class()
        if default_dtype.float != np.float32:
            raise Unforeseen("the default dtype is another one")
        began, compiled = thread_time(), (last_compiled(), last_done())
        result, told = self._told(values, gathered)
        if thread_time() - began > LONGEST:
            raise Unforeseen("it takes too long")
        self._warm += 1
        is_waiting = _is_compiling(*compiled)
        if self._warm <= WARMING or is_waiting:
            return seen(result, None, wait=BETWEEN if is_waiting else 0)
        if self._calls.cause is not None:
            raise self._calls.cause
        if not told.is_foreseen or not told.is_still():
            raise Unforeseen("it runs more than kernels")
        if len(told.runs) > MOST_RUNS:
            raise Unforeseen("it is too long")
        kept, new, given = {}, list[Array](), {id(root_of(each)) for each in arrays_in(values)}
        for each in result:
            piece = _piece_of(told, each)
            if piece is not None:
                kept[piece] = root_of(each)
                new.append(each)
            elif id(root_of(each)) not in given:
                raise Unforeseen("a result is no new tensor")
        runs = self._by_samples(values, gathered, told, kept) or told.runs
        notes, arena = family("calls.pieces").in_one_arena(runs, values, kept)
        if arena is not None and arena.nbytes > LARGEST:
            raise Unforeseen("it makes too much on the way")
        return seen(tuple(result), notes, arena, roots=roots_of(new))

    def _told(self, values: Sequence[object], gathered: Gathered) -> tuple[tuple[Any, ...], Told]:
        """The results of a call, and the runs that it was told of."""
        assert self._plan is not None
        constants = {id(root): bytes_of(root) for root in self._constants}
        self._calls.cause = None
        told: Told = family("calls.pieces").Told(values, constants)
        self._calls.told = told
        try:
            result = _flat(self._plan(*gathered(values)))
        finally:
            self._calls.told = None
        return result, told

    def _by_samples(
        self,
        values: Sequence[Any],
        gathered: Gathered,
        told: Told,
        results: Mapping[Piece, Array],
    ) -> list[Run] | None:
        """The runs with some samples after the others; None where that is no better."""
        own = {i: each for i, each in enumerate(values[: self._own]) if type(each) is ndarray}
        count = _samples_of(max(own.values(), key=_bytes, default=None))
        own = {i: each for i, each in own.items() if _samples_of(each) == count}
        size, samples = 1, None
        while size < count:
            part = [each[:size] if i in own else each for i, each in enumerate(values)]
            try:
                _, some = self._told(part, gathered)
            except Exception as error:  # which says that it is no such batch
                if comes_from_outside(error):
                    raise
                return None
            if not some.is_foreseen or not some.is_still():
                return None
            sizes = {i: int(part[i].nbytes) for i in own}
            module: ModuleType = family("calls.samples")
            samples = module.Samples(told.runs, some.runs, sizes, count // size)
            if not samples.count:
                return None
            wider = _wider(count, size, module.FAR // samples.largest)
            if wider == size:
                break
            size = wider
        if samples is None or size == count:
            return None
        runs: list[Run] | None = samples.runs(results)
        return runs if runs is not None and len(runs) <= MOST_RUNS else None


def _wider(count: int, size: int, times: int) -> int:
    """So many samples, of which a batch consists, that are at most so many times as many."""
    fitting = [n for n in range(size, count + 1) if count % n == 0 and n <= max(1, times) * size]
    return fitting[-1]


def _bytes(array: Array) -> int:
    return int(array.nbytes)


def _samples_of(array: Array | None) -> int:
    """So many samples lie in an array one after the other."""
    if array is None or array.ndim < 3:
        return 1
    return array.shape[0] if array.flags.c_contiguous or is_last_whole(array) else 1


def _piece_of(told: Told, result: Array) -> Piece | None:
    """The piece that a result has for itself, or is a part of; None if there is none."""
    if type(result) is not ndarray:
        return None
    root = root_of(result)
    is_part = lies_forward(result) and root.flags.c_contiguous
    return told.piece(root) if is_part or (owns_all(result) and is_last_whole(result)) else None


def _flat(results: Sequence[object]) -> tuple[object, ...]:
    """The results of a plan, of which the last may be a list."""
    *single, last = results
    return (*single, *(last if type(last) is list else (last,)))


def _is_compiling(of_operators: object, of_plans: object) -> bool:
    """Whether kernels are being compiled, or were since these were the last ones."""
    return is_compiling(of_operators) or is_under_way(of_plans)


class Telling(Looking):
    """How a plan's operators, chains and groups are called while what they run is `told`.

    `cause` is why that is not all that the first one did which gave its result all the same.
    """

    def __init__(self) -> None:
        super().__init__()
        self.told: Told | None = None
        self.cause: Unforeseen | None = None

    def around(self, function: Callable[..., object]) -> Callable[..., object]:
        """What is called in the place of a part of a chain, or of a group."""

        def call(*given: object) -> object:
            with self._now().telling():
                return function(*given)

        return call

    def _now(self) -> Told:
        """The runs of the call that is being done."""
        assert self.told is not None
        return self.told

    def _check(self, told: Told, entry: Operator, values: Sequence[Any]) -> None:
        """Raise `Unforeseen` before anything outside is written to: it is done again then."""
        check_training(entry, values)
        if not entry.signature.is_mutable:
            return
        root = root_of(values[0])
        if told.is_held(root):
            self._thaw(told, root)
        elif told.piece(root) is None:
            raise Unforeseen("it writes to what is outside")

    def _thaw(self, told: Told, root: Array) -> None:
        """What follows from numbers alone is written in place: it is a copy of that then."""
        copy = root.copy("K")
        copy.flags.writeable = False
        told.let_go(root)
        try:
            for note in notes_of_copy(copy, root):
                told.note(*note)
        except Unforeseen as cause:
            told.note()
            self.cause = self.cause or cause

    def look(self, entry: Operator, values: Sequence[object]) -> object:
        """The result of an operator, whose runs are told."""
        told = self._now()
        self._check(told, entry, values)
        are_settled = all(
            told.is_held(each) or _is_settled(told, each) for each in arrays_in(values)
        )
        if are_settled and not entry.may_write:
            return _made_of_numbers(told, entry.forward(*values))
        try:
            result, notes = noticed(entry, values)
        except Unforeseen as cause:
            if cause.result is None:
                raise
            told.note()  # and others are looked at in the same call
            self.cause = self.cause or cause
            return cause.result
        for note in notes:
            told.note(*note)
        return result


def _is_settled(told: Told, array: Array) -> bool:
    """Whether an array is a number that the code has as a constant."""
    return is_numeral(array) and told.is_constant(array)


def _made_of_numbers(told: Told, result: object) -> object:
    """What follows from numbers alone is the same in each call."""
    for each in arrays_in(result):
        root = root_of(each)
        if not told.is_held(each):
            told.hold(root, bytes_of(root.copy("K")))
    return result

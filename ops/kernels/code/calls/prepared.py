"""Functions whose calls are known beforehand: what a call with such arguments runs, and on what.

A function of arrays, numbers and lists of ints that makes new arrays, or writes its first argument,
may spend more time on finding out what to do than on doing it.  If nothing of that depends on more
than dtypes, sizes, strides and the values of numbers, the next such call need not find it out
again.  What is done is not derived but seen: the first call notes which kernels are run, and on
what.  Before that is trusted it is done once more, with memory full of other bytes, and must give
the same bits.

Operands may lie in each other, as neighbours do that are subtracted: what is only seen is seen on
copies then, since it might be a part of one or the other.

Where that is said, a result may also be an argument itself, or a part of one, or of new memory:
that is made anew as it lay in the first one.

What kernels are given must be an operand, the result, a part of one of these, memory that they fill
themselves, arrays that cannot be written to, a flag (`kernels/flags.py`), which begins as 0, or a
stream of random numbers; a call after which the flag is not 0 is done by the function itself.  An
operand that is written shares no memory with the others in calls that are done so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Final
from weakref import WeakSet

import numpy as np

from .....frontend.foundations.locks import fork_safe_lock
from ....memory.determinism import DETERMINISM
from ....memory.dtype import Array, default_dtype
from ....memory.storage import address
from ...precision import PRECISION
from ..fronts.prepared_text import MOST_ENTRIES
from .entries import LARGEST, Entry, Unfilled, Unknown, is_stream
from .paces import FIRST, FOR_EVER, Pace, Waits, new_state
from .reaches import (
    apart,
    each_of,
    gives_empty_parts,
    gives_parts_of,
    is_still,
    key_of,
    views_of_all,
)
from .run import CREW
from .watching import Notes, Seen, seen

__all__ = [
    *("CREW", "Alike", "Explain", "Known", "Look", "Seen", "Unknown", "prepared", "seen"),
]

ndarray: Final = np.ndarray
_KEEPING: Final = fork_safe_lock()
Explain = Callable[[Sequence[object], Any], Notes | None]
"""How a call could have made its result; None if it cannot be said."""


Look = Callable[[Sequence[object]], Seen]
"""Does a call and finds out what it runs."""


def prepared(
    function: Callable[..., object], explain: Explain | None = None, *, writes: bool = False
) -> Callable[..., Any]:
    """The function, with calls done natively that are like earlier ones.

    All that a call does besides making new arrays must follow from what this module says.
    What it runs is seen, or what `explain` says.  One that `writes` does so to its first argument,
    which it gives back.
    """
    if CREW is None:
        return function
    known = Known(function, explain, writes=writes)
    _ALL.append(known)
    return known.call


class Known:
    """What is known of a function's calls, which `call` does; it must be kept as long as that.

    `cool` is called when nothing is learned, or when sizes change all the time.  Calls that are not
    learned from (of each kind some `trials` at first) are done by `waiting`, by the function itself
    if nothing else is given.  `look` does calls that are learned from in another way, and says
    which those are.  One that `gives_parts` may just give its first argument, or parts of some; one
    that `gives_unfilled` new arrays that hold anything.  What is made of tensors without elements
    is always the same: `fill` says what makes it once more.
    """

    _kind: type[Entry] = Entry

    def __init__(
        self,
        function: Callable[..., object],
        explain: Explain | None,
        cool: Callable[[], object] = lambda: None,
        *,
        writes: bool = False,
        waiting: Callable[..., object] | None = None,
        look: Look | None = None,
        gives_parts: bool = False,
        gives_unfilled: bool = False,
        trials: int = 0,
        fill: Callable[[Array], Notes | None] | None = None,
    ) -> None:
        assert CREW is not None
        self._gives_parts, self._gives_unfilled = gives_parts, gives_unfilled
        self._look, self._has_own_pace = look or self._looked, look is not None
        self._writes, self._fill = writes, None if writes else fill
        self._waiting = waiting or function
        self._function, self._explain, self._cool = function, explain, cool
        self._learn = self.learn
        self._wrapped: list[tuple[Callable[..., object], ...]] = []
        self._known = new_state()
        self.waits = Waits(self._known, is_one=self._has_own_pace, calls=trials)
        self._kept: list[tuple[object, ...]] = []
        self._place = self._forgotten = 0
        self._pace = Pace()
        with _KEEPING:
            _EVERY.add(self)
        self.call = CREW.prepared(address(self._known), self._waiting, self._learn)

    @property
    def count(self) -> int:
        """How many calls are known."""
        return int(self._known[0])

    def forget(self) -> None:
        """Know no calls; another thread may be doing one of those that were known."""
        self._forgotten += 1
        self._known[0] = self._place = 0

    def learn(self, *values: object) -> object:
        """Do a call and remember how."""
        slot = self.waits.slot
        forgotten, settled = self._forgotten, views_of_all(values)
        before = settled[0].copy("K") if self._writes and type(values[0]) is ndarray else None
        result, notes, scratch, wait, taken, fresh, roots, parts = self._look(values)
        if wait is not None:
            self.waits.wait(slot, wait)
            return result
        if not self._has_own_pace and self._pace.is_first(values, result, self._place):
            if self._pace.is_fruitless:
                self._end()
            elif self._place >= FIRST:
                self.waits.wait(slot)
            return result
        try:
            may_be_none = self._gives_parts or self._gives_unfilled
            may_be_none = may_be_none or self._is_void(values, result)
            if not (notes or (may_be_none and notes is not None)) or () in notes:
                raise Unknown  # an empty note says that something is unforeseen
            if self._gives_parts and gives_empty_parts(values, result):
                raise Unknown  # these lie as those do
            if not all(map(is_still, values, settled)):
                raise Unknown
            made = settled[0] if values and result is values[0] else result
            given = taken or settled
            told = () if self._explain is None else taken or values
            if self._gives_unfilled:
                entry: Entry = Unfilled(given, made, notes)
            else:
                more = scratch, told, fresh, roots, parts
                entry = self._kind(given, made, notes, before, *more)
            self._add(entry, forgotten)
            self.waits.begin_anew(slot)
        except Unknown:
            if self.waits.wait_longer(slot) and not self._known[0]:
                self._cool()
        return result

    def _looked(self, values: Sequence[object]) -> Seen:
        arrays = [each for each in values if type(each) is ndarray]
        if self._fill is not None and arrays and not any(each.size for each in arrays):
            result = self._function(*values)
            if type(result) is ndarray and result.size:
                return Seen(result, self._fill(result))
        if self._explain is None:
            if self._writes:
                return seen(self._function, values, draws=True)
            return self._seen_apart(values)
        result = self._function(*values)
        if self._is_void(values, result) and result is not values[0]:
            return Seen(result, [])
        is_given = self._gives_parts and gives_parts_of(values, result)
        if is_given or self._writes or self._gives_parts or _is_large(values):
            return Seen(result, [] if is_given else self._explain(values, result))
        given = apart(values)
        return Seen(result, self._explain(given, result), taken=given)

    def _is_void(self, values: Sequence[object], result: object) -> bool:
        """Whether new arrays without elements were made, of an operand without any, and all is told
        by what operands are like: whole numbers might be places, which are looked at."""
        several = each_of(result)
        if self._writes or self._gives_unfilled or not several:
            return False
        if any(type(each) is not ndarray or each.size for each in several):
            return False
        if self._gives_parts and any(each.base is not None for each in several):
            return False
        arrays = [each for each in values if type(each) is ndarray]
        filled = [each for each in arrays if each.size]
        is_told = self._explain is not None or all(each.dtype.kind not in "iu" for each in filled)
        return len(filled) < len(arrays) and is_told

    def _seen_apart(self, values: Sequence[object]) -> Seen:
        """What a call runs, on copies of operands that lie in each other: none is another then."""
        given = values if self._gives_parts or _is_large(values) else apart(values)
        found = seen(self._function, given, draws=True)
        if given is values:
            return found
        several = each_of(found.result)
        if any(type(each) is not ndarray or each.base is not None for each in several):
            if any(map(is_stream, chain.from_iterable(found.notes or ()))):
                return Seen(found.result, None)  # what is drawn is new
            return seen(self._function, values)  # it may be a part of a copy
        return Seen(found.result, found.notes, taken=given)

    def _end(self) -> None:
        """Learn no more."""
        self.waits.wait_all(FOR_EVER)
        self._cool()

    def around(
        self, wrap: Callable[[Callable[..., object]], Callable[..., object]]
    ) -> Callable[..., object]:
        """What does the same calls, those that are not known by wrapped functions."""
        assert CREW is not None
        wrapped = wrap(self._waiting), wrap(self._learn)
        self._wrapped.append(wrapped)
        return CREW.prepared(address(self._known), *wrapped)

    def _add(self, entry: Entry, forgotten: int) -> None:
        """Have native code do calls like this one, unless all was forgotten meanwhile.

        Between any two lines an interrupt may end it: what is counted must lie there by then.
        """
        with _KEEPING:
            known, place = self._known, self._place
            if forgotten != self._forgotten or place >= MOST_ENTRIES:
                return
            self._kept.append(entry.kept)
            known[1 + place] = entry.address
            known[MOST_ENTRIES + 1 + place] = entry.key
            known[0] = place + 1
            self._place = place + 1
        if self._pace.is_over(place + 1, len(self._kept)):
            self._end()


def _is_large(values: Sequence[object]) -> bool:
    """Whether an operand is too large to be copied."""
    return any(type(each) is ndarray and each.nbytes > LARGEST for each in values)


_EVERY: Final[WeakSet[Known]] = WeakSet()


def _forget_all() -> None:
    """What calls run depends on how exact products have to be, on the default dtype, and on whether
    new memory is filled."""
    with _KEEPING:
        for each in _EVERY:
            each.forget()


DETERMINISM.followers.append(_forget_all)
PRECISION.followers.append(_forget_all)
default_dtype.followers.append(_forget_all)

_ALL: Final[list[Known]] = []
"""What native code looks at, as long as the process lives."""


class Alike(Entry):
    """Whether arguments are like those of an earlier call, as native code tells."""

    def __init__(self, values: Sequence[object]) -> None:
        """The first one is an array that may be written and shares no memory with the others.

        Raises:
            Unknown: it cannot be said what they are like.
        """
        assert CREW is not None
        self._held: list[object] = [tuple(each for each in values if type(each) is not ndarray)]
        self._places: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        self._told = dict[int, int]()
        is_filled = type(values[0]) is ndarray and values[0].size
        self._overlap, self._shared = not is_filled, False
        found = [self._argument(i, each, values) for i, each in enumerate(values)]
        if self._overlap:
            raise Unknown
        arguments = self._kept([word for each in found for word in each])
        back = self._kept([0, -1])
        known = new_state()
        known[:2] = 1, self._kept([len(found), arguments, 0, 0, 0, 0, back, 0])
        known[MOST_ENTRIES + 1] = key_of(values)
        Waits(known, is_one=True).wait_all(FOR_EVER)  # no call is learned from
        self._held.append(known)
        self.call = CREW.prepared(address(known), _other, _other)
        """Gives back the first argument where they are, else None."""


def _other(*values: object) -> None:
    """What is known of arguments that are like no others."""

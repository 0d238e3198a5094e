"""Functions whose calls are known beforehand: what a call with such arguments runs, and on what.

A function of arrays, numbers and lists of ints that makes new arrays, or writes its first argument,
may spend more time on finding out what to do than on doing it.  If nothing of that depends on more
than dtypes, sizes, strides and the values of numbers, the next such call need not find it out
again.  What is done is not derived but seen: the first call notes which kernels are run, and on
what.  Before that is trusted it is done once more, with memory full of other bytes, and must give
the same bits.

Operands may lie in each other, as neighbours do that are subtracted: what is only seen is seen on
copies then, since it might be a part of one or the other.

Where that is said, a result may also be the first argument itself, or a part of an argument: that
is made anew as it lay in the first one.

What kernels are given must be an operand, the result, a part of one of these, memory that they fill
themselves, arrays that cannot be written to, or an int64 array of one element: a flag, which begins
as 0; a call after which it is not is done by the function itself.  An operand that is written
shares no memory with the others in calls that are done so.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakSet

import numpy as np

from .....frontend.foundations.locks import fork_safe_lock
from ....memory.dtype import Array, default_dtype
from ....memory.storage import address
from ...precision import PRECISION
from ..fronts.prepared_text import MOST_ENTRIES, MOST_RESULTS, MOST_TAKEN, PLACE_BITS
from .crew_text import MOST_ARGUMENTS
from .fillings import MIXED, ONES, ZEROS, filled
from .paces import FIRST, FOR_EVER, Pace, Waits, new_state
from .reaches import (
    alike,
    apart,
    begins_in,
    gives_parts_of,
    has_bytes_of,
    holds,
    is_forward,
    is_still,
    key_of,
    lies_apart,
    span,
    views_of_all,
)
from .run import CREW, run
from .watching import Notes, Seen, seen

__all__ = [
    *("CREW", "Alike", "Explain", "Given", "Known", "Look", "Seen", "Unknown", "prepared", "seen"),
]

ndarray: Final = np.ndarray
_LARGEST: Final = 1 << 27
"""Bytes of an array that is filled twice more, or copied, to find out what a call does."""
_KEEPING: Final = fork_safe_lock()
_INT64: Final = np.dtype(np.int64)
_UINT64: Final = np.dtype(np.uint64)
_IDENTICAL, _ARRAY, _INT, _FLOAT, _LIST, _AGAIN, _ANY_INT, _ANY_FLOAT, _TUPLE = range(9)
_PLACES: Final = 1 << PLACE_BITS
"""A word for a part has the operand's number, and so often as this the bytes it begins behind."""
_NUMBER, _ARGUMENT, _RESULT, _FLAG, _OWN_FLOAT, _OWN_INT, _COUNTER = range(7)


Explain = Callable[[Sequence[Any], Any], Notes | None]
"""How a call could have made its result; None if it cannot be said."""


Look = Callable[[Sequence[Any]], Seen]
"""Does a call and finds out what it runs."""


class Unknown(Exception):
    """A call that cannot be known beforehand."""


class Given(NamedTuple):
    """An argument of a call, where notes mean that number, whatever it is."""

    place: int


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
    which those are.  One that `gives_parts` may just give its first argument, or parts of some.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        explain: Explain | None,
        cool: Callable[[], object] = lambda: None,
        *,
        writes: bool = False,
        waiting: Callable[..., Any] | None = None,
        look: Look | None = None,
        gives_parts: bool = False,
        trials: int = 0,
    ) -> None:
        assert CREW is not None
        self._gives_parts = gives_parts
        self._look, self._has_own_pace = look or self._looked, look is not None
        self._writes = writes
        self._waiting = waiting or function
        self._function, self._explain, self._cool = function, explain, cool
        self._learn = self.learn
        self._wrapped: list[tuple[Callable[..., Any], ...]] = []
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

    def learn(self, *values: object) -> Any:
        """Do a call and remember how."""
        slot = self.waits.slot
        forgotten, settled = self._forgotten, views_of_all(values)
        before = settled[0].copy("K") if self._writes and type(values[0]) is ndarray else None
        result, notes, scratch, wait, taken, fresh = self._look(values)
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
            if not (notes or (self._gives_parts and notes is not None)) or () in notes:
                raise Unknown  # an empty note says that something is unforeseen
            if not all(map(is_still, values, settled)):
                raise Unknown
            made = settled[0] if values and result is values[0] else result
            told = () if self._explain is None else values
            entry = _Entry(taken or settled, made, notes, before, scratch, told, fresh)
            self._add(entry, forgotten)
            self.waits.begin_anew(slot)
        except Unknown:
            if self.waits.wait_longer(slot) and not self._known[0]:
                self._cool()
        return result

    def _looked(self, values: Sequence[object]) -> Seen:
        if self._explain is None:
            return seen(self._function, values) if self._writes else self._seen_apart(values)
        result = self._function(*values)
        is_given = self._gives_parts and gives_parts_of(values, result)
        return Seen(result, [] if is_given else self._explain(values, result))

    def _seen_apart(self, values: Sequence[Any]) -> Seen:
        """What a call runs, on copies of operands that lie in each other: none is another then."""
        is_large = any(type(each) is ndarray and each.nbytes > _LARGEST for each in values)
        given = values if self._gives_parts or is_large else apart(values)
        found = seen(self._function, given)
        if given is values:
            return found
        several = found.result if type(found.result) in (tuple, list) else (found.result,)
        if any(type(each) is not ndarray or each.base is not None for each in several):
            return seen(self._function, values)  # it may be a part of a copy
        return Seen(found.result, found.notes, taken=given)

    def _end(self) -> None:
        """Learn no more."""
        self.waits.wait_all(FOR_EVER)
        self._cool()

    def around(
        self, wrap: Callable[[Callable[..., object]], Callable[..., object]]
    ) -> Callable[..., Any]:
        """What does the same calls, those that are not known by wrapped functions."""
        assert CREW is not None
        wrapped = wrap(self._waiting), wrap(self._learn)
        self._wrapped.append(wrapped)
        return CREW.prepared(address(self._known), *wrapped)

    def _add(self, entry: _Entry, forgotten: int) -> None:
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


_EVERY: Final[WeakSet[Known]] = WeakSet()


def _forget_all() -> None:
    """What calls run depends on how exact products have to be, and on the default dtype."""
    with _KEEPING:
        for each in _EVERY:
            each.forget()


PRECISION.followers.append(_forget_all)
default_dtype.followers.append(_forget_all)

_ALL: Final[list[Known]] = []
"""What native code looks at, as long as the process lives."""


class _Entry:
    """A call as native code is told of it: at `address`, with what `kept` holds.

    The rest is for making it.  Thousands are kept, and Python would go through all they hold each
    time it looks for garbage.
    """

    def __init__(
        self,
        values: Sequence[Any],
        result: Any,
        notes: Sequence[tuple[object, ...]],
        before: Array | None = None,
        scratch: Any = None,
        told: Sequence[object] = (),
        fresh: Sequence[tuple[int, int, int]] = (),
    ) -> None:
        """`before` is a copy of the first argument where that is written, `scratch` memory that
        runs use between them, and `fresh` what of it they use first, `told` the arguments as notes
        that are told hold them."""
        if len(values) > MOST_TAKEN:
            raise Unknown
        self._held: list[Any] = [tuple(each for each in values if type(each) is not ndarray)]
        self._places: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        places = reversed([*enumerate(told)])  # the first of those that are given again
        self._told = {id(each): place for place, each in places if type(each) is ndarray}
        self._overlap = self._shared = False
        free = {each.place for note in notes for each in note if type(each) is Given}
        self._arguments = [
            self._any_number(each) if i in free else self._argument(i, each, values)
            for i, each in enumerate(values)
        ]
        self._at_place = {address(each): each for each in values if type(each) is ndarray}
        self._spans = [span(each) if type(each) is ndarray else 0 for each in values]
        self._values = () if notes else values  # what runs kernels gives nothing back
        self._made: list[Any] = []
        self._parts: dict[int, tuple[int, int]] = {}
        self._at: dict[int, int] = {}
        self._before = before
        if before is None:
            several = result if type(result) in (tuple, list) else ()
            items = [self._result(each) for each in several or (result,)]
            count = -len(several) if type(result) is list else len(several)
            self._back = [count, *items]
            if not notes and not all(n == -1 or n in self._parts for n in items):
                raise Unknown
        else:
            self._check_written(values, result)
            self._back = [0, -1]
        self._fresh = defaultdict[int, list[tuple[int, int, int]]](list)
        if scratch is not None:
            number = self._memory(scratch)
            for run, begin, size in fresh:
                self._fresh[run].append((number, begin, size))
        self._runs = list[tuple[int, int, int, list[tuple[int, Any]]]]()
        for note in notes:
            self._runs.append(self._run(note))
        self._verify(values)
        self.key, self.address = key_of(values), self._written()
        self.kept = tuple(self._held)

    def _result(self, made: object) -> int:
        """The number of a result: a new array in one piece, or, where nothing is run, the first
        argument or a part of one."""
        values = self._values
        if type(made) is ndarray and values and made is values[0]:
            return -1
        if type(made) is not ndarray:
            raise Unknown
        if not made.size:
            return self._memory(made)
        if made.base is not None and is_forward(made):
            found = [i for i, each in enumerate(values) if holds(each, made)]
            if len(found) == 1:
                if len(self._made) == MOST_RESULTS:
                    raise Unknown
                self._made.append(made)
                number = len(self._made) - 1
                self._parts[number] = found[0], address(made) - address(values[found[0]])
                return number
        if span(made) != made.nbytes:
            raise Unknown
        place = address(made)
        if place in self._places or (place in self._at and self._made[self._at[place]] is not made):
            raise Unknown
        return self._at[place] if place in self._at else self._memory(made)

    def _check_written(self, values: Sequence[Any], result: Array) -> None:
        """Refuse what is no writing of the first argument alone."""
        first = values[0]
        may_be = first.flags.writeable and first.flags.aligned and lies_apart(first)
        is_again = any(a[:2] == (_AGAIN, 0) for a in self._arguments)
        if result is not first or not may_be or is_again or self._overlap:
            raise Unknown
        others = (each for each in values[1:] if type(each) is ndarray)
        if any(min(each.strides, default=0) < 0 for each in others):
            raise Unknown

    def _memory(self, made: Array) -> int:
        """The number of memory that is filled anew."""
        if len(self._made) == MOST_RESULTS or made.nbytes > _LARGEST:
            raise Unknown
        self._at[address(made)] = len(self._made)
        self._made.append(made)
        return len(self._made) - 1

    # ------------------------------------------------------------------------------ arguments

    def _argument(self, index: int, value: Any, values: Sequence[Any]) -> tuple[int, int, int, int]:
        """The four words of an argument."""
        kind = type(value)
        if kind is ndarray:
            return self._array(index, value, values)
        if kind is bool or value is None or kind is str or getattr(kind, "never_changes", False):
            return _IDENTICAL, id(value), 0, 0
        if kind is int and -(1 << 63) <= value < 1 << 63:
            return _INT, value, 0, 0
        if kind is float:
            return _FLOAT, _bits(value), 0, 0
        if kind is list or kind is tuple:
            return self._numbers(value)
        raise Unknown

    def _numbers(self, values: Sequence[int]) -> tuple[int, int, int, int]:
        """The four words of a list, or a tuple, of ints alone or of floats alone."""
        of_floats = bool(values) and type(values[0]) is float
        if {float if of_floats else int} != {type(each) for each in values or [0]}:
            raise Unknown
        words = self._kept([_bits(each) for each in values] if of_floats else values)
        return _LIST if type(values) is list else _TUPLE, len(values), words, int(of_floats)

    @staticmethod
    def _any_number(value: object) -> tuple[int, int, int, int]:
        if type(value) is int and -(1 << 63) <= value < 1 << 63:
            return _ANY_INT, 0, 0, 0
        if type(value) is float:
            return _ANY_FLOAT, 0, 0, 0
        raise Unknown

    def _array(self, index: int, value: Array, values: Sequence[Any]) -> tuple[int, int, int, int]:
        place = self._places.setdefault(address(value), index)
        if place != index:
            for earlier in range(place, index):
                if values[earlier] is value:
                    return _AGAIN, earlier, 0, 0
            if not self._told:
                raise Unknown  # two that begin at one address cannot be told apart
            self._overlap = self._shared = True
        begin, end = self._ends[index] = address(value), address(value) + span(value)
        for other in self._places.values():
            first, last = self._ends[other]
            if (
                other != index
                and begin < last
                and first < end
                and (begins_in(value, values[other]) or begins_in(values[other], value))
            ):
                self._overlap = True  # nor can a part of one and the other
        if not value.size or not value.flags.aligned:
            raise Unknown
        self._held.append(value.dtype)
        words = self._kept([*value.shape, *value.strides, span(value)])
        return _ARRAY, id(value.dtype), value.ndim, words

    # ----------------------------------------------------------------------------------- runs

    def _run(self, note: tuple[Any, ...]) -> tuple[int, int, int, list[tuple[int, Any]]]:
        kernel, count, least, *words = note
        if len(words) > MOST_ARGUMENTS:
            raise Unknown
        return kernel, count, least, list(map(self._word, words))

    def _word(self, value: Any) -> tuple[int, Any]:
        """What kind of word it is, and the number."""
        if type(value) is Given:
            is_int = self._arguments[value.place][0] == _ANY_INT
            return (_OWN_INT if is_int else _OWN_FLOAT), value.place
        if type(value) is not ndarray:
            return _NUMBER, _bits(value) if type(value) is float else int(value)
        place = address(value)
        if place in self._places:
            known = self._told.get(id(value)) if self._overlap else self._places[place]
            if known is None or span(value) > self._spans[known]:
                raise Unknown  # or it was larger meanwhile, in another thread
            return _ARGUMENT, known
        if place in self._at:
            if span(value) > self._made[self._at[place]].nbytes:
                raise Unknown  # the result is only the beginning of it
            return _RESULT, self._at[place]
        if value.base is not None:
            part = self._part(value, place)
            if part is not None:
                return part
        if not value.flags.writeable:
            self._held.append(value)
            return _NUMBER, place
        if value.size == 1 and value.dtype in (_INT64, _UINT64):
            return (_FLAG if value.dtype is _INT64 else _COUNTER), 0
        # or what it is a view of, as a whole
        owner: Any = value if value.flags.owndata else value.base
        is_whole = type(owner) is ndarray and owner.flags.owndata and address(owner) == place
        if not is_whole or not value.size or owner.nbytes != value.nbytes:
            raise Unknown
        number = self._memory(owner)
        self._fresh[len(self._runs)].append((number, 0, owner.nbytes))
        return _RESULT, number

    def _part(self, value: Array, at: int) -> tuple[int, int] | None:
        """The word of an array that begins, at that address, at another element of an operand, or
        of the result."""
        found = list[tuple[int, int]]()
        for place, number in self._places.items():
            if 0 < at - place < self._spans[number] and begins_in(value, self._at_place[place]):
                if self._shared:
                    raise Unknown  # it may be a part of another
                found.append((_ARGUMENT, number + (at - place) * _PLACES))
        for place, number in self._at.items():
            made = self._made[number]
            if 0 < at - place < made.nbytes:  # which lies in one piece
                found.append((_RESULT, number + (at - place) * _PLACES))
        return found[0] if len(found) == 1 else None

    def _verify(self, values: Sequence[object]) -> None:
        """Do the call again with memory that holds other bytes; refuse it if bits differ.

        Once with all bits set, once with none: what is read before it is written, such as a copy
        of an operand made on the way, may hold one of the two in earnest.  Where the first run with
        some memory writes nothing there, that is tried with numbers of all sizes, too: in a copy
        whose bytes are alike the first element is the largest, and all is in order.
        """
        if self._try(values, ONES) & self._try(values, ZEROS):
            self._try(values, MIXED)
            self._try(values, ~MIXED)
        self._before = None

    def _try(self, values: Sequence[Any], filling: Array) -> set[tuple[int, int]]:
        """Do the call with memory that is filled with bytes; which memory is as it was behind the
        first run with it."""
        made = [
            each if number in self._parts else filled(filling, each.nbytes)
            for number, each in enumerate(self._made)
        ]
        flag = np.zeros(1, np.int64)
        first = None if self._before is None else alike(values[0], self._before)
        given_values = list(values) if first is None else [first, *values[1:]]
        begins = {
            _RESULT: list(map(address, made)),
            _ARGUMENT: [address(each) if type(each) is ndarray else 0 for each in given_values],
        }
        untouched = set[tuple[int, int]]()
        for place, (kernel, count, least, words) in enumerate(self._runs):
            given = []
            for kind, number in words:
                if kind in begins:
                    given.append(begins[kind][number % _PLACES] + number // _PLACES)
                elif kind in (_FLAG, _COUNTER):
                    given.append(flag if kind == _FLAG else np.zeros(1, np.uint64))
                else:
                    is_own = kind in (_OWN_FLOAT, _OWN_INT)
                    given.append(given_values[number] if is_own else number)
            fresh = self._fresh.get(place, ())
            parts = [made[number][begin : begin + size] for number, begin, size in fresh]
            before = [filled(filling, part.size) for part in parts]
            for part, wanted in zip(parts, before, strict=True):
                part[...] = wanted
            run(kernel, count, least, *given)
            is_as_filled = map(np.array_equal, parts, before)
            untouched |= {
                each[:2] for each, is_it in zip(fresh, is_as_filled, strict=True) if is_it
            }
        results = [
            (made[number], self._made[number])
            for number in self._back[1:]
            if number >= 0 and number not in self._parts
        ]
        if flag[0] or not all(has_bytes_of(a, b.ravel("K")) for a, b in results):
            raise Unknown
        if first is not None and first.tobytes() != values[0].tobytes():
            raise Unknown
        return untouched

    # ---------------------------------------------------------------------------------- words

    def _kept(self, words: Sequence[int]) -> int:
        """The address of some words."""
        array = np.array(words, np.int64)
        self._held.append(array)
        return address(array)

    def _written(self) -> int:
        """The address of the whole entry."""
        results = []
        for number, each in enumerate(self._made):
            self._held.append(each.dtype)
            strides = self._kept(each.strides)
            results += [id(each.dtype), each.ndim, self._kept(each.shape), strides]
            results += self._parts.get(number, (-1, 0))
        runs = []
        for kernel, count, least, words in self._runs:
            pairs = self._kept([word for pair in words for word in pair])
            runs += [kernel, count, least, len(words), pairs]
        lets_go = any(count >= least for _, count, least, _ in self._runs)
        arguments = self._kept([word for each in self._arguments for word in each])
        return self._kept(
            [
                *(len(self._arguments), arguments, len(self._made), self._kept(results)),
                *(len(self._runs), self._kept(runs), self._kept(self._back), int(lets_go)),
            ]
        )


class Alike(_Entry):
    """Whether arguments are like those of an earlier call, as native code tells."""

    def __init__(self, values: Sequence[Any]) -> None:
        """The first one is an array that may be written and shares no memory with the others.

        Raises:
            Unknown: it cannot be said what they are like.
        """
        assert CREW is not None
        self._held: list[Any] = [tuple(each for each in values if type(each) is not ndarray)]
        self._places: dict[int, int] = {}
        self._ends: dict[int, tuple[int, int]] = {}
        self._told = dict[int, int]()
        self._overlap, self._shared = type(values[0]) is not ndarray, False
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


def _bits(number: float) -> int:
    """The word of a float."""
    return int.from_bytes(struct.pack("<d", number), "little", signed=True)

"""Calls as native code is told of them: what a call's arguments are like, what it makes and runs.

What kernels are given is said in `prepared.py`, whose calls these are.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ....memory.storage import address, root_of, view_of
from ...flags import FLAG, STREAM
from ..fronts.prepared_text import MOST_RESULTS, MOST_TAKEN, PLACE_BITS
from .crew_text import MOST_ARGUMENTS
from .fillings import MIXED, ONES, ZEROS, filled
from .reaches import alike, begins_in, has_bytes_of, holds, is_forward, key_of, lies_apart, span
from .run import run
from .watching import NO_PARTS

__all__ = ["LARGEST", "Entry", "Given", "Into", "Unfilled", "Unknown", "is_stream"]

ndarray: Final = np.ndarray
LARGEST: Final = 1 << 27
"""Bytes of an array that is filled twice more, or copied, to find out what a call does."""
_UINT64: Final = np.dtype(np.uint64)
_IDENTICAL, _ARRAY, _INT, _FLOAT, _LIST, _AGAIN, _ANY_INT, _ANY_FLOAT, _TUPLE = range(9)
_PLACES: Final = 1 << PLACE_BITS
"""A word for a part has the operand's number, and so often as this the bytes it begins behind."""
_NUMBER, _ARGUMENT, _RESULT, _FLAG, _OWN_FLOAT, _OWN_INT, _COUNTER = range(7)


class Unknown(Exception):
    """A call that cannot be known beforehand."""


class Given(NamedTuple):
    """An argument of a call, where notes mean that number, whatever it is."""

    place: int


class Entry:
    """A call as native code is told of it: at `address`, with what `kept` holds.

    The rest is for making it.  Thousands are kept, and Python would go through all they hold each
    time it looks for garbage.
    """

    _may_give_back: bool = True
    """Whether, where it runs no kernels, it gives what it is given."""
    _may_meet_itself: bool = False
    """Whether a first argument that is written may be another one as well."""

    def __init__(
        self,
        values: Sequence[Any],
        result: Any,
        notes: Sequence[tuple[object, ...]],
        before: Array | None = None,
        scratch: Any = None,
        told: Sequence[object] = (),
        fresh: Sequence[tuple[int, int, int]] = (),
        roots: Sequence[Array] | None = None,
        parts: Mapping[int, tuple[int, int]] = NO_PARTS,
    ) -> None:
        """`before` is a copy of the first argument where that is written, `scratch` memory that
        runs use between them, and `fresh` what of it they use first, `told` the arguments as notes
        that are told hold them.  Where `roots` are told, be it none, results may lie in one of
        these, which is new memory, or be what `parts` say (see `Seen`)."""
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
        filled = [type(each) is ndarray and bool(each.size) for each in values]
        pairs = [*zip(values, filled, strict=True)]
        self._at_place = {address(each): each for each, is_filled in pairs if is_filled}
        self._spans = [span(each) if is_filled else 0 for each, is_filled in pairs]
        self._values = values if self._may_give_back and not notes else ()
        self._made: list[Any] = []
        self._parts: dict[int, tuple[int, int]] = {}
        self._at: dict[int, int] = {}
        self._told_roots = None if roots is None else {id(e): self._memory(e) for e in roots}
        self._told_parts = parts
        self._before = before
        if before is None:
            self._back = self._given_back(result, is_run=bool(notes))
        else:
            self._check_written(values, result)
            self._back = [0, -1]
        self._fresh = defaultdict[int, list[tuple[int, int, int]]](list)
        if scratch is not None:
            number = self._memory(scratch)
            for run, begin, size in fresh:
                self._fresh[run].append((number, begin, size))
        self._stream: Array | None = None
        self._flags = 0
        self._runs = list[tuple[int, int, int, list[tuple[int, Any]]]]()
        for note in notes:
            self._runs.append(self._run(note))
        self._check_drawn()
        self._verify(values)
        self.key, self.address = key_of(values), self._written()
        self.kept = tuple(self._held)

    def _given_back(self, result: Any, *, is_run: bool) -> list[int]:
        """How many results there are, less than none of a list, and which; where nothing `is_run`
        each has to be given or without elements."""
        several = result if type(result) in (tuple, list) else ()
        count = -len(several) if type(result) is list else len(several)
        items = [self._result(each) for each in several or (result,)]
        is_given = all(n < 0 or n in self._parts or not self._made[n].size for n in items)
        if not is_run and self._may_give_back and not is_given:
            raise Unknown
        return [count, *items]

    def _result(self, made: object) -> int:
        """The number of a result: a new array in one piece, or, where nothing is run, the first
        argument or a part of one."""
        values = self._values
        if type(made) is ndarray and values and made is values[0]:
            return -1
        if type(made) is not ndarray:
            raise Unknown
        if self._told_roots is not None:
            return self._result_of_row(made, self._told_roots)
        if not made.size:
            return self._memory(made)
        if made.base is not None and is_forward(made):
            found = [i for i, each in enumerate(values) if holds(each, made)]
            if len(found) == 1:
                begin = address(made) - address(values[found[0]])
                return self._part_of(made, found[0], begin)
        if span(made) != made.nbytes:
            raise Unknown
        place = address(made)
        if place in self._places or (place in self._at and self._made[self._at[place]] is not made):
            raise Unknown
        return self._at[place] if place in self._at else self._memory(made)

    def _result_of_row(self, made: Array, roots: dict[int, int]) -> int:
        """The same of a row of runs, whose results may be an argument, or lie in one, or in new
        memory beside others."""
        place, begin = self._told_parts.get(id(made), (-1, 0))
        if begin < 0:
            return -1 - place
        for number, each in enumerate(self._made):
            if each is made:
                return number
        if not made.size:
            return self._memory(made)
        root = root_of(made)
        if id(root) in roots:
            number = roots[id(root)]
            return self._part_of(made, MOST_TAKEN + number, address(made) - address(root))
        return self._memory(made) if place < 0 else self._part_of(made, place, begin)

    def _part_of(self, made: Array, source: int, begin: int) -> int:
        """The number of a part of an argument, or, behind those, of new memory."""
        if len(self._made) == MOST_RESULTS or not is_forward(made) or not made.size:
            raise Unknown
        self._made.append(made)
        number = len(self._made) - 1
        self._parts[number] = source, begin
        return number

    def _check_written(self, values: Sequence[Any], result: Array) -> None:
        """Refuse what is no writing of the first argument alone."""
        first = values[0]
        may_be = first.size and first.flags.writeable and first.flags.aligned and lies_apart(first)
        is_again = any(a[:2] == (_AGAIN, 0) for a in self._arguments)
        is_met = is_again and not self._may_meet_itself
        if result is not first or not may_be or is_met or self._overlap:
            raise Unknown
        others = (each for each in values[1:] if type(each) is ndarray)
        if any(min(each.strides, default=0) < 0 for each in others):
            raise Unknown

    def _memory(self, made: Array) -> int:
        """The number of memory that is filled anew."""
        if len(self._made) == MOST_RESULTS or made.nbytes > LARGEST:
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
        if not value.size and value.flags.aligned:
            return self._of_dtype(value, 0)
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
        if not value.flags.aligned:
            raise Unknown
        return self._of_dtype(value, span(value))

    def _of_dtype(self, value: Array, reach: int) -> tuple[int, int, int, int]:
        self._held.append(value.dtype)
        words = self._kept([*value.shape, *value.strides, reach])
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
        if value.dtype is STREAM:
            return self._drawn(value, place)
        if value.dtype is FLAG or (value.size == 1 and value.dtype is _UINT64):
            self._flags += value.dtype is FLAG
            return (_FLAG if value.dtype is FLAG else _COUNTER), 0
        # or what it is a view of, as a whole
        owner: Any = value if value.flags.owndata else value.base
        is_whole = type(owner) is ndarray and owner.flags.owndata and address(owner) == place
        if not is_whole or not value.size or owner.nbytes != value.nbytes:
            raise Unknown
        number = self._memory(owner)
        self._fresh[len(self._runs)].append((number, 0, owner.nbytes))
        return _RESULT, number

    def _drawn(self, stream: Array, place: int) -> tuple[int, int]:
        """The word of a stream, out of which a call draws once, before anything may fail."""
        if self._stream is not None or self._runs:
            raise Unknown
        self._stream = stream
        return _NUMBER, place

    def _check_drawn(self) -> None:
        """Refuse what may fail after it has drawn: the function itself would draw once more."""
        if self._stream is not None and self._flags > 1:
            raise Unknown

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
        flag, stream = np.zeros(1, np.int64), _as_before(self._stream)
        stream_at = None if self._stream is None else address(self._stream)
        first = None if self._before is None else self._first(values[0], self._before, filling)
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
                elif stream is not None and (kind, number) == (_NUMBER, stream_at):
                    given.append(stream)
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
        if flag[0] or not all(self._has_bytes(made, number) for number in self._back[1:]):
            raise Unknown
        if first is not None and first.tobytes() != values[0].tobytes():
            raise Unknown
        return untouched

    def _first(self, first: Array, before: Array, filling: Array) -> Array:
        """Memory in the place of a first argument that is written, as it was before."""
        return alike(first, before)

    def _has_bytes(self, made: Sequence[Array], number: int) -> bool:
        """Whether new memory that is filled has what a result has."""
        source, begin = self._parts.get(number, (number + MOST_TAKEN, 0))
        if number < 0 or source < MOST_TAKEN:
            return True
        result = self._made[number]
        if number not in self._parts:
            return has_bytes_of(made[number], result.ravel("K"))
        whole = made[source - MOST_TAKEN]
        part = view_of(whole, result.shape, result.strides, begin, result.dtype)
        return bool(part.tobytes() == result.tobytes())

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


class Unfilled(Entry):
    """A call that makes new arrays, which hold anything."""

    _may_give_back = False

    def _verify(self, values: Sequence[object]) -> None:
        """Nothing: there are no bits that must be the same."""


class Into(Entry):
    """A call whose result goes into its first argument, whatever that holds; it may be an operand
    as well, where kernels read each element before they write it."""

    _may_meet_itself = True

    def _first(self, first: Array, before: Array, filling: Array) -> Array:
        if any(argument[:2] == (_AGAIN, 0) for argument in self._arguments):
            return alike(first, before)
        return view_of(filled(filling, span(first)), first.shape, first.strides, 0, first.dtype)


def _as_before(stream: Array | None) -> Array | None:
    """A stream as it was before the last draw out of it."""
    if stream is None:
        return None
    at, left, last, _, _, has_normal, normal = stream.tolist()
    return np.array([at - 8 * last, left + last, 0, has_normal, normal, 0, 0], np.int64)


def is_stream(word: object) -> bool:
    return type(word) is ndarray and word.dtype is STREAM


def _bits(number: float) -> int:
    """The word of a float."""
    return int.from_bytes(struct.pack("<d", number), "little", signed=True)

"""Functions whose results go into an array that is given first, known beforehand.

The kernels of such a call are those that make the result, told of the given array in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ....memory.dtype import Array
from ....memory.storage import address, view_of
from .entries import Given, Into
from .prepared import Explain, Known
from .watching import Notes, Seen, seen

__all__ = ["KnownInto", "Writing"]


class Writing(Protocol):
    """A function, and how its results get into an array; `into` does all of it, and gives that."""

    def into(self, out: Array, *values: object) -> Array: ...

    def check(self, out: Array, values: Sequence[object]) -> Sequence[object]:
        """The arguments of the function for a call with such an array.

        Raises:
            Exception: the array may not be written, or does not go with them.
        """
        ...

    def result(self, values: Sequence[object]) -> Any:
        """What the function gives."""
        ...

    def write(self, out: Array, result: Any, values: Sequence[object]) -> None:
        """Put that into the array, which takes its shape."""
        ...


class KnownInto(Known):
    """What is known of calls of the function that writes: the array comes before the arguments.

    `explain` says how a result could have been made, element by element if it is `by_element`: then
    the array may be an operand as well.
    """

    _kind = Into

    def __init__(self, writing: Writing, explain: Explain | None, *, by_element: bool) -> None:
        self._writing, self._tells, self._by_element = writing, explain, by_element
        super().__init__(writing.into, explain, writes=True)

    def _looked(self, values: Sequence[Any]) -> Seen:
        out, *rest = values
        given = self._writing.check(out, rest)
        if self._tells is None:
            found = seen(lambda *each: self._writing.result(each), given, draws=True)
        else:
            found = Seen(self._writing.result(given), None)
        result = found.result
        is_like = type(result) is np.ndarray and result.dtype is out.dtype
        is_like = is_like and result.shape == out.shape
        self._writing.write(out, result, given)
        is_operand = any(each is out for each in rest)
        if not is_like or (is_operand and not self._by_element):
            return Seen(out, None)
        if self._tells is not None:
            told = self._tells(given, out)
            return Seen(out, None if told is None else [_behind(note) for note in told])
        return Seen(out, _redirected(found.notes, result, out))


def _behind(note: tuple[object, ...]) -> tuple[object, ...]:
    """A note that means arguments of the function, where an array comes before them."""
    return tuple([Given(each.place + 1) if type(each) is Given else each for each in note])


def _redirected(notes: Notes | None, result: Array, out: Array) -> Notes | None:
    """Notes of what made a new result, that have another array made; None where that lies in
    another way."""
    lies_alike = result.strides == out.strides and result.flags.c_contiguous
    if notes is None or not lies_alike or not result.size:
        return None
    begin, end = address(result), address(result) + result.nbytes

    def instead(word: object) -> object:
        if type(word) is not np.ndarray or not begin <= address(word) < end:
            return word
        return view_of(out, word.shape, word.strides, address(word) - begin, word.dtype)

    return [tuple(map(instead, note)) for note in notes]

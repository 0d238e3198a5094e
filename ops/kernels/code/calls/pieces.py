"""Runs of kernels, told one by one, by the memory that they work on.

What runs make on the way is not kept for that: a `Piece` stands for memory that may be gone, and of
whose place something else may have been made since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple
from weakref import ref

import numpy as np

from ....memory.dtype import Array
from ....memory.storage import address, root_of
from ...flags import FLAG
from .arena import Piece, placed
from .watching import watching

__all__ = ["Own", "Part", "Run", "Told", "in_one_arena", "is_flag"]

ndarray: Final = np.ndarray

Run = tuple[Any, ...]
"""The arguments of a call of `run`, where memory is told as `Part` or `Own`."""


class Part(NamedTuple):
    """Memory of a piece from some byte on."""

    piece: Piece
    begin: int


class Own(NamedTuple):
    """Memory of an argument from some byte on."""

    place: int
    begin: int


class Told:
    """The `runs` of a call with some arguments, of whose arrays some parts may be `constants`: by
    the identity of the array that owns them, their bytes.

    Attributes:
        is_foreseen: whether the runs are all that the call does.
    """

    def __init__(self, values: Sequence[Any], constants: Mapping[int, Array]) -> None:
        self.runs = list[Run]()
        self.is_foreseen = True
        self._values = values
        self._places = dict[int, int]()
        self._roots = dict[int, list[int]]()
        for place, each in enumerate(values):
            if type(each) is ndarray:
                self._places.setdefault(address(each), place)
                self._roots.setdefault(id(root_of(each)), []).append(place)
        self._constants = dict(constants)
        self._held = list[Any]()
        self._live = dict[int, tuple[ref[Array], Piece]]()

    @contextmanager
    def telling(self) -> Iterator[None]:
        """What this thread runs inside is told; nothing is foreseen if others are looked at."""
        with watching(self.note) as is_watched:
            yield
        self.is_foreseen &= is_watched

    def note(self, *arguments: object) -> None:
        """One run; without arguments, something that nothing is known of."""
        if not arguments:
            self.is_foreseen = False
            return
        self.runs.append((*arguments[:3], *map(self._word, arguments[3:])))

    def hold(self, array: object, constant: Array) -> None:
        """What owns memory is the same in each call: these bytes."""
        self._held.append(array)
        self._constants[id(array)] = constant

    def let_go(self, array: object) -> None:
        """What is held is no constant from now on: runs write to it."""
        self._held = [each for each in self._held if each is not array]
        del self._constants[id(array)]

    def is_held(self, array: Array) -> bool:
        """Whether an array lies in one of those that are the same in each call."""
        root = root_of(array)
        return any(each is root for each in self._held)

    def is_constant(self, array: Array) -> bool:
        """Whether an array lies in a constant."""
        return id(root_of(array)) in self._constants

    def piece(self, root: object) -> Piece | None:
        """The piece that an array owns; None if it is none that a run has had."""
        found = self._live.get(id(root))
        return None if found is None else found[1]

    def is_still(self) -> bool:
        """Whether all that can be written to could be when it was told: what is kept for later
        calls is no constant of the one that fills it."""
        roots = (found() for found, _ in list(self._live.values()))
        return all(root is None or root.flags.writeable for root in roots)

    def _word(self, word: object) -> object:
        if type(word) is not ndarray:
            return word
        place = self._places.get(address(word))
        if place is not None:
            return Own(place, 0)
        root = root_of(word)
        places = self._roots.get(id(root), ())
        if len(places) == 1:
            return Own(places[0], address(word) - address(self._values[places[0]]))
        if places:
            self.is_foreseen = False  # it may be a part of one or the other
        constant = self._constants.get(id(root))
        if constant is not None:
            return constant[address(word) - address(root) :]
        piece = self.piece(root)
        if piece is None:
            if not word.flags.writeable or not root.flags.owndata or is_flag(word):
                return word
            piece = Piece(int(root.nbytes))
            # it is forgotten with the array, before another one can have its identity
            gone = partial(_forget, self._live, id(root))
            self._live[id(root)] = ref(root, gone), piece
        return Part(piece, address(word) - address(root))


def _forget(live: dict[int, tuple[ref[Array], Piece]], number: int, _: object) -> None:
    live.pop(number, None)


def is_flag(word: Array) -> bool:
    """Whether a word is a flag or a counter."""
    return word.dtype is FLAG or bool(word.size == 1 and word.dtype.char in "LQ")


def in_one_arena(
    runs: Sequence[Run], values: Sequence[Any], results: Mapping[Piece, Array]
) -> tuple[list[Run], Array | None]:
    """The same runs with arrays for their words, and the array in which all pieces lie but the
    `results`, which have one of their own; it is None if there are no others."""
    pieces = dict[Piece, None]()
    for number, run in enumerate(runs):
        for word in run:
            if type(word) is Part and word.piece not in results:
                if word.piece not in pieces:
                    word.piece.first = number
                    pieces[word.piece] = None
                word.piece.last = number
    size = placed(list(pieces))
    arena: Any = np.empty(size, np.uint8) if size else None
    made = {piece: _bytes_of(array) for piece, array in results.items()}
    given = {i: _bytes_of(each) for i, each in enumerate(values) if type(each) is ndarray}
    views = dict[Part, Array]()

    def array_of(word: object) -> Any:
        if type(word) is Own:
            return given[word.place][word.begin :] if word.begin else values[word.place]
        if type(word) is not Part:
            return word
        if word not in views:
            whole = made.get(word.piece)
            views[word] = (
                arena[word.piece.at + word.begin :] if whole is None else whole[word.begin :]
            )
        return views[word]

    return [tuple(map(array_of, run)) for run in runs], arena


def _bytes_of(array: Array) -> Array:
    """The memory of an array; of one that does not lie in one piece there is none to be had."""
    if not array.flags.c_contiguous:
        return np.empty(0, np.uint8)
    return array.reshape(-1).view(np.uint8)

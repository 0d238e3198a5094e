"""One piece of memory for all that a row of runs makes on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ....memory.storage import address, root_of

__all__ = ["Piece", "in_one_piece", "placed"]

ndarray: Final = np.ndarray
_APART: Final = 64
"""Bytes of which places are multiples: a line of the cache."""


class Piece:
    """So many bytes that runs make: which of them use it first and last, and where it lies."""

    __slots__ = ("at", "first", "last", "nbytes")

    def __init__(self, nbytes: int) -> None:
        self.nbytes, self.first, self.last, self.at = nbytes, 0, 0, 0

    @property
    def size(self) -> int:
        return -(-self.nbytes // _APART) * _APART


def in_one_piece(
    notes: Sequence[tuple[object, ...]], roots: Sequence[Array]
) -> tuple[list[tuple[object, ...]], object, list[tuple[int, int, int]]]:
    """The same runs with the arrays that own the memory `roots` in one array, that array, and what
    of it runs use first: the number of the run, where that begins, and its bytes.

    Places are given to others when their last run is done.  The array is None if there are none.
    """
    known = {id(root): root for root in roots}
    pieces: dict[int, Piece] = {}
    wholes: dict[int, object] = {}
    for number, note in enumerate(notes):
        for word in note:
            root = _root_among(word, known)
            if root is not None:
                if id(root) not in pieces:
                    pieces[id(root)] = Piece(int(root.nbytes))
                    pieces[id(root)].first = number
                pieces[id(root)].last = number
    size = placed(list(pieces.values()))
    if not size:
        return list(notes), None, []
    arena = np.empty(size, np.uint8)

    def moved(word: object) -> object:
        root = _root_among(word, known)
        if root is None:
            return word
        piece = pieces[id(root)]
        if type(word) is ndarray and word is not root:
            return arena[piece.at + address(word) - address(root) :]
        if id(root) not in wholes:
            wholes[id(root)] = arena[piece.at :]
        return wholes[id(root)]

    fresh = [(piece.first, piece.at, piece.nbytes) for piece in pieces.values()]
    return [tuple(map(moved, note)) for note in notes], arena, fresh


def _root_among(word: object, known: dict[int, Array]) -> Array | None:
    """The array of those known in whose memory a word lies; None if there is none."""
    if type(word) is not ndarray:
        return None
    return known.get(id(root_of(word)))


def placed(pieces: Sequence[Piece]) -> int:
    """Give each piece a place, those of the earliest runs first; how many bytes that takes."""
    reach, held = 0, list[Piece]()
    for piece in sorted(pieces, key=lambda each: each.first):
        held = sorted((each for each in held if each.last >= piece.first), key=lambda e: e.at)
        for other in held:
            if other.at - piece.at >= piece.size:
                break
            piece.at = other.at + other.size
        held.append(piece)
        reach = max(reach, piece.at + piece.size)
    return reach

"""Runs over a batch, done for some samples after the others as long as what they make is large.

What the runs of a sample make stays in a near cache then until the next run reads it, and takes
less memory.  Which runs those are is seen from a call with these samples alone: its first runs have
to be the same kernels, over parts of the same arrays.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from ..loading.objects import made_at
from .arena import Piece
from .pieces import Own, Part, Run

__all__ = ["FAR", "Samples"]

FAR: Final = 4 << 20
"""Bytes that the caches of a core do not hold."""

_EACH: Final = frozenset(
    (
        *("convolution_sums", "convolution_points", "convolution_strips", "convolution_planes"),
        *("convolution_squares", "padded_planes", "max_pool", "expression", "pairs", "halves"),
        *("patch_product", "channel_product", "line_product", "bordered", "looked_up"),
        *("last_windows", "convolution_descents"),
    )
)
"""Kernels whose results for a sample depend on no other one, nor on how many there are."""


class Samples:
    """What the runs of a call have in common with those of one for a part of the batch.

    Attributes:
        count: so many of the first runs can be done for the parts one after the other; the last of
            them goes over memory that is far.
        largest: the bytes of a part's largest array that one of these reads or writes.
    """

    def __init__(
        self, whole: Sequence[Run], part: Sequence[Run], own: Mapping[int, int], times: int
    ) -> None:
        """The part is `times` as small.  Of the arguments that have their samples in the first
        dimension, and in one piece, `own` has the bytes of the part by their places."""
        self._whole, self._part, self._own, self._times = whole, part, own, times
        self._wholes = dict[Piece, Piece]()
        self._shared = set[Piece]()
        self._alone = set[int]()
        self.count = self.largest = most = 0
        for number, (one, other) in enumerate(zip(whole, part, strict=False)):
            if not self._pairs_up(one, other):
                break
            near = self._reach(other)
            if not near:
                if not _is_same(one, other):
                    break
                self._alone.add(number)
                self._shared |= {word.piece for word in other if _is_part(word)}
            elif not _does_each(one, other):
                break
            most = max(most, near)
            if near * times >= FAR:
                self.count, self.largest = number + 1, most

    def _pairs_up(self, one: Run, other: Run) -> bool:
        """Whether two runs go over the same arguments and pieces."""
        if len(one) != len(other):
            return False
        for a, b in zip(one, other, strict=True):
            if type(a) is not type(b):
                return False
            if type(a) is Own and a != b:
                return False
            if type(a) is Part:
                is_same = self._wholes.setdefault(b.piece, a.piece) is a.piece
                if not is_same or a.begin != b.begin:
                    return False
        return True

    def _is_of_samples(self, piece: Piece) -> bool:
        """Whether a piece of the part is one of those that make up the whole batch's."""
        return self._wholes[piece].nbytes == self._times * piece.nbytes

    def _reach(self, run: Run) -> int:
        """The bytes of the largest array of samples that a run of the part reads or writes."""
        owned = (self._own.get(word.place, 0) for word in run if type(word) is Own)
        pieces = {word.piece for word in run if _is_part(word)}
        made = (piece.nbytes for piece in pieces if self._is_of_samples(piece))
        return max((*owned, *made), default=0)

    def runs(self, results: Collection[Piece]) -> list[Run] | None:
        """The runs of the whole batch, part after part where that is better; None where what later
        runs read, or the `results` of the call, are not known to consist of parts."""
        rest = self._whole[self.count :]
        later = {word.piece for run in rest for word in run if _is_part(word)} | {*results}
        kept = dict[Piece, Piece]()
        first = {word.piece for run in self._part[: self.count] for word in run if _is_part(word)}
        for piece in first:
            whole = self._wholes[piece]
            if piece in self._shared or whole in later:
                kept[piece] = whole
                if piece not in self._shared and not self._is_of_samples(piece):
                    return None
        made = list[Run]()
        for number in range(self._times):
            made += self._of_part(number, kept)
        return [*made, *rest]

    def _of_part(self, number: int, kept: Mapping[Piece, Piece]) -> list[Run]:
        """The first runs for one part of the batch, with pieces of its own but those `kept`."""
        own = dict[Piece, Piece]()

        def word_of(word: object) -> object:
            if type(word) is Own:
                return Own(word.place, word.begin + number * self._own.get(word.place, 0))
            if type(word) is not Part:
                return word
            piece, begin = word
            if piece in self._shared:
                return Part(kept[piece], begin)
            if piece in kept:
                return Part(kept[piece], begin + number * piece.nbytes)
            if piece not in own:
                own[piece] = Piece(piece.nbytes)
            return Part(own[piece], begin)

        runs = enumerate(self._part[: self.count])
        return [tuple(map(word_of, run)) for i, run in runs if not (number and i in self._alone)]


def _is_part(word: object) -> bool:
    return type(word) is Part


def _does_each(one: Run, other: Run) -> bool:
    """Whether two runs do the same to each of their samples."""
    try:
        names = {made_at(run[0])[1] for run in (one, other)}
    except LookupError:
        return False
    return len(names) == 1 and names <= _EACH


def _is_same(one: Run, other: Run) -> bool:
    """Whether two runs over the same arrays are given the same numbers."""
    pairs = zip(one, other, strict=True)
    return all(a == b for a, b in pairs if type(a) in (int, float))

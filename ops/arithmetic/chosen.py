"""Elements that a mask chooses, or that are not zero: where they are, those of another tensor."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..kernels import family, in_order, is_half, is_whole, written_by_numpy
from ..memory.dims import expands_to
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..memory.storage import settled
from ..table.direct import note_of
from ..table.formula import Part

__all__ = [
    *("by_rows", "chosen_places", "few_chosen", "parts_of_places", "put_chosen", "put_where"),
    *("rows_of", "take_chosen", "truths"),
]

_BUT_SIGNS: Final = np.int16(0x7FFF)

_FEW: Final = 1024
"""Elements of which native code finds or takes what is chosen sooner than NumPy."""


def truths(self: Array) -> Array:
    """An array that holds where this one does: the bits of 16-bit floats but for their signs."""
    if not is_half(self.dtype):
        return self
    return np.asarray(self.view(np.int16) & _BUT_SIGNS)


def chosen_places(self: Array) -> Array:
    """The places of elements that are not zero, a row for each dimension; it has one at least.

    Nobody else has the memory of them.
    """
    self = truths(self[...])  # which no other thread can change
    is_much = self.size >= _FEW
    if self.ndim == 1 and not is_much:
        return settled(self).nonzero()[0].reshape(1, -1)
    if is_much and self.ndim and (chosen := family("indexing.chosen")) is not None:
        marks = chosen.chosen(in_order(self))
        if marks is not None:
            found: Array = chosen.places(marks)
            return found
    places = (settled(self) if self.ndim else np.atleast_1d(settled(self))).nonzero()
    return np.array(places, np.int64)


def parts_of_places(self: Array) -> list[Array]:
    """The same, a vector for each dimension."""
    if self.ndim == 1 and self.size < _FEW:
        return [settled(truths(self[...])).nonzero()[0]]
    return list(chosen_places(self))


def take_chosen(self: Array, mask: Array) -> Array:
    """What a mask chooses of a tensor whose dimensions begin with those of the mask."""
    if mask.ndim == 1 and mask.size < _FEW:  # NumPy finds whole rows sooner by their numbers
        written_by_numpy()
        return self.take(settled(mask).nonzero()[0], 0)
    self, mask = self[...], mask[...]
    if (
        mask.size >= _FEW
        and self.size
        and is_whole(mask)
        and (chosen := family("indexing.chosen")) is not None
    ):
        found: Array | None = chosen.take(chosen.chosen(mask), np.ascontiguousarray(self))
        if found is not None:
            return found
    written_by_numpy()
    if mask.ndim == 1 and self.ndim > 1:
        return self.take(settled(mask).nonzero()[0], 0)
    return np.asarray(self[settled(mask)])


def put_where(self: Array, mask: Array, source: Array) -> bool:
    """Whether what is the same for all that a mask of the first dimensions chooses was written
    there."""
    self, mask, source = self[...], mask[...], source[...]
    is_open = self.size and self.flags.writeable
    if not is_open or not expands_to(source.shape, self.shape[mask.ndim :]):
        return False
    where = mask.reshape((*mask.shape, *(1,) * (self.ndim - mask.ndim)))
    arrays = family("elementwise.arrays") if self.flags.carray else None
    if arrays is not None:
        part = Part([("choose", "", (0, 1, 2))], [where, source, self], self)
        note = note_of(arrays, part)
        if note is not None:
            arrays.run(*note)
            return True
    written_by_numpy()
    np.copyto(self, source, where=where)
    return True


def few_chosen(mask: Array) -> Array | None:
    """Which of its elements a mask chooses, by their numbers; None of a mask of many."""
    return rows_of(mask) if mask.size < _FEW else None


def rows_of(mask: Array) -> Array:
    """Which of its elements a mask chooses, by their numbers."""
    mask = settled(mask)
    return mask.nonzero()[0] if mask.ndim == 1 else mask.reshape(-1).nonzero()[0]


def by_rows(array: Array, mask: Array) -> Array:
    """An array without gaps with one dimension for those of a mask of the first ones."""
    rank = mask.ndim
    return array if rank == 1 else array.reshape(mask.size, *array.shape[rank:])


def put_chosen(self: Array, mask: Array, source: Array, lacking: str = "") -> bool:
    """Whether elements of a tensor, in order, were written to where a mask chooses.

    It has the dimensions of `self`, or the first of them.  One element goes everywhere, unless
    it is said what is wrong with fewer than are chosen; others must then be as many at least,
    else exactly as many.

    Raises:
        OperatorError: with that sentence.
    """
    if mask.ndim == 1 <= self.ndim and mask.size < _FEW and self.flags.writeable:
        whole_rows = rows_of(mask)
        if source.shape == (whole_rows.size, *self.shape[1:]):
            written_by_numpy()
            self[whole_rows] = source
            return True
    self, mask, source = self[...], mask[...], source[...]
    if not (self.flags.carray and is_whole(mask) and source.size):
        return False
    chosen = family("indexing.chosen")
    if chosen is None:
        return False
    rows = few_chosen(mask)
    marks: Any = chosen.chosen(mask) if rows is None else None
    total = marks.total if rows is None else rows.size
    wanted = total * (self.size // mask.size)
    if lacking and source.size < wanted:
        raise OperatorError(lacking)
    is_one = source.size == 1 and mask.size == self.size
    if not (lacking or is_one or source.size == wanted):
        return False
    if rows is None:
        done: bool = chosen.put(marks, self, np.ascontiguousarray(source))
        return done
    written_by_numpy()
    if mask.ndim == self.ndim:
        self.put(rows, source)
    else:
        inner = self.shape[mask.ndim :]
        if source.shape != (total, *inner):
            source = source.reshape(-1)[:wanted].reshape(total, *inner)
        by_rows(self, mask)[rows] = source
    return True

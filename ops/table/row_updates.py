"""An update of many sets of small arrays by one call (see `updates.py`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import family
from ..memory.dtype import Array
from ..memory.storage import address
from ..memory.versions import count_writes, counts_of, owner_of
from .updates import Update

__all__ = ["RowUpdate"]


class RowUpdate:
    """An update of sets of arrays that stay, but for one of each set, which is only read.

    `rows` are the sets without those.
    """

    def __init__(
        self,
        update: Update,
        rows: Sequence[Sequence[Array]],
        free: int,
        table: Array,
        numbers: slice,
        held: object,
    ) -> None:
        self.update = update
        self._rows, self._held = rows, held
        self._free = free
        self._place = family("calls.listed_rows").BEGIN + 1 + free
        self._table = table
        self._numbers = numbers
        self._run_rows = family("calls.listed_rows").run_rows
        self._likes = [(row[0].dtype, row[0].shape, row[0].strides) for row in rows]
        self._owners = {id(owner_of(each)) for row in rows for each in row}
        self._counts = [
            (counts_of(row[place - (place > free)]), times)
            for row in rows
            for place, _, times in update.results
        ]

    @staticmethod
    def takes(update: Update, arrays: Sequence[Array], free: int) -> bool:
        """Whether there is a kernel for a set, and it is small enough for one thread."""
        known = update.known(arrays)
        own = {id(owner_of(each)) for place, each in enumerate(arrays) if place != free}
        return known is not None and known[1] < known[2] and len(own) == len(arrays) - 1

    @staticmethod
    def of(update: Update, sets: Sequence[Sequence[Array]], free: int) -> RowUpdate | None:
        """That of sets that it `takes`, in which array `free` is any like the others; None if they
        overlap."""
        if family("calls.listed_rows") is None:
            return None
        table: list[list[int]] = []
        owners, held = set[int](), list[object]()
        for arrays in sets:
            known = update.known(arrays)
            assert known is not None
            kernel, size, _, geometry = known
            held.append(geometry)  # whose address the table has
            own = {id(owner_of(each)) for place, each in enumerate(arrays) if place != free}
            if own & owners:
                return None
            owners |= own
            places = [address(each) for each in arrays]
            results = [places[place] for place, _, _ in update.results]
            numbers = [0] * update.numbers
            table.append([kernel, size, _word(geometry), *places, *numbers, *results])
        begin = family("calls.listed_rows").BEGIN + 1 + len(sets[0])
        rows = [[*arrays[:free], *arrays[free + 1 :]] for arrays in sets]
        words = np.array(table, np.int64)
        return RowUpdate(update, rows, free, words, slice(begin, begin + update.numbers), held)

    def __call__(self, arrays: Sequence[Array], *numbers: float) -> bool:
        """Do it with those arrays in the free places; False, with nothing done, if they are not
        alike, or may overlap with what is written."""
        for array, (kind, shape, strides) in zip(arrays, self._likes, strict=True):
            if (
                array.dtype is not kind
                or array.shape != shape
                or array.strides != strides
                or array.base is not None
            ):
                return False
        identities = list(map(id, arrays))
        if not self._owners.isdisjoint(identities):
            return False
        table = self._table.copy()  # which no other thread writes
        table[:, self._place] = identities
        table.view(np.float64)[:, self._numbers] = numbers
        if not self._run_rows(table, 1 + self._free):
            return False
        count_writes(self._counts)
        return True


def _word(geometry: int | Array) -> int:
    return geometry if isinstance(geometry, int) else address(geometry)

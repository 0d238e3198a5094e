"""Elements at places along one dimension that indices name: taken, written, combined there.

Arrays are contiguous and seen as [outer, size, inner]; int64 indices name a place for every element
([outer, count, inner]), or one for a whole slice ([count]).  Each index is looked at once, where it
is used, so that neither another thread nor what is written can change it in between.  Elements are
combined in the order of the indices, whoever shares the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import numpy as np

from ....memory.dtype import Array, Dtype
from ...flags import new_flag
from ..calls.run import run
from ..elementwise.arrays import LETTERS, evaluate
from ..functions.formulas import HALVES, rounded, stored_as, stored_kind, taken_from
from ..language.target import Target
from ..language.text import INT64, LANES, POINTER, Code, Kind, Value
from ..loading.objects import kernel
from ..rows.along import parts_of, strip_count, strips

__all__ = ["combine", "joined", "take"]

_PER_THREAD: Final = 1 << 14
"""Elements that are worth another thread."""
_BYTES: Final = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
_NUMBERS: Final = {"f4": "float", "f8": "double", "i8": "i64", "i4": "i32"}
_WRAPPING: Final = {"i2": "i16", "i1": "i8", "u1": "i8"}
"""Numbers of which sums and products are the same with a sign and without."""
_INDICES: Final = INT64.of_lanes(LANES)
_COUNTS: Final = ("size", "count", "inner")


def take(x: Array, axis: int, index: Array) -> Array | None:
    """`x` at places along an axis; the index is a vector, or has the shape of x but there.

    None if an element's size is unusual, or if a place is not there.
    """
    x, index = x[...], index[...]  # which no other thread can change
    element = _BYTES.get(x.itemsize)
    shape = (*x.shape[:axis], index.shape[min(axis, index.ndim - 1)], *x.shape[axis + 1 :])
    if element is None or (index.shape != shape and index.ndim != 1):
        return None
    out = np.empty(shape, x.dtype)
    done = _visit("take", element, x, out, axis, index)
    return out if done else None


def combine(target: Array, axis: int, index: Array, source: Array, operation: str) -> bool | None:
    """Elements written to places of the target, or combined with what is there.

    The operation is "put", "sum", "product", "max" or "min"; the source has the target's shape
    but along the axis, where it has as many elements as there are indices, or is one for all.
    Whether all places are there, else nothing is written; None if the shapes do not fit, or the
    dtype is unusual.
    """
    target, index, source = target[...], index[...], source[...]
    if operation == "put":
        element = _BYTES.get(target.itemsize)
    else:
        element = _combined_as(target.dtype, operation)
    count = index.shape[min(axis, index.ndim - 1)]
    shape = (*target.shape[:axis], count, *target.shape[axis + 1 :])
    fits = source.shape in (shape, ()) and index.shape in (shape, (count,))
    if element is None or not fits or source.dtype != target.dtype:
        return None
    return _visit(operation, element, target, source, axis, index)


def _combined_as(dtype: Dtype, operation: str) -> str | None:
    """The word for a dtype whose numbers are combined: the letter of 16-bit floats, which are
    rounded after each; None of others."""
    letter, name = LETTERS[dtype], dtype.str[1:]
    if letter and letter in HALVES:
        return letter
    return _NUMBERS.get(name) or (operation in ("sum", "product") and _WRAPPING.get(name)) or None


def joined(indices: list[Array], sizes: tuple[int, ...]) -> Array | None:
    """Places in dimensions of these sizes, counted through all of them: contiguous int64 arrays of
    one shape, or of shapes that are broadcast to each other, which may count from the end.  None if
    a place is not there."""
    indices = [index[...] for index in indices]
    if any(index.shape != indices[0].shape for index in indices):
        return _joined_broadcast(indices, sizes)
    count, shape = indices[0].size, indices[0].shape
    memory, outside = np.empty(count, np.int64), new_flag()
    run(_joining(len(sizes)), count, _PER_THREAD, *sizes, *indices, memory, outside)
    return None if outside[0] else memory.reshape(shape)


def _joined_broadcast(indices: list[Array], sizes: tuple[int, ...]) -> Array | None:
    """The same of several shapes: each index is looked at once, however often it is named."""
    alone = list[Array]()
    for index, size in zip(indices, sizes, strict=True):
        seen = joined([index], (size,))
        if seen is None:
            return None
        alone.append(seen)
    whole = np.broadcast_to(alone[0], np.broadcast_shapes(*[each.shape for each in alone]))
    steps, count, total = list[tuple[str, str, tuple[int, ...]]](), 2 * len(alone) - 1, 0
    for place in range(1, len(alone)):
        steps.append(("multiply", "l", (total, len(alone) + place - 1)))
        steps.append(("add", "l", (count + 2 * place - 2, place)))
        total = count + 2 * place - 1
    return evaluate(steps, "l", whole, *alone[1:], *sizes[1:])


@cache
def _joining(count: int) -> int:
    return kernel("join_places", (count,), lambda target: joining_text(target, count))


def joining_text(target: Target, count: int) -> str:
    """A kernel that joins places in so many dimensions; its range is one of places."""
    code = Code(target)
    sizes = [code.spread(code.argument(INT64, f"size{dim}")) for dim in range(count)]

    def visit(places: list[Value], mask: Value | None) -> None:
        for at in places:
            total = code.constant(_INDICES, 0)
            missing = total.differs(0)
            for dim, size in enumerate(sizes):
                address = code.at(code.argument(POINTER, f"index{dim}"), at, INT64)
                seen = code.load_if(_INDICES, address, mask)
                seen = code.choose(seen < 0, seen + size, seen)
                missing = missing | seen.below(size).equals(0)
                total = total * size + seen
            code.store_if(total, code.at(code.argument(POINTER, "out"), at, INT64), mask)
            # indices that are masked are 0, which is there if anything is
            with code.when(code.any_of(missing), rarely=True):
                code.store(code.constant(INT64, 1), code.argument(POINTER, "outside"))

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 1, visit)
    arguments = [(INT64, f"size{dim}") for dim in range(count)]
    arguments += [(POINTER, f"index{dim}") for dim in range(count)]
    return code.kernel("join_places", [*arguments, (POINTER, "out"), (POINTER, "outside")])


def _visit(operation: str, element: str, x: Array, other: Array, axis: int, index: Array) -> bool:
    outer, size, inner = parts_of(x.shape, axis)
    count = index.shape[min(axis, index.ndim - 1)]
    is_whole = index.ndim == x.ndim and (x.ndim > 1 or inner == 1)
    units, form = (outer, "last") if inner == 1 else (strip_count(outer, inner), "strips")
    lines, values = ("whole" if is_whole else "slices"), ("each" if other.ndim else "one")
    visiting = _kernel(operation, element, form, lines, values)
    outside = new_flag()
    if operation != "take":
        run(_looking(), index.size, _PER_THREAD, size, index, outside)
    least = _PER_THREAD * units // max(1, outer * count * inner) + 1
    run(visiting, units, least, size, count, inner, x, other, index, outside)
    return not outside[0]


@cache
def _looking() -> int:
    return kernel("look_for_places", (), looking_text)


def looking_text(target: Target) -> str:
    """A kernel that says if one of the indices from `start` to `stop` is no place."""
    code = Code(target)
    size = code.spread(code.argument(INT64, "size"))

    def visit(places: list[Value], mask: Value | None) -> None:
        index = code.argument(POINTER, "index")
        seen = [code.load_if(_INDICES, code.at(index, at, INT64), mask) for at in places]
        missing = seen[0].below(size).equals(0)
        for each in seen[1:]:
            missing = missing | each.below(size).equals(0)
        # indices that are masked are 0, which is there if anything is
        with code.when(code.any_of(missing), rarely=True):
            code.store(code.constant(INT64, 1), code.argument(POINTER, "outside"))

    code.vectors(code.argument(INT64, "start"), code.argument(INT64, "stop"), 4, visit)
    places = [(POINTER, name) for name in ("index", "outside")]
    return code.kernel("look_for_places", [(INT64, "size"), *places])


@cache
def _kernel(*key: str) -> int:
    return kernel("places", key, lambda target: places_text(target, *key))


def places_text(
    target: Target, operation: str, element: str, form: str, index: str, values: str
) -> str:
    """The module of a kernel.

    Its forms: "last", along the last dimension; "strips", along another one.  `index` is "whole",
    one for every element, or "slices"; what is combined is "each" value, or "one" for all.
    """
    made = _Places(target, operation, element, index == "whole", values == "one")
    with made.if_all_are_there():
        if form == "strips":
            made.strips()
        elif operation == "take":
            made.take_last()
        else:
            made.combine_last()
    places = [(POINTER, name) for name in ("x", "other", "index", "outside")]
    return made.code.kernel("places", [*((INT64, name) for name in _COUNTS), *places])


class _Places:
    """The code of a kernel: `x` is what has the places, `other` what is made or combined."""

    def __init__(
        self, target: Target, operation: str, element: str, is_whole: bool, is_one: bool
    ) -> None:
        self.code = code = Code(target)
        self._half = element if element in HALVES else ""
        self.element = stored_kind(element) if self._half else Kind(element)
        self.operation, self.is_whole, self.is_one = operation, is_whole, is_one
        self.size, self.count, self.inner = (code.argument(INT64, name) for name in _COUNTS)
        self.zero = code.constant(INT64, 0)

    def address(self, name: str, index: Value) -> Value:
        """Where an element of an array is."""
        element = INT64 if name == "index" else self.element
        return self.code.at(self.code.argument(POINTER, name), index, element)

    @contextmanager
    def if_all_are_there(self) -> Iterator[None]:
        """Write nothing if a place was missed before."""
        code = self.code
        with code.when(code.load(INT64, code.argument(POINTER, "outside")).equals(0)):
            yield

    def refuse(self, is_outside: Value) -> None:
        """Say that there was a place that is none."""
        with self.code.when(is_outside, rarely=True):
            self.code.store(self.code.constant(INT64, 1), self.code.argument(POINTER, "outside"))

    def value(self, index: Value) -> Value:
        """What is combined, or taken, for an index."""
        return self.code.load(
            self.element, self.address("other", self.zero if self.is_one else index)
        )

    def combined(self, known: Value, seen: Value) -> Value:
        """What is left at a place."""
        if self.operation == "put":
            return seen
        if not self._half:
            return self._both(known, seen)
        made = self._both(taken_from(self._half, known), taken_from(self._half, seen))
        return stored_as(self._half, rounded(self._half, made))

    def _both(self, known: Value, seen: Value) -> Value:
        if self.operation == "sum":
            return known + seen
        if self.operation == "product":
            return known * seen
        out = seen > known if self.operation == "max" else seen < known
        return self.code.choose(out | seen.is_nan(), seen, known)

    # ------------------------------------------------------------------ along the last dimension

    def line(self, row: Value) -> Value:
        """Where the indices of a row begin."""
        return row * self.count if self.is_whole else self.zero

    def take_last(self) -> None:
        """Sixteen elements of a row at a time."""
        code, kind = self.code, self.element.of_lanes(LANES)
        wide = _bytes_of(self.element)
        with code.units() as row:
            source = self.address("x", row * self.size)
            size = code.spread(self.size)

            def visit(columns: list[Value], mask: Value | None) -> None:
                for at in columns:
                    place = self.address("index", self.line(row) + at)
                    seen = code.load_if(_INDICES, place, mask)
                    there = seen.below(size)
                    made = code.gathered(kind, source, seen * wide, there)
                    code.store_if(made, self.address("other", row * self.count + at), mask)
                    # indices that are masked are 0, which is there if anything is
                    self.refuse(code.any_of(there.equals(0)))

            code.vectors(self.zero, self.count, 1, visit)

    def combine_last(self) -> None:
        """One element of a row after the other."""
        code = self.code
        with code.units() as row, code.counted(self.zero, self.count) as at:
            place = code.load(INT64, self.address("index", self.line(row) + at))
            is_there = place.below(self.size)
            with code.when(is_there):
                goal = self.address("x", row * self.size + place)
                seen = self.value(row * self.count + at)
                code.store(self.combined(code.load(self.element, goal), seen), goal)
            self.refuse(is_there.equals(0))

    # ----------------------------------------------------------------------- along another one

    def strips(self) -> None:
        """Strips of columns, whose elements never meet."""
        code = self.code
        with (
            strips(code, self.inner) as (outer, first, end),
            code.counted(self.zero, self.count) as i,
        ):
            line = (outer * self.count + i) * self.inner
            if self.is_whole:
                self._by_element(outer, line, first, end)
            else:
                place = code.load(INT64, self.address("index", i))
                is_there = place.below(self.size)
                with code.when(is_there):
                    self._by_slice((outer * self.size + place) * self.inner, line, first, end)
                self.refuse(is_there.equals(0))

    def _by_slice(self, goal: Value, line: Value, first: Value, end: Value) -> None:
        code, kind = self.code, self.element.of_lanes(LANES)

        def visit(columns: list[Value], mask: Value | None) -> None:
            for at in columns:
                x, other = self.address("x", goal + at), self.address("other", line + at)
                if self.operation == "take":
                    code.store_if(code.load_if(kind, x, mask), other, mask)
                    continue
                if self.is_one:
                    seen = code.spread(self.value(self.zero))
                else:
                    seen = code.load_if(kind, other, mask)
                if self.operation != "put":
                    seen = self.combined(code.load_if(kind, x, mask), seen)
                code.store_if(seen, x, mask)

        code.vectors(first, end, 2, visit)

    def _by_element(self, outer: Value, line: Value, first: Value, end: Value) -> None:
        """Columns one by one: the places of neighbours lie far apart."""
        code = self.code
        with code.counted(first, end) as at:
            place = code.load(INT64, self.address("index", line + at))
            is_there = place.below(self.size)
            with code.when(is_there):
                x = self.address("x", (outer * self.size + place) * self.inner + at)
                if self.operation == "take":
                    code.store(code.load(self.element, x), self.address("other", line + at))
                else:
                    seen = self.value(line + at)
                    code.store(self.combined(code.load(self.element, x), seen), x)
            self.refuse(is_there.equals(0))


def _bytes_of(element: Kind) -> int:
    return next(size for size, name in _BYTES.items() if name == element.element)

"""Which kernels give what an operator gives, found out by calling it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

import numpy as np

from ..kernels import LARGE, family
from ..memory.dtype import Array
from ..memory.storage import address, root_of
from .direct import Note, explained, formulas_of, notes_of
from .formula import Part, moved
from .record import Operator

__all__ = ["Unforeseen", "arrays_in", "check_training", "notes_of_copy", "noticed"]

ndarray: Final = np.ndarray
MOST_PARTS: Final = 128
"""Parts of a result that are computed one by one."""


class Unforeseen(Exception):
    """A call that is more than a few kernels; `result` is what it gave, if it may be later on that
    it is known: kernels are compiled in threads.  `where` are the places of a program that are so,
    where that is known."""

    def __init__(self, why: str, result: object = None) -> None:
        super().__init__(why)
        self.result = result
        self.where: frozenset[object] = frozenset()


def noticed(entry: Operator, values: Sequence[object]) -> tuple[object, list[Note]]:
    """The result of a call, and the arguments of the calls of `run` that would give it; none of
    those for a view, or for what says how a tensor lies.

    Raises:
        Unforeseen: it is not known, or not yet, that kernels alone give the result.
    """
    check_training(entry, values)
    if entry.random:
        raise Unforeseen(f"`{entry.name}` draws random numbers")
    is_quantized = any(type(each) is not ndarray for each in arrays_in(values))
    if is_quantized and not (entry.quantized_prepared or entry.is_view or entry.asks_form):
        raise Unforeseen(f"`{entry.name}` of quantized tensors is more than kernels")
    result, notes, *_ = family("calls.prepared").seen(entry.forward, values)
    made = list(arrays_in(result))
    if not made:
        if entry.asks_form:
            return result, []
        raise Unforeseen(f"`{entry.name}` looks into tensors")
    operands = {id(root_of(each)) for each in arrays_in(values)}
    if not entry.is_in_place and all(id(root_of(each)) in operands for each in made):
        return result, []
    told = None if is_quantized else _told(entry, values, result)
    found = told if told is not None else notes
    closer, copies = _in_one_piece(values)
    is_all = bool(found) and () not in found
    if is_all and (told is not None or _gives(found, values, made)):
        return result, [_with_numbers(note, values) for note in found]
    if not copies or entry.is_in_place:
        raise Unforeseen(f"`{entry.name}` runs more than kernels", result)
    try:
        again, notes = noticed(entry, closer)
        before = list(chain.from_iterable(notes_of_copy(*pair) for pair in copies))
    except Unforeseen as cause:
        raise Unforeseen(str(cause), result) from None
    if not _are_alike(result, again):
        raise Unforeseen(f"`{entry.name}` asks how its operands lie")
    return again, [*before, *notes]


def check_training(entry: Operator, values: Sequence[object]) -> None:
    """Raise `Unforeseen` where an operator trains, and writes to what it is given."""
    if entry.trains_by:
        names = [each.name for each in entry.signature.arguments]
        place = names.index(entry.trains_by)
        if values[place] and any(each is not None for each in values[place - 2 : place]):
            raise Unforeseen(f"`{entry.name}` trains")


def _in_one_piece(values: Sequence[object]) -> tuple[list[object], list[tuple[Array, Array]]]:
    """The operands with arrays in one piece, and what was copied to what for that: some forwards
    do so by NumPy."""
    copies = list[tuple[Array, Array]]()

    def whole(value: object) -> object:
        if type(value) is list or type(value) is tuple:
            return type(value)(map(whole, value))
        if type(value) is not ndarray or value.flags.c_contiguous or value.size >= LARGE:
            return value
        closer = np.ascontiguousarray(value)
        copies.append((value, closer))
        return closer

    return list(map(whole, values)), copies


def _gives(notes: Sequence[Note], values: Sequence[object], made: Sequence[Array]) -> bool:
    """Whether runs give what was made, whatever lies in the memory that they take besides: it may
    be a copy of an operand, made by NumPy."""
    known = {id(root_of(each)) for each in (*arrays_in(values), *made)}
    others = dict[int, tuple[object, Array]]()

    def elsewhere(word: object) -> object:
        if type(word) is not ndarray or not word.flags.writeable or id(root_of(word)) in known:
            return word
        root = root_of(word)
        _, other = others.setdefault(id(root), (root, _other_bytes(root)))
        return other[address(word) - address(root) :]

    moved = [tuple(map(elsewhere, note)) for note in notes]
    if not others:
        return True
    before = [each.copy("K") for each in made]
    for note in moved:
        family("calls.run").run(*note)
    is_same = all(a.tobytes() == b.tobytes() for a, b in zip(made, before, strict=True))
    for each, was in zip(made, before, strict=True):
        each[...] = was
    return is_same


def _other_bytes(root: Array) -> Array:
    """Memory for an array; a flag or a counter begins as 0."""
    return np.full(root.nbytes, 0 if family("calls.pieces").is_flag(root) else 0xFF, np.uint8)


def _are_alike(one: object, other: object) -> bool:
    """Whether two results lie alike and hold the same bits."""
    pairs = zip(arrays_in(one), arrays_in(other), strict=True)
    return all(
        a.dtype == b.dtype
        and (a.shape, a.strides) == (b.shape, b.strides)
        and a.tobytes() == b.tobytes()
        for a, b in pairs
    )


def _with_numbers(note: Note, values: Sequence[object]) -> Note:
    """A note with the operands themselves where it says that they may be others."""
    given = family("calls.entries").Given
    return tuple(values[each.place] if isinstance(each, given) else each for each in note)


def _told(entry: Operator, values: Sequence[object], result: Array) -> list[Note] | None:
    """What the record says of it."""
    if entry.parts is not None:
        return _of_parts(entry.parts(result, *values), result)
    formulas = formulas_of(entry)
    return explained(entry, formulas, values, result) if formulas else None


def _of_parts(parts: Sequence[Part], result: Array) -> list[Note] | None:
    arrays = family("elementwise.arrays")
    if not 0 < len(parts) <= MOST_PARTS or result.dtype not in arrays.LETTERS:
        return None
    return notes_of(arrays, parts)


def notes_of_copy(source: Array, target: Array) -> list[Note]:
    """What copies one array's elements to another.

    Raises:
        Unforeseen: there is no such kernel, or not yet.
    """
    found = _of_parts([moved(source, target)], target)
    if not found:
        raise Unforeseen("what is written in place cannot be made by kernels")
    return found


def arrays_in(value: object) -> Iterator[Array]:
    """The arrays among values, in lists and tuples too, those of quantized tensors as well."""
    if isinstance(value, ndarray):
        yield value
    elif type(value) is list or type(value) is tuple:
        for each in value:
            yield from arrays_in(each)

"""Which kernels a call of an operator runs, and on what: as calls that are known beforehand are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.kernels import family, lapack
from ..ops.kernels.code.calls.reaches import alike
from ..ops.memory.dtype import Array
from ..ops.table import direct
from ..ops.table.formula import Part, meeting
from ..ops.table.listed import by_elements, listed
from ..ops.table.table import Operator

__all__ = ["Known", "Run", "known_call"]


class Run(NamedTuple):
    """A kernel by its address, its pieces, and its words: what they are, and which."""

    kernel: int
    pieces: int
    words: list[tuple[str, object]]


class Known(NamedTuple):
    """A call: the result, the bytes of the memory it fills, which of these are results, its runs.

    Words are `number`, `constant` (an array), `argument` and `made` (a number and bytes behind),
    `own` (the number of an argument that is a number), `flag` and `counter`.
    """

    result: Any
    sizes: list[int]
    back: list[int]
    runs: list[Run]


def known_call(entry: Operator, values: Sequence[object], free: Sequence[int]) -> Known | str:
    """What a call runs; a text says why it is not known.  The numbers at the places `free` must be
    read whenever it runs.

    `values` are the operator's arguments; its lists of tensors are taken apart.
    """
    form = listed(entry)
    if form is not None:
        values = form.apart(values)
    copies = _copies(values)
    for way in (_by_formula, _by_parts, _by_seeing):
        known = way(entry, copies if not entry.is_in_place else _copies(values), free)
        if known is not None:
            return known
    return "there is no kernel that does it alone"


def _copies(values: Sequence[object]) -> list[object]:
    """The arguments with arrays of their own, which lie as those do."""
    made: dict[int, object] = {}
    for each in values:
        if isinstance(each, np.ndarray) and id(each) not in made:
            made[id(each)] = alike(each, each)
    return [made.get(id(each), each) for each in values]


def _first(entry: Operator, values: Sequence[object]) -> Array | None:
    """What an operator that writes its first argument finds there."""
    first = values[0] if entry.is_in_place else None
    return first.copy("K") if isinstance(first, np.ndarray) else None


def _by_formula(entry: Operator, values: list[object], free: Sequence[int]) -> Known | None:
    """By the kernel of a formula, which may round otherwise than the forward does."""
    arrays = family("elementwise.arrays")
    formula = direct.formula_for(direct.formulas_of(entry), values)
    if arrays is None or formula is None:
        return None
    before = _first(entry, values)
    result = entry.forward(*values)
    if type(result) is not np.ndarray or not result.size:
        return None
    expected = result.copy("K")
    target = values[0]
    if before is not None and isinstance(target, np.ndarray):
        target[...] = before
    else:
        result = np.empty_like(result)
    letter = arrays.LETTERS[result.dtype]
    taken = [values[place] for place in formula.operands]
    joins = meeting(arrays, formula, taken, letter) if letter else ""
    if not joins or any(place not in formula.operands for place in free):
        return None
    places = [
        place if type(each) in (int, float) and not formula.checks else None
        for place, each in zip(formula.operands, taken, strict=True)
    ]
    if any(place not in places for place in free):
        return None
    steps = [(formula.name, joins, tuple(range(len(taken))))]
    note = direct.note_of(arrays, Part(steps, taken, result), places, at_any_cost=True)
    if note is None:
        return None
    _perform([note], values)
    if not np.allclose(result, expected, 1e-3, 1e-4, equal_nan=True):
        return None
    return _entry(values, result, [note], before)


def _by_parts(entry: Operator, values: list[object], free: Sequence[int]) -> Known | None:
    """By copies of the pieces that a result is put together of."""
    if entry.parts is None or free:
        return None
    before = _first(entry, values)
    result = by_elements(entry)(*values)
    notes = direct.notes_of_parts(entry, values, result, at_any_cost=True)
    return None if notes is None else _entry(values, result, notes, before)


def _by_seeing(entry: Operator, values: list[object], free: Sequence[int]) -> Known | None:
    """By what a call of the forward runs, without the functions of NumPy's library: the program
    will not be linked with that."""
    if free:
        return None
    for _ in range(2):  # the first call may keep what later ones find
        before = _first(entry, values)
        with lapack.left_out():
            result, notes, *_ = family("calls.prepared").seen(by_elements(entry), values)
        if notes is not None:
            return _entry(values, result, notes, before) if notes and () not in notes else None
    return None


def _perform(notes: Sequence[tuple[Any, ...]], values: Sequence[object]) -> None:
    module = family("calls.entries")
    for kernel, count, least, *words in notes:
        given = [values[w.place] if type(w) is module.Given else w for w in words]
        module.run(kernel, count, least, *given)


def _entry(
    values: Sequence[object], result: object, notes: Sequence[tuple[object, ...]], before: object
) -> Known | None:
    module = family("calls.entries")

    class Entry(module.Entry):  # type: ignore[misc,name-defined]
        """An entry that is not written for native code, but kept."""

        def __init__(self) -> None:
            self.constants: dict[int, object] = {}
            super().__init__(values, made, notes, before)

        def _word(self, value: object) -> tuple[int, object]:
            if type(value) is np.ndarray and not value.size:  # what a kernel need not fill
                return module._NUMBER, 0
            if type(value) is int and 1 << 40 <= value < 1 << 48:  # it may be an address
                raise module.Unknown
            kind, number = super()._word(value)
            if kind == module._NUMBER and type(value) is np.ndarray:
                self.constants[number] = value
            return kind, number

        def _written(self) -> int:
            self.sizes = [each.nbytes for each in self._made]
            return 0

    made = values[0] if before is not None else result
    try:
        entry = Entry()
    except module.Unknown:
        return None
    return Known(result, entry.sizes, list(entry._back[1:]), [_run(entry, r) for r in entry._runs])


def _run(entry: object, run: tuple[int, int, int, list[tuple[int, Any]]]) -> Run:
    kernel, count, _, words = run
    return Run(kernel, count, [_told(entry, kind, number) for kind, number in words])


def _told(entry: Any, kind: int, number: int) -> tuple[str, object]:
    words = family("calls.entries")
    if kind == words._NUMBER and number in entry.constants:
        return "constant", entry.constants[number]
    if kind in (words._ARGUMENT, words._RESULT):
        place = divmod(number, words._PLACES)[::-1]
        return ("argument" if kind == words._ARGUMENT else "made"), place
    names = {words._NUMBER: "number", words._FLAG: "flag", words._COUNTER: "counter"}
    return names.get(kind, "own"), number

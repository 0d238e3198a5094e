"""How an operator is computed element by element, for the kernels that join several operators.

    @operator("aten::add.Tensor(...) -> Tensor", formula=formula("add", 0, 1, at={2: 1}))

The formula itself is in the table of `kernels/code/functions/formulas.py`, where eager calls of
large tensors find it too.  Its result has the dtype and strides that the forward gives for
such operands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, ModuleType
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from ..memory.dtype import Array
from .promotion import result_dtype

__all__ = [
    *("Formula", "Meeting", "Part", "as_known", "made_with", "filled_with", "formula"),
    *("letter_of", "meeting", "moved"),
]

Meeting = Literal["result", "operands", "own", "bools"]

_NOTHING: Final[Mapping[int, object]] = MappingProxyType({})


class Formula(NamedTuple):
    """A formula that stands for an operator: its `name`, and the places of its operands among the
    operator's, which are tensors or numbers.

    It stands there if the operands at the places `at` are these constants.  It computes in the
    dtype `meets` says: that of the result, the one in which the operands meet, that of the result
    if the first operand has it, or in bools.  The forward of one that `checks` refuses some
    numbers, so what is known of one number tells nothing of another.
    """

    name: str
    operands: tuple[int, ...]
    meets: Meeting
    at: Mapping[int, object]
    checks: bool


class Part(NamedTuple):
    """A part of an operator's result: steps of formulas, each with the letter of the dtype it
    computes in ("" that of the result) and its operands, of which those given come first, then the
    steps; what they are of; and where it is."""

    steps: Sequence[tuple[str, str, tuple[int, ...]]]
    operands: Sequence[object]
    target: Array


def moved(source: object, target: Array) -> Part:
    """The part that holds elements of an operand, as they are."""
    return Part([("same", "", (0,))], [source], target)


def filled_with(number: object, target: Array) -> Part:
    """The part that holds a number everywhere."""
    return Part([("same", "", (0,))], [number], target)


_FEW: Final = 1024
"""Elements of a new tensor that are written at once: of more, memory may come as zeros, or a copy
would be kept for nothing."""


def made_with(number: object) -> Callable[..., list[Part]]:
    """What says that a new tensor holds a number everywhere: of zeros one of few elements."""

    def parts(result: Array, *_: object) -> list[Part]:
        return [filled_with(number, result)] if number != 0 or result.size <= _FEW else []

    return parts


def as_known(result: Array, *_: object) -> list[Part]:
    """The part that says that calls with the same numbers give the same few elements."""
    if result.size > _FEW:
        return []
    kept = result.copy()
    kept.setflags(write=False)
    return [moved(kept, result)]


def formula(
    name: str,
    *operands: int,
    meets: Meeting = "result",
    at: Mapping[int, object] = _NOTHING,
    checks: bool = False,
) -> tuple[Formula, ...]:
    """One formula of an operator: see `Formula`.  Those of other constants are added."""
    return (Formula(name, operands or (0,), meets, at, checks),)


def meeting(arrays: ModuleType, formula: Formula, values: Sequence[Any], result: str) -> str:
    """The letter of the dtype that a formula computes in; empty if it cannot.

    `arrays` are the kernels that know the formulas, `result` is the letter of the result's dtype.
    """
    letters = [letter_of(arrays, each) for each in values]
    if not all(letters):
        return ""
    if formula.meets == "operands":
        found = arrays.LETTERS[result_dtype(values)]
    elif formula.meets == "own" and letters[0] != result:
        found = ""
    else:
        found = "?" if formula.meets == "bools" else result
    known = arrays.FORMULAS[formula.name]
    if found not in known.of or (found in "bhilB" and "D" in letters):
        return ""
    if found in _HALVES and formula.name != "same" and not _are_alike(letters, found, known.masks):
        return ""
    return str(found)


_HALVES: Final = "eE"


def _are_alike(letters: Sequence[str], found: str, masks: Sequence[int]) -> bool:
    """Whether all operands but numbers and masks are of a 16-bit dtype: what others are rounded to
    before depends on the operator."""
    return all(each in f"{found}DL" for at, each in enumerate(letters) if at not in masks)


def letter_of(arrays: ModuleType, value: object) -> str:
    """The letter of an operand; empty if formulas take none such."""
    if type(value) is np.ndarray:
        return str(arrays.LETTERS[value.dtype])
    return {int: "L", bool: "L", float: "D"}.get(type(value), "")

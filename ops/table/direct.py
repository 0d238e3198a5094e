"""Operators by their kernels, called without a detour.

What a call of an operator makes is found out by its forward, once for operands of some dtypes,
sizes and strides.  The next such calls are done by the kernels that it ran, or, of a pointwise
operator, by that of its formula, if it gives the same bits.  Where the compiler is needed for that,
it runs in a thread, and the forward does the work meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ...frontend.locks import after_fork
from ...frontend.started import started
from ..kernels import ALWAYS, LARGE, family
from .formula import Formula, letter_of, meeting
from .record import Operator

__all__ = ["NAMES", "direct_calls", "direct_form", "has_direct_form", "is_there", "known_calls"]

_MOST: Final = 300
"""Kernels that a process compiles for this; nothing frees them."""

_KNOWN: Final[dict[Operator, Callable[..., Any]]] = {}
NAMES: Final[dict[int, str]] = {}
"""The operators by the identity of what does their calls natively, for who listens to calls."""
_MADE: Final[set[object]] = set()
_UNDER_WAY: Final[set[object]] = set()
"""What threads are compiling; a forked child begins anew."""

after_fork(_UNDER_WAY.clear)


def direct_form(entry: Operator) -> Callable[..., object]:
    """The forward of an operator that has formulas, or what does its calls natively."""
    known = _KNOWN.get(entry)
    if known is None:
        module = family("prepared")
        if module is None:
            return entry.forward
        known = _KNOWN[entry] = module.prepared(
            entry.forward, _explain(entry), writes=entry.is_in_place
        )
        NAMES[id(known)] = entry.name
    return known


def direct_calls(entry: Operator, cool: Callable[[], object]) -> Any:
    """The same for one place in a program: an object whose `call` it is, which the caller keeps.

    `cool` is called when that does not pay.  None where there is no native code.
    """
    return known_calls(entry.forward, cool, _explain(entry), writes=entry.is_in_place)


def known_calls(
    function: Callable[..., Any],
    cool: Callable[[], object],
    explain: Any = None,
    *,
    writes: bool = False,
) -> Any:
    """The same of a function (see `prepared` in `kernels/code/prepared.py`)."""
    module = family("prepared")
    if module is None or module.CREW is None:
        return None
    return module.Known(function, explain, cool, writes=writes)


def has_direct_form(entry: Operator) -> bool:
    """Whether native code may learn what calls of an operator do."""
    return bool(entry.formula) or entry.prepared


def _explain(entry: Operator) -> Any:
    """How it is told; None where it is seen."""
    return partial(_explained, entry) if entry.formula else None


def _explained(entry: Operator, values: Sequence[Any], result: Any) -> Any:
    """The run of a kernel that gives the result; None if there is none."""
    arrays, prepared = family("arrays"), family("prepared")
    if arrays is None or type(result) is not np.ndarray or not result.size:
        return None
    letter, formula = arrays.LETTERS.get(result.dtype), _formula_for(entry, values)
    if letter is None or formula is None:
        return None
    taken = [values[place] for place in formula.operands]
    known = arrays.FORMULAS[formula.name]
    joins = meeting(arrays, formula, taken, letter)
    is_always = formula.name in ALWAYS and joins == letter == "f"
    if joins in ("f", "d") and not _brings(joins, taken):
        return None
    if not joins or not (known.is_exact or is_always or result.size >= LARGE):
        return None
    seen = tuple(_lies(arrays, each, result.shape) for each in taken)
    way = arrays.way_of(result.shape, result.strides, seen)
    letters = "".join(letter_of(arrays, each) for each in taken)
    step = arrays.Step(formula.name, joins, tuple(range(len(taken))))
    expression = arrays.Expression(letters, (step,), ((0, letter),))
    if not way.is_quick or not is_there(arrays, (expression, way.places, way.rank)):
        return None
    kernel = arrays.expression_kernel(expression, way.places, way.rank)
    operands = [
        prepared.Given(place) if type(each) in (int, float) and not formula.checks else each
        for place, each in zip(formula.operands, taken, strict=True)
    ]
    return [(kernel, way.size, way.least, way.geometry, *operands, result)]


def _brings(letter: str, operands: Sequence[object]) -> bool:
    """Whether an operand has the dtype by itself: else it may come from the default dtype."""
    arrays = [each for each in operands if type(each) is np.ndarray]
    deep = [each for each in arrays if each.ndim] or arrays
    return any(each.dtype.char == letter for each in deep)


def _formula_for(entry: Operator, values: Sequence[object]) -> Formula | None:
    for each in entry.formula:
        wanted = each.at.items()
        if all(type(values[at]) is type(one) and values[at] == one for at, one in wanted):
            return each
    return None


def _lies(arrays: Any, value: Any, shape: tuple[int, ...]) -> Any:
    """How an operand lies, as `way_of` is told."""
    if type(value) is not np.ndarray:
        return None
    return value.itemsize, arrays.spread_strides(value.shape, value.strides, shape)


def is_there(arrays: Any, wanted: tuple[Any, str, int]) -> bool:
    """Whether a kernel need not be compiled; if it need, that begins."""
    if wanted in _MADE or arrays.is_at_hand(*wanted):
        return True
    if wanted not in _UNDER_WAY and len(_MADE) + len(_UNDER_WAY) < _MOST:
        _UNDER_WAY.add(wanted)
        if started("rushlight-compiling", _make, arrays, wanted) is None:
            _UNDER_WAY.discard(wanted)
    return False


def _make(arrays: Any, wanted: tuple[Any, str, int]) -> None:
    try:
        arrays.expression_kernel(*wanted)
        _MADE.add(wanted)
    except (OSError, RuntimeError):  # no memory of ours may be executed, or no compiler
        return  # it stays under way, and is not tried again
    _UNDER_WAY.discard(wanted)

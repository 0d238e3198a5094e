"""Expressions of formulas over arrays as they lie, shared by several threads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from ....memory.dtype import Array, Dtype
from ... import LARGE, is_last_whole, unfilled
from ..calls.run import run
from ..functions.formulas import FORMULAS
from ..language.target import host
from ..language.text import LANES
from .loops import (
    EVERY,
    FOLDED,
    SIZES,
    TURNED,
    Expression,
    Step,
    expression_kernel,
    goes_by_rows,
    is_at_hand,
    is_folded,
)

__all__ = [
    "FORMULAS",
    "LETTERS",
    "Expression",
    "Ordered",
    "Step",
    "Way",
    "apply",
    "cast",
    "compute",
    "copied_by_rows",
    "evaluate",
    "expression_kernel",
    "in_order",
    "is_at_hand",
    "moved",
    "run",
    "spread_strides",
    "way_of",
]


class _Letters(dict[Dtype, str]):
    """Letters by dtype; that of bfloat16 is found by its name, so that nobody has to load it."""

    def __missing__(self, dtype: Dtype) -> str:
        if dtype.name != "bfloat16":
            return ""
        self[dtype] = "E"
        return "E"


LETTERS: Final = _Letters(
    {np.dtype(name): np.dtype(name).char for name in "f4 f8 i1 i2 i4 u1 ?".split()}
)
"""The letters of the dtypes that formulas are of; it says "" of others."""
LETTERS[np.dtype(np.int64)] = "l"
if host().has_halves:
    LETTERS[np.dtype(np.float16)] = "e"

_LEAST: Final = 1 << 15
"""Elements that are worth another thread."""

_SHORT_ROW: Final = 16
"""Rows of fewer elements cost more to begin than to compute."""

Strides = tuple[int, ...]

Ordered = tuple[str, str, tuple[int, ...]]
"""What a `Step` is made of."""


class Way(NamedTuple):
    """How arrays are gone through together: what `expression_kernel` and kernels are told of it."""

    places: str
    rank: int
    geometry: Array
    size: int
    least: int

    @property
    def is_quick(self) -> bool:
        """Whether rows are long enough."""
        return self.rank == 1 or int(self.geometry[0]) >= _SHORT_ROW


_ALONG: Final = {1: "c", -1: "b"} | {every: letter for letter, every in EVERY.items()}
"""How an operand lies by the elements from one to the next."""

_SHORT: Final = {size: letter for letter, size in SIZES.items()}
_TURNED: Final = {size: letter for letter, size in TURNED.items()}

Lies = tuple[int, Strides]
"""The size of an element in bytes, and the strides."""


@lru_cache(4096)
def way_of(
    shape: tuple[int, ...],
    result: Strides,
    operands: tuple[Lies | None, ...],
    target: Lies | None = None,
) -> Way:
    """The way through arrays of a shape, in the order of the result's strides.

    Of each operand it is told how it lies, as one that is broadcast to the shape; None of a number.
    The result lies in one piece, or as `target` says.
    """
    dims = [dim for dim in range(len(shape)) if shape[dim] > 1]
    dims.sort(key=lambda dim: result[dim])
    if target is not None:
        operands = (*operands, target)
    known = [strides[1] for strides in operands if strides is not None]
    sizes, joined = list[int](), list[list[int]]()
    for dim in dims:
        steps = [strides[dim] for strides in known]
        if sizes and steps == [step * sizes[-1] for step in joined[-1]]:
            sizes[-1] *= shape[dim]
        else:
            sizes.append(shape[dim])
            joined.append(steps)
    if not sizes:  # single elements, which lie like the first one of several: a kernel does both
        sizes, joined = [1], [[each[0] for each in operands if each is not None]]
    columns = iter(list(zip(*joined, strict=True)) if known else [])
    steps_of: list[Strides] = [(0,) if each is None else next(columns) for each in operands]
    widths = [0 if each is None else each[0] for each in operands]
    short = sizes[0] if len(sizes) > 1 and sizes[0] < _SHORT_ROW else 0
    if short:
        sizes[:2] = [short * sizes[1]]
    pairs = zip(steps_of, widths, strict=True)
    places = "".join([_place(steps, width, short) for steps, width in pairs])
    if target is not None and places[-1] in "km":  # a single element; squares are read alone
        places = f"{places[:-1]}{'c' if places[-1] == 'k' else 's'}"
    count, rank = 0 if 0 in shape else int(np.prod(sizes)), len(sizes)
    geometry: list[int] = [*sizes, *([short] if is_folded(places) else [])]
    for own, place in zip(steps_of, places, strict=True):
        if place != "k":
            geometry += own[:1] + own[2:] if short and place not in FOLDED else own
    words = np.array(geometry, np.int64)
    words.setflags(write=False)
    if is_folded(places):
        return Way(places, rank, words, count // short, _LEAST // short + 1)
    if goes_by_rows(places, rank):
        return Way(places, rank, words, count // sizes[0], _LEAST // sizes[0] + 1)
    return Way(places, rank, words, count, _LEAST)


def _place(steps: tuple[int, ...], width: int, short: int) -> str:
    """The letter of how an operand lies (see `PLACES`) whose elements are of so many bytes, where
    rows of `short` elements, if there are such, are one with the dimension around them."""
    if not any(steps):
        return "k"
    if short and steps[1] != short * steps[0]:
        if not steps[1] and not LANES % short:
            return "p"
        known = _SHORT if steps[0] == width else _TURNED if steps[1] == width else {}
        return known.get(short, "f")
    if not steps[0]:
        return "r"
    strided = "m" if not short and len(steps) > 1 and steps[1] == width else "s"
    return strided if steps[0] % width else _ALONG.get(steps[0] // width, strided)


def spread_strides(sizes: tuple[int, ...], strides: Strides, shape: tuple[int, ...]) -> Strides:
    """The strides of an array that is broadcast to a shape."""
    if sizes == shape:
        return strides
    pairs = zip(sizes, strides, strict=True)
    found = tuple(step if size > 1 else 0 for size, step in pairs)
    return (0,) * (len(shape) - len(sizes)) + found


def compute(
    expression: Expression, way: Way, operands: Sequence[object], results: Sequence[object]
) -> None:
    """Write what an expression is of operands (arrays that no other thread can change, and
    numbers) to results of the right sizes, dtypes and strides."""
    kernel = expression_kernel(expression, way.places, way.rank)
    run(kernel, way.size, way.least, way.geometry, *operands, *results)


def evaluate(
    steps: Sequence[Ordered], letter: str, *operands: Any, in_format: bool = False
) -> Array:
    """What steps of formulas give of arrays with letters, and of Python's numbers, in a dtype.

    Each step names its formula, the dtype it computes in and its operands, of which those given
    come first.  The first array has the shape that the others broadcast to; where the result is
    `in_format`, it has channels last if that has.
    """
    operands = tuple([each[...] if type(each) is np.ndarray else each for each in operands])
    first = operands[0]
    is_last = in_format and is_last_whole(first)
    out = unfilled(first.shape, _DTYPES.get(letter, first.dtype), is_last=is_last)
    lies = tuple([_lies(each, first.shape) for each in operands])
    way = way_of(out.shape, out.strides, lies)
    letters = "".join([_letter(each) for each in operands])
    kernel = _evaluating(letters, tuple(steps), letter, way.places, way.rank)
    run(kernel, way.size, way.least, way.geometry, *operands, out)
    return out


_DTYPES: Final = {
    **{"f": np.float32, "d": np.float64, "?": np.bool_},
    **{"B": np.uint8, "b": np.int8},
}
"""The dtypes of results, where they are not that of the first operand."""


def _lies(value: object, shape: tuple[int, ...]) -> Lies | None:
    if type(value) is not np.ndarray:
        return None
    return value.itemsize, spread_strides(value.shape, value.strides, shape)


def _letter(value: object) -> str:
    if type(value) is np.ndarray:
        return LETTERS[value.dtype]
    return "D" if type(value) is float else "L"


@lru_cache(256)
def _evaluating(
    letters: str,
    steps: tuple[Ordered, ...],
    letter: str,
    places: str,
    rank: int,
) -> int:
    """The kernel of some steps."""
    made = tuple(Step(*each) for each in steps)
    return expression_kernel(Expression(letters, made, ((len(made) - 1, letter),)), places, rank)


def cast(x: Array, dtype: Dtype) -> Array | None:
    """A copy in another dtype that lies as the array does, but in one piece; None where one of both
    has no letter, or rows are too short for that to pay."""
    x = x[...]
    own, letter = LETTERS[x.dtype], LETTERS[dtype]
    if not own or not letter:
        return None
    out = np.empty_like(x, dtype)
    way = way_of(out.shape, out.strides, ((x.itemsize, x.strides),))
    if not way.is_quick:
        return None
    run(_casting(own, letter, way.places, way.rank), way.size, way.least, way.geometry, x, out)
    return out


def in_order(x: Array) -> Array | None:
    """A contiguous copy; None where the dtype has no letter, or where rows of a large array are too
    short for that to pay."""
    x = x[...]
    if x.dtype == _COMPLEX64:
        words = in_order(x.view(np.int64))
        return None if words is None else words.view(_COMPLEX64)
    letter = LETTERS[x.dtype]
    if not letter:
        return None
    out = np.empty(x.shape, x.dtype)
    way = way_of(out.shape, out.strides, ((x.itemsize, x.strides),))
    if not (way.is_quick or x.size < LARGE):
        return None
    run(_casting(letter, letter, way.places, way.rank), way.size, way.least, way.geometry, x, out)
    return out


def moved(x: Array, out: Array, *, is_part: bool = False) -> bool:
    """Whether the elements of an array were written to another of its shape and dtype, which lies
    in one piece, or is a part of such a one; not where the dtype has no letter, or rows of a large
    array are too short."""
    x = x[...]
    if x.dtype == out.dtype == _COMPLEX64:
        return moved(x.view(np.int64), out.view(np.int64), is_part=is_part)
    letter = LETTERS[x.dtype]
    if not letter or x.dtype is not out.dtype:
        return False
    target = (out.itemsize, out.strides) if is_part else None
    way = way_of(out.shape, out.strides, ((x.itemsize, x.strides),), target)
    if not (way.is_quick or x.size < LARGE):
        return False
    run(_casting(letter, letter, way.places, way.rank), way.size, way.least, way.geometry, x, out)
    return True


def copied_by_rows(x: Array) -> Array | None:
    """The same of a large array; 16-bit elements are moved as bits, whatever they mean."""
    x = x[...]
    if x.itemsize != 2 or not LETTERS[x.dtype]:
        return in_order(x)
    made = in_order(x.view(np.int16))
    return None if made is None else made.view(x.dtype)


_MOVED_AS: Final = {"f": "i", "d": "l", "B": "b"}


@lru_cache(256)
def _casting(own: str, letter: str, places: str, rank: int) -> int:
    """The kernel of a cast; what only moves goes by the sizes of elements, whatever they mean."""
    if own == letter:
        own = letter = _MOVED_AS.get(letter, letter)
    step = Step("same", letter, (0,))
    return expression_kernel(Expression(own, (step,), ((0, letter),)), places, rank)


def apply(name: str, operands: tuple[Array, ...]) -> Array | None:
    """A formula of arrays of one dtype, but for masks; None where there is none of that dtype."""
    formula = FORMULAS[name]
    operands = tuple([each[...] for each in operands])  # which no other thread can change
    dtype = operands[-1 if 0 in formula.masks else 0].dtype
    letter = LETTERS[dtype]
    if not letter or letter not in formula.of:
        return None
    for place, each in enumerate(operands):
        if each.dtype is not (_BOOL if place in formula.masks else dtype):
            return None
    out = _result(operands, dtype)
    if out is None:
        return None
    shape = out.shape
    seen = tuple(
        (each.itemsize, spread_strides(each.shape, each.strides, shape)) for each in operands
    )
    way = way_of(shape, out.strides, seen)
    if not way.is_quick:
        if formula.is_exact:
            return None
        operands = tuple([_alike(each, out) for each in operands])
        way = way_of(shape, out.strides, tuple((each.itemsize, each.strides) for each in operands))
    letters = "".join([LETTERS[each.dtype] for each in operands])
    kernel = _alone(name, letter, letters, way.places, way.rank)
    run(kernel, way.size, way.least, way.geometry, *operands, out)
    return out


@lru_cache(1024)
def _alone(name: str, letter: str, letters: str, places: str, rank: int) -> int:
    """The kernel of one formula, whose result is of the dtype that it computes in."""
    step = Step(name, letter, tuple(range(len(letters))))
    return expression_kernel(Expression(letters, (step,), ((0, letter),)), places, rank)


_BOOL: Final = np.dtype(np.bool_)
_COMPLEX64: Final = np.dtype(np.complex64)


def _alike(array: Array, result: Array) -> Array:
    """A copy that lies like the result."""
    copy = np.empty_like(result, array.dtype)
    copy[...] = array
    return copy


def _result(operands: tuple[Array, ...], dtype: Dtype) -> Array | None:
    """An unfilled array for the result, as NumPy lays it out; None if shapes do not fit."""
    if len(operands) == 1 and operands[0].flags.c_contiguous:
        return np.empty(operands[0].shape, dtype)
    flags = [*(["readonly"] for _ in operands), ["writeonly", "allocate"]]
    dtypes = [*(None for _ in operands), dtype]
    try:
        made = np.nditer((*operands, None), ("external_loop",), flags, dtypes)  # type: ignore[arg-type]
    except ValueError:
        return None
    return made.operands[-1]

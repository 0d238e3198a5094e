"""Resizing: the nearest element, linear, cubic, and antialiased filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import floor
from typing import Any, Final

import numpy as np

from ...frontend.foundations.declared import Declared
from ..kernels import is_last_whole
from ..memory.counts import check_room
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError
from ..memory.remembered import remembered
from ..shapes.windows import Ints, ends_in_channels, follow_format, wide_dtype
from ..table.pointwise import cast
from ..table.record import Known
from ..table.refusals import Refusal, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .resample import (
    Filter,
    Taps,
    apply_taps,
    apply_to_bytes,
    cubic,
    in_shares_of,
    linear,
    nearest,
    smooth,
)

__all__ = ["resized", "resizing", "shares"]

Scales = Sequence[float | None]
_FLOAT64: Final = np.dtype(np.float64)
MakeTaps = Callable[[int, int, bool, float | None, Dtype], Taps]
_MAKERS: Final[Declared[str, tuple[MakeTaps, int]]] = Declared()
"""What makes the taps of operators, and of how many dimensions."""


# --------------------------------------------------------------------------- filters


def _triangle(x: Array) -> Array:
    return np.asarray(np.maximum(1 - np.abs(x), 0))


def _bicubic(x: Array) -> Array:
    a = -0.5
    x = np.abs(x)
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x < 1, inner, np.where(x < 2, outer, 0))


def _lanczos(x: Array) -> Array:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _smooth(filter: Filter) -> MakeTaps:
    def make(size: int, count: int, align: bool, scale: float | None, dtype: Dtype) -> Taps:
        return smooth(size, count, align, scale, dtype, filter)

    return make


def _nearest(exact: bool, shortcut: bool = False) -> MakeTaps:
    def make(size: int, count: int, align: bool, scale: float | None, dtype: Dtype) -> Taps:
        return nearest(size, count, scale, dtype, exact=exact, shortcut=shortcut)

    return make


# --------------------------------------------------------------------------- resizing


def resized(
    input: Array, output: Ints, align: bool, scales: Scales, make: MakeTaps, name: str
) -> Array:
    """The input with its space resized; `scales` may say by what the sizes were multiplied."""
    _check(input, output)
    is_bytes = input.dtype == np.uint8
    is_nearest = "nearest" in name
    if not (is_bytes or dtype_of(input).is_floating_point):
        raise not_implemented("compute_indices_weights_" + name, input.dtype)
    wide = input.dtype
    if not is_nearest:
        wide = wide_dtype(input.dtype)
    check_room((*input.shape[:2], *output), input.dtype)
    is_last = is_last_whole(input)  # which is resized as it lies
    begun = result = cast(np.moveaxis(input, 1, -1) if is_last else input, wide)
    for place in reversed(range(len(output))):
        axis = place + (1 if is_last else 2)
        size, count = input.shape[2 + place], output[place]
        # Equal sizes are copied whatever the scale says, except by these.
        if size != count or make is cubic or is_nearest:
            if is_bytes and not is_nearest:
                made = make(size, count, align, scales[place], _FLOAT64)
                result = apply_to_bytes(result, axis, made)
            else:
                held = input.dtype if name in _ROUNDED_SHARES and wide is not input.dtype else None
                made = _known(make, size, count, align, scales[place], wide, held)
                result = apply_taps(result, axis, made)
    if result is begun and np.may_share_memory(result, input):
        result = result.copy()
    result = cast(result, input.dtype)
    if not is_last:
        return follow_format(result, input)
    result = np.moveaxis(result, -1, 1)
    return result if ends_in_channels(input) else np.ascontiguousarray(result)


@remembered(1 << 21)
def _known(
    make: MakeTaps,
    size: int,
    count: int,
    align: bool,
    scale: float | None,
    dtype: Dtype,
    held: Dtype | None,
) -> Taps:
    """The taps of sizes as arrays that nobody can write to, with shares that a 16-bit dtype holds
    if one is given."""
    made = make(size, count, align, scale, dtype)
    if held is not None:
        made = in_shares_of(made, held)
    places = np.array(made.places, np.int64)
    places.setflags(write=False)
    if made.weights is None:
        return Taps(places)
    weights = np.array(made.weights, dtype)
    weights.setflags(write=False)
    return Taps(places, weights)


def resizing() -> dict[str, int]:
    """The operators that resize, and how many dimensions they do."""
    return {name: dims for name, (_, dims) in _MAKERS.items()}


def shares(name: str, size: int, count: int, align: bool, scale: float | None) -> Taps:
    """What each of `count` results along a dimension is made of by an operator: taps in float64
    with a weight for every place."""
    make, _ = _MAKERS[name]
    is_copied = size == count and make is not cubic and "nearest" not in name
    taps = Taps([np.arange(size)]) if is_copied else make(size, count, align, scale, _FLOAT64)
    places = np.array(taps.places, np.int64)
    return Taps(places, np.ones(places.shape) if taps.weights is None else np.array(taps.weights))


_ROUNDED_SHARES: Final = ("bicubic", "linear", "trilinear")
"""Of 16-bit floats; the others weight in float32."""

_LETTERS: Final = {1: ("W",), 2: ("H", "W"), 3: ("D", "H", "W")}


def _named(sizes: Ints) -> str:
    return ", ".join(f"{n}: {s}" for n, s in zip(_LETTERS[len(sizes)], sizes, strict=True))


def _check(input: Array, output: Ints) -> None:
    dims = len(output)
    if input.ndim != dims + 2:
        raise OperatorError(
            f"It is expected input_size equals to {dims + 2}, but got size {input.ndim}",
            code="shape-mismatch",
            headline=f"inputs of {dims + 2} dimensions are resized here, not of {input.ndim}",
            roles={"self": f"has shape {list(input.shape)}"},
        )
    space = input.shape[2:]
    if any(size <= 0 for size in (*space, *output)):
        raise OperatorError(
            "Input and output sizes should be greater than 0, but got input "
            f"({_named(space)}) {'and ' if dims == 1 else ''}output ({_named(output)})",
            code="shape-mismatch",
        )
    if not input.size and not all(input.shape[1:]):
        raise OperatorError(
            f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes "
            f"{list(input.shape)}",
            code="shape-mismatch",
        )


def _sized(
    input: Array, dims: int, output: Ints | None, factors: Sequence[float] | None
) -> tuple[Ints, Scales]:
    """The output's sizes and the scales, one of which is given."""
    if output is not None:
        if factors is not None:
            raise OperatorError("Must specify exactly one of output_size and scale_factors")
        _check_count(output, dims)
        return output, [None] * dims
    if factors is None:
        raise OperatorError("Must specify exactly one of output_size and scale_factors")
    space = input.shape[2:]
    if len(factors) != len(space):
        raise OperatorError("Must specify as many scale_factors as there are dimensions of space")
    if len(space) != dims:
        _check_count(space, dims)
    sizes = [float(np.float64(s) * f) for s, f in zip(space, factors, strict=True)]
    if not all(abs(size) < 1 << 62 for size in sizes):
        raise OperatorError("value cannot be converted to type int64_t without overflow")
    return list(map(floor, sizes)), factors


def _check_count(output: Ints, dims: int) -> None:
    if len(output) != dims:
        raise OperatorError(
            f"It is expected output_size equals to {dims}, but got size {len(output)}"
        )


def _declare(
    name: str,
    dims: int,
    aligned: bool,
    make: MakeTaps,
    refuses: Refusal | None = None,
    order: str = "",
) -> None:
    """Declare an operator in both forms: sizes with scales, or sizes or scales."""
    short = name.strip("_").removeprefix("upsample_").rstrip("d123456789").removesuffix("2d_aa")
    _MAKERS.put([name], (make, dims))

    def plain(self: Array, output_size: Ints, *rest: Any) -> Array:
        align, scales = (rest[0], rest[1:]) if aligned else (False, rest)
        _check_count(output_size, dims)
        return resized(self, output_size, align, scales, make, short)

    def either(input: Array, output_size: Ints | None, *rest: Any) -> Array:
        align, factors = (rest[0], rest[1]) if aligned else (False, rest[0])
        output, scales = _sized(input, dims, output_size, factors)
        return resized(input, output, align, scales, make, short)

    corners = "bool align_corners, " if aligned else ""
    letters = {1: ("",), 2: ("_h", "_w"), 3: ("_d", "_h", "_w")}[dims]
    scales = ", ".join(f"float? scales{letter}=None" for letter in letters)
    known: Known = {"face": "layer", "order": order, "rows": rows_of("self"), "prepared": True}
    if refuses is not None:
        known["refuses"] = refuses
    known["traced"] = "" if name.startswith("_") else "factors"
    operator(
        f"aten::{name}(Tensor self, SymInt[{dims}] output_size, {corners}{scales}) -> Tensor",
        **known,
    )(plain)
    known["rows"], known["traced"] = rows_of("input"), ""
    known["out"] = "vec_out" if name in ("upsample_nearest2d", "upsample_bilinear2d") else ""
    operator(
        f"aten::{name}.vec(Tensor input, SymInt[]? output_size, {corners}"
        "float[]? scale_factors) -> Tensor",
        **known,
    )(either)


for _dims in (1, 2, 3):
    _declare(f"upsample_nearest{_dims}d", _dims, False, _nearest(False, _dims < 3))
    _declare(f"_upsample_nearest_exact{_dims}d", _dims, False, _nearest(True), order="out vec")
_NO_BYTES: Final = Refusal("=Byte", "compute_indices_weights_linear")
_NO_HALVES: Final = Refusal("h", "compute_index_ranges_weights")
_declare("upsample_linear1d", 1, True, linear, _NO_BYTES)
_declare("upsample_bilinear2d", 2, True, linear)
_declare("upsample_trilinear3d", 3, True, linear, _NO_BYTES)
_declare("upsample_bicubic2d", 2, True, cubic)
_declare("_upsample_bilinear2d_aa", 2, True, _smooth(Filter(2, _triangle)), _NO_HALVES)
_declare("_upsample_bicubic2d_aa", 2, True, _smooth(Filter(4, _bicubic)), _NO_HALVES)
_declare("_upsample_lanczos2d_aa", 2, True, _smooth(Filter(6, _lanczos)), order="out vec")

"""New tensors: filled, counted, copied in kind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.convert import in_format
from ..memory.counts import MOST_DIMENSIONS, check_count, check_storage
from ..memory.determinism import unfilled
from ..memory.dtype import (
    DTYPES,
    Array,
    Device,
    Dtype,
    Scalar,
    default_dtype,
    dtype_of,
    numpy_dtype,
)
from ..memory.errors import BadNumber, OperatorError
from ..memory.remembered import remembered
from ..table.formula import as_known, filled_with, made_with
from ..table.inline import native
from ..table.layouts import like
from ..table.out_dtypes import MADE
from ..table.pointwise import number_as, number_in, number_to_fill, scalar_of
from ..table.promotion import number_dtype
from ..table.refusals import check_dtype, check_number, cpp_name, letter, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .equal_steps import equal_steps

__all__ = ["OPTIONS", "arange", "check_sizes", "float_dtype"]

OPTIONS: Final = (
    "*, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
)
"""The options that every factory takes."""

_LIKE: Final = OPTIONS + ", MemoryFormat? memory_format=None"
_INT64: Final = np.dtype(np.int64)

_COUNTED_IN: Final[dict[str, Dtype]] = {
    **dict.fromkeys("bi", _INT64),
    **{"h": np.dtype(np.float32), "f": np.dtype(np.float64)},
}
"""What `arange` counts in, by the class of its dtype."""
_LONG: Final = DTYPES["int64"].number
_EXACT: Final = 1 << 62
_BEYOND: Final = 1 << 63

Sizes = Sequence[int]


_MANY: Final = 2**31


def check_sizes(size: Sizes, name: str) -> Sizes:
    """The sizes of a new tensor.

    Raises:
        OperatorError: one is negative, or they are too large.
    """
    count = 1
    for dim in size:
        if count <= _MANY:  # of many sizes it is a number that takes long
            count *= dim or 1
        if dim < 0:
            raise OperatorError(
                f"{name}: Dimension size must be non-negative."
                if name == "zeros"
                else f"Trying to create tensor with negative dimension {dim}: {list(size)}",
                code="shape-mismatch",
                headline=f"a size cannot be negative: {list(size)}",
            )
    if count > _MANY or len(size) > MOST_DIMENSIONS:
        check_storage(list(size))
    return size


def float_dtype(dtype: int | None) -> Dtype:
    """The array dtype of an optional dtype number: the default dtype for none."""
    return default_dtype.float if dtype is None else numpy_dtype(dtype)


# --------------------------------------------------------------------------- filled


@operator(
    f"aten::zeros(SymInt[] size, {OPTIONS}) -> Tensor",
    parts=made_with(0),
    out_dtype=MADE,
    native=native("zeros_tensor({0}, {1})", ("{2} is None", "{4} is None"), gives="made"),
)
def zeros(size: Sizes, dtype: int | None, *_: object) -> Array:
    return np.zeros(check_sizes(size, "zeros"), float_dtype(dtype))


@operator(
    f"aten::ones(SymInt[] size, {OPTIONS}) -> Tensor",
    parts=made_with(1),
    out_dtype=MADE,
    native=native("ones_tensor({0}, {1})", ("{2} is None", "{4} is None"), gives="made"),
)
def ones(
    size: Sizes,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    return np.ones(check_sizes(size, "ones"), float_dtype(dtype))


@operator(
    f"aten::full(SymInt[] size, Scalar fill_value, {OPTIONS}) -> Tensor",
    parts=lambda result, size, value, *_: made_with(value)(result),
    out_dtype=MADE,
    native=native(
        "full_tensor({0}, {1})",
        of=[f"int[] {kind} none none none none" for kind in ("int", "float", "bool")],
        gives="made",
    ),
)
def full(
    size: Sizes,
    fill_value: Scalar,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    wanted = number_dtype(fill_value) if dtype is None else numpy_dtype(dtype)
    made = np.empty(check_sizes(size, "full"), wanted)
    made.fill(number_to_fill(fill_value, wanted, made.size))
    return made


@operator(
    f"aten::empty.memory_format(SymInt[] size, {OPTIONS}, MemoryFormat? memory_format=None) "
    "-> Tensor",
    undefined=True,
    out_dtype=MADE,
)
def empty(
    size: Sizes,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: int | None,
) -> Array:
    made = unfilled(np.empty(check_sizes(size, "empty"), float_dtype(dtype)))
    return made if not memory_format else in_format(made, memory_format)


def _like(self: Array, dtype: int | None, memory_format: int | None) -> Array:
    """An unfilled tensor shaped as another, in its memory order unless told otherwise."""
    wanted = self.dtype if dtype is None else numpy_dtype(dtype)
    if memory_format not in (None, 1):
        return in_format(np.empty(self.shape, wanted), memory_format)
    return like(self, wanted)


def _declare_like(name: str, value: Scalar | None) -> None:
    def like(
        self: Array,
        dtype: int | None,
        layout: int | None,
        device: Device | None,
        pin_memory: bool | None,
        memory_format: int | None,
    ) -> Array:
        made = _like(self, dtype, memory_format)
        if value is None:
            return unfilled(made)
        made[...] = value
        return made

    def new(
        self: Array,
        size: Sizes,
        dtype: int | None,
        layout: int | None,
        device: Device | None,
        pin_memory: bool | None,
    ) -> Array:
        wanted = self.dtype if dtype is None else numpy_dtype(dtype)
        sizes = check_sizes(size, "empty")
        if value == 0:
            return np.zeros(sizes, wanted)
        made = np.empty(sizes, wanted)
        if value is None:
            return unfilled(made)
        made[...] = value
        return made

    open_ = value is None
    operator(
        f"aten::{name}_like(Tensor self, {_LIKE}) -> Tensor",
        out="",
        face="function",
        rows=rows_of("self"),
        undefined=open_,
        on_slices="elements",
        parts=None if value is None else lambda result, *_: [filled_with(value, result)],
    )(like)
    operator(
        f"aten::new_{name}(Tensor self, SymInt[] size, {OPTIONS}) -> Tensor",
        parts=None if value is None else made_with(value),
        out="",
        face="method",
        undefined=open_,
        on_slices="made",
    )(new)


_declare_like("zeros", 0)
_declare_like("ones", 1)
_declare_like("empty", None)


@operator(
    f"aten::full_like(Tensor self, Scalar fill_value, {_LIKE}) -> Tensor",
    out="",
    parts=lambda result, self, fill_value, *_: [filled_with(fill_value, result)],
    face="function",
    rows=rows_of("self"),
    on_slices="elements",
)
def full_like(
    self: Array,
    fill_value: Scalar,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: int | None,
) -> Array:
    made = _like(self, dtype, memory_format)
    made[...] = number_to_fill(fill_value, made.dtype, made.size)
    return made


@operator(
    f"aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, {OPTIONS}) -> Tensor",
    parts=lambda result, self, size, value, *_: made_with(value)(result),
    out="",
    face="method",
    on_slices="made",
)
def new_full(
    self: Array,
    size: Sizes,
    fill_value: Scalar,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    wanted = self.dtype if dtype is None else numpy_dtype(dtype)
    made = np.empty(check_sizes(size, "full"), wanted)
    made.fill(number_to_fill(fill_value, wanted, made.size))
    return made


@operator(f"aten::eye(SymInt n, {OPTIONS}) -> Tensor", parts=as_known, out_dtype=MADE)
def eye(n: int, dtype: int | None, *options: object) -> Array:
    return eye_of(n, n, dtype, *options)


@operator(f"aten::eye.m(SymInt n, SymInt m, {OPTIONS}) -> Tensor", parts=as_known, out_dtype=MADE)
def eye_of(n: int, m: int, dtype: int | None, *options: object) -> Array:
    for name, value in (("n", n), ("m", m)):
        if value < 0:
            raise OperatorError(f"{name} must be greater or equal to 0, got {value}")
    check_count([n, m])
    check_storage([n, m])
    return np.eye(n, m, dtype=float_dtype(dtype))


# --------------------------------------------------------------------------- counted


@operator(
    f"aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, {OPTIONS}) -> Tensor",
    parts=as_known,
    out_dtype=MADE,
    out_layout="=",
    order="- start start_step start_out out",
)
def arange(
    start: float,
    end: float,
    step: float,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    """start, start + step, ... as long as it is below `end`; whole numbers make int64."""
    if dtype is None or dtype == _LONG:
        plain = type(start) is type(end) is type(step) is int and step > 0 and end >= start
        if plain and max(end, -start, step) < _EXACT:
            return np.arange(start, end, step)
    for number in (start, end, step):
        if isinstance(number, complex):
            raise OperatorError("value cannot be converted to type double without overflow")
        if isinstance(number, int) and not -_BEYOND <= number < _BEYOND:
            raise OperatorError("value cannot be converted to type int64_t without overflow")
    if step == 0:
        raise OperatorError("step must be nonzero", headline="`step` is 0")
    if not all(math.isfinite(n) for n in (start, end)):
        raise OperatorError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise OperatorError(
            "upper bound and lower bound inconsistent with step sign",
            headline=f"{end} cannot be reached from {start} in steps of {step}",
        )
    whole = all(isinstance(n, int) for n in (start, end, step))
    wanted = (_INT64 if whole else default_dtype.float) if dtype is None else numpy_dtype(dtype)
    check_dtype("arange_cpu", wanted, "buqce")
    for number in (start, end, step):
        check_number(number, _COUNTED_IN[letter(wanted)])
    if wanted.kind in "iu" and not whole:
        if wanted != _INT64:  # how many is decided by the numbers as they were given
            count = math.ceil((end - start) / step)
            check_storage([count])
            start, step = int(start), int(step)
            return np.asarray(start + step * np.arange(count, dtype=np.int64)).astype(wanted)
        start, end, step, whole = int(start), int(end), int(step), True
        if not step:
            raise BadNumber("step must be nonzero", headline="`step` is 0 as a whole number")
    steps = (end - start) / step if not whole else 0.0
    if not abs(steps) < 1 << 62:
        raise OperatorError("invalid size, possible overflow?")
    count = int(-(-(end - start) // step)) if whole else math.ceil(steps)
    check_storage([count])
    if whole:
        return np.asarray(start + step * np.arange(count, dtype=np.int64)).astype(wanted)
    return np.asarray(start + step * np.arange(count, dtype=np.float64)).astype(wanted)


_OF_WHOLE: Final = ("int none none none none", "int none none place none")
"""Operands of ranges of whole numbers, where nothing says another dtype."""


@operator(
    f"aten::arange(Scalar end, {OPTIONS}) -> Tensor",
    parts=as_known,
    out_dtype=MADE,
    out_layout="=",
    native=native("range_tensor(0, {0})", of=_OF_WHOLE, gives="made"),
)
def arange_to(end: float, *options: Any) -> Array:
    return arange(0, end, 1, *options)


@operator(
    f"aten::arange.start(Scalar start, Scalar end, {OPTIONS}) -> Tensor",
    parts=as_known,
    out_dtype=MADE,
    out_layout="=",
    native=native(
        "range_tensor({0}, {1})", of=[f"int {operands}" for operands in _OF_WHOLE], gives="made"
    ),
)
def arange_from(start: float, end: float, *options: Any) -> Array:
    return arange(start, end, 1, *options)


@operator(
    f"aten::range.step(Scalar start, Scalar end, Scalar step=1, {OPTIONS}) -> Tensor",
    out_dtype=MADE,
    out_layout="=",
    order="out out_",
)
def closed_range(
    start: float, end: float, step: float, dtype: int | None, *options: object
) -> Array:
    """start, start + step, ... up to and with `end`."""
    if step == 0:
        raise OperatorError("step must be nonzero", headline="`step` is 0")
    if not all(math.isfinite(n) for n in (start, end)):
        raise OperatorError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise OperatorError("upper bound and lower bound inconsistent with step sign")
    check_dtype("range_cpu", float_dtype(dtype), "buqce")
    steps = (end - start) / step
    if not abs(steps) < 1 << 62:
        raise OperatorError("invalid size, possible overflow?")
    count = int(steps) + 1
    check_storage([count])
    places = np.arange(count, dtype=np.float64)
    return np.asarray(start + step * places).astype(float_dtype(dtype))


@operator(
    f"aten::range(Scalar start, Scalar end, {OPTIONS}) -> Tensor",
    out_dtype=MADE,
    out_layout="=",
)
def closed_range_by_one(start: float, end: float, *options: Any) -> Array:
    return closed_range(start, end, 1, *options)


@operator(
    f"aten::linspace(Scalar start, Scalar end, int steps, {OPTIONS}) -> Tensor",
    parts=as_known,
    out_dtype=MADE,
    out_layout="=",
    order="Tensor_Tensor Tensor_Scalar Scalar_Tensor -",
)
def linspace(start: int, end: int, steps: int, dtype: int | None, *options: object) -> Array:
    """Steps from both ends towards the middle, in the tensor's own precision."""
    if steps < 0:
        raise OperatorError("number of steps must be non-negative")
    check_storage([steps])
    _check_parts("linspace", dtype, start, end)
    wanted = float_dtype(dtype)
    if dtype is None and any(isinstance(each, complex) for each in (start, end)):
        wanted = default_dtype.complex
    check_dtype("linspace_cpu", wanted, "buqe")
    for each in (start, end):
        number_in(each, wanted)
    if wanted.kind in "iu":
        first, last = (int(number_as(each, wanted)) for each in (start, end))
        return equal_steps(first, last, steps, np.dtype(np.float64)).astype(wanted)
    if wanted.kind not in "fc" or wanted.itemsize < 4:
        return equal_steps(start, end, steps, np.dtype(np.float64)).astype(wanted)
    return equal_steps(start, end, steps, wanted)


def _check_parts(name: str, dtype: int | None, *ends: object) -> None:
    """Refuse complex ends where the dtype that is asked for is real.

    Raises:
        OperatorError: they do not fit.
    """
    if dtype is None or not any(isinstance(each, complex) for each in ends):
        return
    wanted = numpy_dtype(dtype)
    if letter(wanted) not in "qc":
        part = cpp_name(dtype_of(np.empty(0, default_dtype.complex)))
        raise OperatorError(
            f"torch.{name}(): inferred dtype {part} can't be safely cast to passed dtype "
            f"{dtype_of(np.empty(0, wanted)).scalar_name}",
            code="dtype-mismatch",
        )


@operator(
    f"aten::logspace(Scalar start, Scalar end, int steps, float base=10., {OPTIONS}) -> Tensor",
    out_dtype=MADE,
    out_layout="=",
    order="Tensor_Tensor Tensor_Scalar Scalar_Tensor -",
    parts=as_known,
)
def logspace(
    start: Any, end: Any, steps: int, base: float, dtype: int | None, *options: object
) -> Array:
    if steps < 0:
        raise OperatorError("number of steps must be non-negative")
    check_storage([steps])
    _check_parts("logspace", dtype, start, end)
    wanted = float_dtype(dtype)
    if dtype is None and any(isinstance(each, complex) for each in (start, end)):
        wanted = default_dtype.complex
    check_dtype("logspace_cpu", wanted, "buqe")
    if wanted.kind in "iu" and steps > 1:
        start, end = int(start), int(end)
        pace = np.float32(end - start) / np.float32(steps - 1)
        places = np.arange(steps, dtype=np.float32)
        exponents = np.where(
            places < steps // 2, start + pace * places, end - pace * (steps - 1 - places)
        )
        return np.asarray(np.power(base, exponents.astype(np.float64))).astype(wanted)
    wide = np.complex128 if wanted.kind == "c" else np.float64
    return np.power(base, equal_steps(start, end, steps, np.dtype(wide))).astype(wanted)


def _end(name: str, start: object, end: object) -> tuple[object, object]:
    """Both ends as numbers.

    Raises:
        OperatorError: one is a tensor with dimensions.
    """
    dims = [each.ndim if isinstance(each, np.ndarray) else 0 for each in (start, end)]
    if any(dims):
        tensors = [isinstance(each, np.ndarray) for each in (start, end)]
        parts = [
            f"{word} with {count} dimension(s)"
            for word, count, given in zip(("start", "end"), dims, tensors, strict=True)
            if given
        ]
        raise OperatorError(
            f"{name} only supports 0-dimensional start and end tensors, but got "
            f"{' and '.join(parts)}.",
            code="shape-mismatch",
        )
    first, last = (e.item() if isinstance(e, np.ndarray) else e for e in (start, end))
    return first, last


def _from_tensors(name: str, forward: Callable[..., Array]) -> Callable[..., Array]:
    def between(start: object, end: object, *rest: object) -> Array:
        return forward(*_end(name, start, end), *rest)

    return between


for _overload, _first, _last in (
    ("Tensor_Tensor", "Tensor", "Tensor"),
    ("Tensor_Scalar", "Tensor", "Scalar"),
    ("Scalar_Tensor", "Scalar", "Tensor"),
):
    _ends = f"{_first} start, {_last} end, int steps"
    operator(
        f"aten::linspace.{_overload}({_ends}, {OPTIONS}) -> Tensor",
        out_dtype=MADE,
        out_layout="=",
    )(_from_tensors("linspace", linspace))
    operator(
        f"aten::logspace.{_overload}({_ends}, float base=10., {OPTIONS}) -> Tensor",
        out_dtype=MADE,
        out_layout="=",
    )(_from_tensors("logspace", logspace))


def _indices(below: bool) -> Callable[..., Array]:
    def indices(row: int, col: int, offset: int, dtype: int | None, *options: object) -> Array:
        wanted = _INT64 if dtype is None else numpy_dtype(dtype)
        if wanted.name not in ("int64", "int32"):
            raise not_implemented("tril_indices" if below else "triu_indices", wanted)
        for name, size in (("row", row), ("col", col)):
            if size < 0:
                raise OperatorError(f"{name} must be non-negative, got{size}")
        if row * col <= _FEW:
            return _known_triangle(row, col, offset, below, wanted).copy()
        return _triangle(row, col, offset, below, wanted)

    return indices


def _triangle(row: int, col: int, offset: int, below: bool, wanted: Dtype) -> Array:
    """The places of a triangle's elements, row by row; the room for them is asked for first."""
    all_below = _count_below(row, col, offset if below else offset - 1)
    sizes = 2, all_below if below else row * col - all_below
    check_storage([*sizes])
    made = np.empty(sizes, wanted)
    if not made.size:
        return made
    rows = np.arange(max(0, -offset) if below else 0, row if below else min(row, col - offset))
    first = np.zeros_like(rows) if below else np.maximum(rows + offset, 0)
    counts = (np.minimum(rows + offset + 1, col) if below else col) - first
    made[0] = np.repeat(rows, counts)
    made[1] = np.arange(made.shape[1]) - np.repeat(np.cumsum(counts) - counts - first, counts)
    return made


_known_triangle: Final = remembered(1 << 21)(_triangle)
_FEW: Final = 1 << 16
"""Elements of matrices whose triangles are remembered."""


def _count_below(row: int, col: int, offset: int) -> int:
    """How many elements lie on a diagonal or below."""
    begin = min(row, max(0, -offset))
    whole = min(row, max(begin, col - offset - 1))  # the first row with all columns
    return (whole - begin) * (begin + whole + 1 + 2 * offset) // 2 + (row - whole) * col


for _name, _below in (("tril", True), ("triu", False)):
    operator(
        f"aten::{_name}_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        parts=as_known,
    )(_indices(_below))


@operator(
    "aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> Tensor(b|a)"
)
def as_tensor_of_tensor(data: Array, dtype: int | None, device: Device | None) -> Array:
    if dtype is None or data.dtype == numpy_dtype(dtype):
        return data
    return data.astype(numpy_dtype(dtype))


@operator(
    f"aten::scalar_tensor(Scalar s, {OPTIONS}) -> Tensor",
    parts=lambda result, s, *_: [filled_with(s, result)],
)
def scalar_tensor(s: Scalar, dtype: int | None, *options: object) -> Array:
    return scalar_of(s, float_dtype(dtype)).copy()

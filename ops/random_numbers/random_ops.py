"""Operators that draw random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.convert import in_format
from ..kernels import by_formula, cast_by_kernel, move
from ..memory.counts import check_storage
from ..memory.dtype import (
    DTYPES,
    Array,
    Device,
    DType,
    Dtype,
    dtype_by_number,
    dtype_of,
    numpy_dtype,
    of_numpy,
)
from ..memory.errors import OperatorError
from ..memory.order import dims_in_memory, memory_order
from ..memory.warned import warn_caller
from ..shapes.creation import OPTIONS, check_sizes, float_dtype
from ..shapes.shape import expand
from ..table.layouts import like as empty_like
from ..table.out_dtypes import ANY, MADE
from ..table.pointwise import as_array, cast
from ..table.promotion import kind
from ..table.refusals import check_kernel, cpp_name, letter, not_held, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .filling import fill_normal, fill_uniform, largest_float
from .random import Generator, default_generator
from .whole_numbers import (
    chances,
    chances_each,
    check_range,
    exponential,
    fill_by_chance,
    permutation,
    unbounded,
    whole_numbers,
)

Sizes = Sequence[int]
_FLOAT32: Final = np.dtype(np.float32)
_LIKE: Final = OPTIONS + ", MemoryFormat? memory_format=None"
_NUMBERS: Final = (
    "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
)


# --------------------------------------------------------------------------- floats


def _unfilled_like(self: Array, dtype: int | None, options: Sequence[Any]) -> Array:
    """An unfilled tensor like another; the last of the options is the memory format."""
    made = empty_like(self, self.dtype if dtype is None else numpy_dtype(dtype))
    return made if options[-1] in (None, 1) else in_format(made, options[-1])


def _declare_floats(name: str, fill: Any) -> None:
    """Declare rand or randn in all its forms."""

    def drawn(size: Sizes, generator: Generator | None, dtype: int | None) -> Array:
        wanted = float_dtype(dtype)
        if wanted is not _FLOAT32:
            _check_floats(name, wanted)
        made = np.empty(check_sizes(size, name), wanted)
        filled: Array = fill(made, 0.0, 1.0, generator)
        return filled

    def plain(size: Sizes, dtype: int | None, *_: object) -> Array:
        return drawn(size, None, dtype)

    def from_generator(
        size: Sizes, generator: Generator | None, dtype: int | None, *_: object
    ) -> Array:
        return drawn(size, generator, dtype)

    def like(self: Array, dtype: int | None, *options: object) -> Array:
        made = _unfilled_like(self, dtype, options)
        filled: Array = fill(made, 0.0, 1.0, None)
        return filled

    operator(
        f"aten::{name}(SymInt[] size, {OPTIONS}) -> Tensor",
        random=True,
        out_dtype=MADE,
        prepared=True,
    )(plain)
    with_generator = OPTIONS.replace("*, ", "*, Generator? generator, ")
    operator(f"aten::{name}.generator(SymInt[] size, {with_generator}) -> Tensor", out_dtype=MADE)(
        from_generator
    )
    operator(
        f"aten::{name}_like(Tensor self, {_LIKE}) -> Tensor",
        random=True,
        out="",
        face="function",
        prepared=True,
        on_slices="elements",
    )(like)


def _check_floats(name: str, dtype: Dtype) -> None:
    """Refuse a dtype that holds no floats."""
    if dtype.kind in "fcW" or dtype_of(np.empty(0, dtype)).is_floating_point:
        return
    raise not_implemented(
        "check_uniform_bounds" if name == "rand" else "normal_kernel_cpu",
        dtype,
        headline=f"`{name}` makes floats, not `{dtype_of(np.empty(0, dtype))}`",
    )


_declare_floats("rand", fill_uniform)
_declare_floats("randn", fill_normal)


@operator(
    "aten::uniform_(Tensor(a!) self, float from=0., float to=1., *, Generator? generator=None) "
    "-> Tensor(a!)",
    prepared=True,
    on_slices="elements",
)
def uniform_(self: Array, low: float, high: float, generator: Generator | None) -> Array:
    return fill_uniform(self, low, high, generator)


@operator(
    "aten::normal_(Tensor(a!) self, float mean=0., float std=1., *, "
    "Generator? generator=None) -> Tensor(a!)",
    prepared=True,
    on_slices="elements",
)
def normal_(self: Array, mean: float, std: float, generator: Generator | None) -> Array:
    return fill_normal(self, mean, std, generator)


@operator(
    "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, "
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) "
    "-> Tensor",
    order=(
        "Tensor_float Tensor_float_out float_Tensor_out float_Tensor Tensor_Tensor "
        "Tensor_Tensor_out float_float"
    ),
    prepared=True,
)
def normal_of_size(
    mean: float,
    std: float,
    size: Sizes,
    generator: Generator | None,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Array:
    return fill_normal(
        np.empty(check_sizes(size, "normal"), float_dtype(dtype)), mean, std, generator
    )


def _check_spread(std: Array) -> None:
    """Refuse standard deviations that are none.

    Raises:
        OperatorError: one is below zero or NaN, or they are complex.
    """
    if std.dtype.kind == "c":
        raise OperatorError("normal expects standard deviation to be non-complex")
    if std.size and not std.min() >= 0:
        raise OperatorError("normal expects all elements of std >= 0.0")


@operator(
    "aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"
)
def normal_of_tensors(mean: Array, std: Array, generator: Generator | None) -> Array:
    _check_spread(std)
    shape = np.broadcast_shapes(mean.shape, std.shape)
    unit = fill_normal(np.empty(shape, mean.dtype), 0.0, 1.0, generator)
    return as_array(unit * cast(std, mean.dtype) + mean)


@operator(
    "aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor",
    prepared=True,
    on_slices="elements",
)
def normal_around(mean: Array, std: float, generator: Generator | None) -> Array:
    unit = fill_normal(np.empty(mean.shape, mean.dtype), 0.0, std, generator)
    found = by_formula("add", unit, mean)
    return as_array(unit + mean) if found is None else found


@operator(
    "aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor"
)
def normal_spread(mean: float, std: Array, generator: Generator | None) -> Array:
    _check_spread(std)
    unit = fill_normal(np.empty(std.shape, std.dtype), 0.0, 1.0, generator)
    return as_array(unit * std + std.dtype.type(mean))


@operator(
    "aten::exponential_(Tensor(a!) self, float lambd=1., *, Generator? generator=None) "
    "-> Tensor(a!)",
    prepared=True,
    on_slices="elements",
)
def exponential_(self: Array, lambd: float, generator: Generator | None) -> Array:
    if kind(self.dtype) != 2:
        raise OperatorError(
            "Exponential distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )
    if not lambd > 0:
        raise OperatorError(f"exponential_ expects lambda > 0.0, but found lambda={lambd:g}")
    target = memory_order(self)
    _put(target, exponential(generator, self.size, lambd))
    return self


def _put(target: Array, drawn: Array) -> None:
    """Write numbers that were drawn, one for each element."""
    values = drawn.reshape(target.shape)
    if target.flags.c_contiguous:
        move(cast_by_kernel(values, target.dtype), target)
    else:
        target[...] = values


# --------------------------------------------------------------------------- whole numbers


_LONG: Final = DTYPES["int64"].number
_NARROW: Final = 1 << 62
"""Bounds below which int64 holds all that lies between them."""


def _whole(size: Sizes, low: int, high: int, g: Generator | None, dtype: int | None) -> Array:
    shape = check_sizes(size, "randint")
    if (dtype is None or dtype == _LONG) and -_NARROW < low < high < _NARROW:
        return whole_numbers(g, math.prod(shape), low, high).reshape(shape)
    made = np.empty(shape, np.int64 if dtype is None else numpy_dtype(dtype))
    if low < high:
        _check_random_bounds(made, low, high)
    made[...] = whole_numbers(g, made.size, low, high).reshape(made.shape)
    return made


@operator(
    f"aten::randint(SymInt high, SymInt[] size, *, {_NUMBERS}) -> Tensor",
    random=True,
    prepared=True,
)
def randint(high: int, size: Sizes, dtype: int | None, *_: object) -> Array:
    return _whole(size, 0, high, None, dtype)


@operator(
    f"aten::randint.generator(SymInt high, SymInt[] size, *, Generator? generator, {_NUMBERS}) "
    "-> Tensor"
)
def randint_from(
    high: int, size: Sizes, generator: Generator | None, dtype: int | None, *_: object
) -> Array:
    return _whole(size, 0, high, generator, dtype)


@operator(
    f"aten::randint.low(SymInt low, SymInt high, SymInt[] size, *, {_NUMBERS}) -> Tensor",
    random=True,
    prepared=True,
)
def randint_between(low: int, high: int, size: Sizes, dtype: int | None, *_: object) -> Array:
    return _whole(size, low, high, None, dtype)


@operator(
    "aten::randint.low_generator(SymInt low, SymInt high, SymInt[] size, *, "
    f"Generator? generator, {_NUMBERS}) -> Tensor"
)
def randint_between_from(
    low: int,
    high: int,
    size: Sizes,
    generator: Generator | None,
    dtype: int | None,
    *_: object,
) -> Array:
    return _whole(size, low, high, generator, dtype)


def _whole_like(
    self: Array, low: int, high: int, dtype: int | None, options: Sequence[object]
) -> Array:
    made = _unfilled_like(self, dtype, options)
    target = memory_order(made)
    _put(target, whole_numbers(None, made.size, low, high))
    return made


@operator(
    f"aten::randint_like(Tensor self, SymInt high, {_LIKE}) -> Tensor",
    random=True,
    on_slices="elements",
    out="",
    face="function",
    rows=rows_of("self"),
    prepared=True,
)
def randint_like(self: Array, high: int, dtype: int | None, *options: object) -> Array:
    return _whole_like(self, 0, high, dtype, options)


@operator(
    f"aten::randint_like.low_dtype(Tensor self, SymInt low, SymInt high, {_LIKE}) -> Tensor",
    random=True,
    out="",
    face="function",
    rows=rows_of("self"),
    prepared=True,
)
def randint_like_between(
    self: Array, low: int, high: int, dtype: int | None, *options: object
) -> Array:
    return _whole_like(self, low, high, dtype, options)


@operator(
    f"aten::randperm(SymInt n, *, {_NUMBERS}) -> Tensor",
    random=True,
    out_dtype=MADE,
    prepared=True,
)
def randperm(n: int, dtype: int | None, *_: object) -> Array:
    return randperm_from(n, None, dtype)


@operator(
    f"aten::randperm.generator(SymInt n, *, Generator? generator, {_NUMBERS}) -> Tensor",
    out_dtype=MADE,
)
def randperm_from(n: int, generator: Generator | None, dtype: int | None, *_: object) -> Array:
    if n < 0:
        raise OperatorError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    wanted = DTYPES["int64"] if dtype is None else dtype_by_number(dtype)
    if wanted.kind == "q" or letter(wanted.numpy) not in "ihf":
        raise not_implemented("randperm", wanted)
    check_storage([n])
    _check_order(n, wanted)
    return permutation(generator, n).astype(wanted.numpy, copy=False)


_LONGEST_ORDER: Final = {"float16": 2**11 + 1, "float32": 2**24 + 1, "float64": 2**53 + 1}
"""The most numbers that can be put in order in a dtype of floats."""


def _check_order(n: int, wanted: DType) -> None:
    """Refuse an order of so many numbers that the dtype does not hold them all.

    Raises:
        OperatorError: it does not.
    """
    most = _LONGEST_ORDER.get(wanted.name)
    if most is not None and n > most:
        spelled = most if most < 1 << 16 else f"2^{(most - 1).bit_length() - 1}+1"
        raise OperatorError(f"n cannot be greater than {spelled} for {wanted.scalar_name} type.")
    if wanted.numpy.kind in "iu" and n - 1 > np.iinfo(wanted.numpy).max:
        raise OperatorError(
            f"value cannot be converted to type {wanted.name}_t without overflow",
            headline=f"`{wanted}` does not hold {n - 1}",
        )


@operator(
    "aten::random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
    order="from to -",
    on_slices="elements",
)
def random_(self: Array, generator: Generator | None) -> Array:
    check_kernel("random_kernel_cpu", self)
    target = memory_order(self)
    target[...] = unbounded(generator, self.size, self.dtype).reshape(target.shape)
    return self


@operator(
    "aten::random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) "
    "-> Tensor(a!)"
)
def random_between(self: Array, low: int, high: int | None, generator: Generator | None) -> Array:
    _check_random_bounds(self, low, high)
    stop = _above_all(self.dtype) if high is None else high
    target = memory_order(self)
    if stop - low == 1 << 64:
        drawn = (generator or default_generator).long_words(self.size).view(np.int64)
    else:
        drawn = whole_numbers(generator, self.size, low, stop)
    target[...] = drawn.reshape(target.shape)
    return self


_DIGITS: Final = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def _above_all(dtype: Dtype) -> int:
    """One more than the largest whole number that a dtype holds with all before it."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max) + 1
    return 2 if dtype.kind == "b" else (1 << _DIGITS[dtype.name]) + 1


def _check_random_bounds(self: Array, low: int, high: int | None) -> None:
    if high is not None:
        check_range(low, high)
    if self.dtype.kind == "c":
        raise OperatorError(
            "check_random_bounds handles only integral, floating-point and boolean types",
            code="dtype-mismatch",
        )
    last = low if high is None else high - 1
    if self.dtype.kind not in "iub":
        _check_float_bounds(self.dtype, low, last)
        return
    smallest = int(np.iinfo(self.dtype).min) if self.dtype.kind in "iu" else 0
    largest = _above_all(self.dtype) - 1
    for name, value in (("from", low), ("to - 1", last)):
        if not smallest <= value <= largest:
            raise OperatorError(
                f"{name} is out of bounds for {cpp_name(dtype_of(self))}",
                headline=f"`{dtype_of(self)}` holds whole numbers from {smallest} to {largest}",
            )


def _check_float_bounds(dtype: Dtype, low: int, last: int) -> None:
    """Refuse whole numbers that floats do not reach, and warn of those between which they skip.

    Raises:
        OperatorError: one is beyond all floats of the dtype.
    """
    own = of_numpy(dtype)
    largest, digits = largest_float(own.name), _DIGITS[own.name]
    for name, value in (("from", low), ("to - 1", last)):
        if abs(value) > largest:
            raise OperatorError(f"{name} is out of bounds for {cpp_name(own)}")
    for name, value in (("from", low), ("to - 1", last)):
        if abs(value) > 1 << digits:
            warn_caller(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {cpp_name(own)} can support discrete uniform distribution only "
                "within this range. This warning will become an error in version 1.7 release, "
                "please fix the code in advance"
            )


@operator("aten::random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)")
def random_below(self: Array, high: int, generator: Generator | None) -> Array:
    return random_between(self, 0, high, generator)


# --------------------------------------------------------------------------- chances


@operator(
    "aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
    order="out p Tensor",
    out_dtype=ANY,
    on_slices="elements",
)
def bernoulli(self: Array, generator: Generator | None) -> Array:
    if kind(self.dtype) != 2:
        raise not_implemented(
            "bernoulli_tensor_cpu_p_" if kind(self.dtype) < 2 else "bernoulli_tensor_cpu_self_",
            self.dtype,
            headline=f"chances are floats, not `{dtype_of(self)}`",
        )
    if not ((self >= 0) & (self <= 1)).all():
        raise not_held("p_in >= 0 && p_in <= 1", headline="every element must be a probability")
    return chances_each(generator, self).astype(self.dtype)


@operator(
    "aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
    out="",
    prepared=True,
)
def bernoulli_like(self: Array, p: float, generator: Generator | None) -> Array:
    return bernoulli_(np.empty(self.shape, self.dtype), p, generator)


@operator(
    "aten::bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) "
    "-> Tensor(a!)",
    order="Tensor float",
    prepared=True,
    on_slices="elements",
)
def bernoulli_(self: Array, p: float, generator: Generator | None) -> Array:
    check_kernel("bernoulli_scalar_cpu_", self)
    target = memory_order(self[...])  # which no other thread can change
    if fill_by_chance(target, generator, p):
        return self
    target[...] = chances(generator, self.size, p).reshape(target.shape)
    return self


@operator(
    "aten::bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)"
)
def bernoulli_each(self: Array, p: Array, generator: Generator | None) -> Array:
    order = dims_in_memory(self)
    chance = expand(p, self.shape).transpose(order)
    self.transpose(order)[...] = chances_each(generator, chance)
    return self


# --------------------------------------------------------------------------- generators


@operator("aten::manual_seed(int seed) -> ()", effects=True)
def manual_seed(seed: int) -> None:
    default_generator.manual_seed(seed)


@operator(
    "aten::manual_seed.generator(Generator(a!) self, int seed) -> Generator(a!)", effects=True
)
def seed_generator(self: Generator, seed: int) -> Generator:
    return self.manual_seed(seed)


@operator("aten::initial_seed(Generator self) -> int")
def initial_seed(self: Generator) -> int:
    return self.initial_seed()

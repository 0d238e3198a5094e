"""Operators that draw from further distributions.

Where a number of draws is not known before (rejection), elements are drawn one after another,
since the stream of numbers is part of what an operator promises.  Sources: Hörmann, "The
transformed rejection method for generating Poisson random variables" (1993) and "The generation of
binomial random variates" (1993); Marsaglia and Tsang, "A simple method for generating gamma
variables" (2000).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final

import numpy as np

from ..arithmetic.fused import fused_double
from ..kernels import family, of_floats
from ..kernels.flags import new_flag
from ..memory.dtype import Array, Device, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..memory.order import memory_order
from ..shapes.creation import OPTIONS
from ..special_functions.implicit_derivatives import beta_derivative, gamma_derivative
from ..table.faces import Face
from ..table.layouts import like
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.record import Known
from ..table.refusals import Refusal, check_kernel, cpp_name, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .filling import fill_normal, fill_uniform
from .random import Generator, default_generator, from_libm, single_normals
from .random_ops import (
    bernoulli_each,
    exponential_,
    normal_,
    random_,
    random_below,
    random_between,
    uniform_,
)
from .whole_numbers import whole_numbers

_GENERATOR: Final = "Generator? generator=None"
_LIKE: Final = OPTIONS.replace("*, ", "*, Generator? generator, ")
_LIKE_END: Final = ", MemoryFormat? memory_format=None) -> Tensor"


# --------------------------------------------------------------------------- one draw an element


def _fill(self: Array, values: Array) -> Array:
    target = memory_order(self)
    target[...] = values.reshape(target.shape).astype(self.dtype)
    return self


def _check_floats(self: Array, name: str) -> None:
    if kind(self.dtype) != 2:
        raise not_implemented(
            name,
            self.dtype,
            headline=f"only tensors of floats can be filled so, not `{self.dtype}`",
        )


@operator(
    "aten::cauchy_(Tensor(a!) self, float median=0., float sigma=1., *, "
    f"{_GENERATOR}) -> Tensor(a!)",
    on_slices="elements",
)
def cauchy_(self: Array, median: float, sigma: float, generator: Generator | None) -> Array:
    if not sigma > 0:
        raise OperatorError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    if kind(self.dtype) != 2:
        raise OperatorError(
            "Cauchy distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {cpp_name(dtype_of(self))}",
            code="dtype-mismatch",
        )
    draws = (generator or default_generator).doubles(self.size)
    angles = from_libm("tan", math.pi * (draws - 0.5))
    return _fill(self, fused_double(angles, sigma, median))


@operator(
    "aten::log_normal_(Tensor(a!) self, float mean=1., float std=2., *, "
    f"{_GENERATOR}) -> Tensor(a!)",
    on_slices="elements",
)
def log_normal_(self: Array, mean: float, std: float, generator: Generator | None) -> Array:
    if not std > 0:
        raise OperatorError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    _check_floats(self, "log_normal_cpu")
    values = single_normals(generator or default_generator, self.size, mean, std)
    return _fill(self, from_libm("exp", values))


@operator(
    f"aten::geometric_(Tensor(a!) self, float p, *, {_GENERATOR}) -> Tensor(a!)",
    on_slices="elements",
)
def geometric_(self: Array, p: float, generator: Generator | None) -> Array:
    check_kernel("geometric_cpu", self, "bc")
    if not 0 < p < 1:
        raise OperatorError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    draws = (generator or default_generator).doubles(self.size)
    tiny = np.maximum(draws, np.nextafter(0, 1))
    return _fill(self, np.ceil(from_libm("log", tiny) / math.log1p(-p)))


# --------------------------------------------------------------------------- rejection


def _until_taken(
    form: str,
    draw: Callable[..., float],
    generator: Generator | None,
    *operands: Array,
    is_single: bool = False,
) -> Array:
    """One number an element, in order: by native code of that name, else by `draw`."""
    wide = np.broadcast_arrays(*(each.astype(np.float64) for each in operands))
    native = family("drawing.draws")
    if native is None or not native.is_possible():
        stream = _Uniform(generator)
        rows = zip(*(each.ravel().tolist() for each in wide), strict=True)
        drawn = [draw(stream, *values) for values in rows]
        return np.array(drawn, np.float64).reshape(wide[0].shape)
    given = [np.ascontiguousarray(each) for each in wide]
    made, at = np.empty(wide[0].shape, np.float64), new_flag()

    def take(words: Array, normal: Array) -> int:
        taken: int = native.until_taken(form, is_single, given, words, at, normal, made)
        return taken

    least = _AT_FIRST
    while at[0] < made.size:
        before = at[0]
        (generator or default_generator).use(least, take)
        least = 2 * least if at[0] == before else _AT_FIRST
    return made


_AT_FIRST: Final = 64
"""Draws that are enough for nearly every number."""


class _Uniform:
    """Doubles in [0, 1) one by one."""

    def __init__(self, generator: Generator | None) -> None:
        self.generator = generator or default_generator

    def draw(self) -> float:
        return float(self.generator.doubles(1)[0])

    def normal(self) -> float:
        return float(single_normals(self.generator, 1, 0.0, 1.0)[0])


def _poisson(stream: _Uniform, rate: float) -> float:
    if rate == 0:
        return 0.0
    if rate < 10:
        limit, product, count = math.exp(-rate), 1.0, 0
        while True:
            product *= stream.draw()
            if product <= limit:
                return float(count)
            count += 1
    root, logarithm = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    sure = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = stream.draw() - 0.5, stream.draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= sure:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        left = math.log(v) + math.log(scale) - math.log(a / (us * us) + b)
        if left <= -rate + k * logarithm - math.lgamma(k + 1):
            return float(k)


@operator(
    "aten::poisson(Tensor self, Generator? generator=None) -> Tensor",
    face="function",
    on_slices="elements",
)
def poisson(self: Array, generator: Generator | None) -> Array:
    """A number of events for each rate."""
    _check_floats(self, "poisson_cpu")
    if self.size and not (self >= 0).all():
        raise OperatorError("invalid Poisson rate, expected rate to be non-negative")
    return _until_taken("poisson", _poisson, generator, self).astype(self.dtype)


def _stirling(k: float) -> float:
    """What Stirling's formula leaves of log k!."""
    if k <= 9:
        return math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + _HALF_LOG_TAU)
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


_HALF_LOG_TAU: Final = 0.5 * math.log(2 * math.pi)


Rounding = Callable[[float], float]


def _single(value: float) -> float:
    """A number rounded to float32, as it is where operands are float32."""
    return float(np.float32(value))


def _by_gaps(stream: _Uniform, count: float, p: float, rounded: Rounding) -> float:
    """A binomial number from the gaps between successes, for few of them."""
    total, found = 0.0, 0
    logarithm = rounded(math.log1p(-p))
    while True:
        total += math.ceil(math.log(stream.draw()) / logarithm)
        if total > count:
            return float(found)
        found += 1


def _by_rejection(stream: _Uniform, count: float, p: float, rounded: Rounding) -> float:
    mean, rest = rounded(count * p), rounded(1 - p)
    spread = rounded(math.sqrt(rounded(mean * rest)))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = mean + 0.5
    sure = 0.92 - 4.2 / b
    odds = rounded(p / rest)
    alpha = (2.83 + 5.1 / b) * spread
    middle = math.floor(rounded(rounded(count + 1) * p))
    while True:
        u, v = stream.draw() - 0.5, stream.draw()
        us = 0.5 - abs(u)
        k = rounded(math.floor((2 * a / us + b) * u + c))
        if us >= 0.07 and v <= sure:
            return k
        if k < 0 or k > count:
            continue
        v = math.log(v * alpha / (a / (us * us) + b))
        limit = (
            (middle + 0.5) * math.log((middle + 1) / (odds * (count - middle + 1)))
            + (count + 1) * math.log((count - middle + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _stirling(middle)
            + _stirling(count - middle)
            - _stirling(k)
            - _stirling(count - k)
        )
        if v <= limit:
            return k


def _binomial(rounded: Rounding, stream: _Uniform, count: float, p: float) -> float:
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return count
    if math.isnan(p) or math.isnan(count):
        return math.nan
    small = p if p <= 0.5 else rounded(1 - p)
    method = _by_rejection if rounded(count * small) >= 10 else _by_gaps
    drawn = method(stream, count, small, rounded)
    return drawn if p <= 0.5 else count - drawn


@operator("aten::binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor")
def binomial(count: Array, prob: Array, generator: Generator | None) -> Array:
    """A number of successes for each count of trials and chance."""
    if count.dtype != prob.dtype:
        given, wanted = dtype_of(prob).scalar_name, dtype_of(count).scalar_name
        raise OperatorError(
            f"Found dtype {given} but expected {wanted}",
            code="dtype-mismatch",
            roles={"count": f"is `{dtype_of(count)}`", "prob": f"is `{dtype_of(prob)}`"},
        )
    is_single = count.dtype != np.float64
    drawn = _until_taken(
        "binomial",
        partial(_binomial, _single if is_single else float),
        generator,
        count,
        prob,
        is_single=is_single,
    )
    return drawn.astype(count.dtype)


_THIRD: Final = float(np.float32(1) / np.float32(3))
_SQUEEZE: Final = float(np.float32(0.0331))


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return math.inf


def _gamma(rounded: Rounding, stream: _Uniform, alpha: float) -> float:
    scale = 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale = _power(1 - stream.draw(), rounded(1 / alpha))
        alpha = rounded(alpha + 1)
    d = rounded(alpha - _THIRD)
    c = 1 / math.sqrt(9 * d) if d > 0 else math.nan
    while True:
        x = stream.normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - stream.draw()
        square = x * x
        if u < 1 - _SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


_refuse_gamma: Final = Refusal("biuhqc", "gamma_cpu")
_refuse_dirichlet: Final = Refusal("biuhqc", "dirichlet")
_refuse_gamma_gradient: Final = Refusal("biuhqc", "_standard_gamma_grad_cpu")
_refuse_dirichlet_gradient: Final = Refusal("biuhqc", "_dirichlet_grad_cpu")


def _gammas(self: Array, generator: Generator | None, is_single: bool) -> Array:
    draw = partial(_gamma, _single if is_single else float)
    return _until_taken("gamma", draw, generator, self, is_single=is_single)


@operator("aten::_standard_gamma(Tensor self, Generator? generator=None) -> Tensor")
def standard_gamma(self: Array, generator: Generator | None) -> Array:
    _refuse_gamma(self.dtype)
    drawn = _gammas(self, generator, self.dtype != np.float64).astype(self.dtype)
    return as_array(np.fmax(drawn, np.finfo(self.dtype).tiny))


@operator("aten::_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor")
def sample_dirichlet(self: Array, generator: Generator | None) -> Array:
    """Points of the simplex, from gamma numbers divided by their sum."""
    _refuse_dirichlet(self.dtype)
    least = np.finfo(self.dtype).tiny
    drawn = np.fmax(_gammas(self, generator, False), np.finfo(np.float64).tiny)
    shares = (drawn / drawn.sum(-1, keepdims=True)).astype(self.dtype)
    below_one = np.nextafter(self.dtype.type(1), self.dtype.type(0))
    return as_array(np.fmin(np.fmax(shares, least), below_one))


def _check_same_dtype(first: Array, *others: Array) -> None:
    for other in others:
        if other.dtype != first.dtype:
            given, wanted = dtype_of(other).scalar_name, dtype_of(first).scalar_name
            raise OperatorError(f"Found dtype {given} but expected {wanted}", code="dtype-mismatch")


@operator("aten::_standard_gamma_grad(Tensor self, Tensor output) -> Tensor")
def standard_gamma_grad(self: Array, output: Array) -> Array:
    """How draws `output` of concentrations `self` move with these."""
    _check_same_dtype(self, output)
    _refuse_gamma_gradient(self.dtype)
    return _moved("gamma_slope", gamma_derivative, self, output).astype(self.dtype, copy=False)


_LARGE: Final = 1000.0
"""Numbers from which integrals are no more work than series."""


def _moved(name: str, integral: Callable[..., Array], *operands: Array) -> Array:
    """How draws move, by the series of a kernel; by integrals where numbers are large."""
    found = of_floats(name, *operands)
    if found is None:
        return integral(*operands)
    each_large = [each > _LARGE for each in operands]
    if any(each.any() for each in each_large):
        *wide, chosen = np.broadcast_arrays(*operands, sum(each_large[1:], each_large[0]))
        found = np.asarray(found)
        found[chosen] = integral(*(each[chosen] for each in wide))
    return as_array(found)


@operator("aten::_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor")
def dirichlet_grad(x: Array, alpha: Array, total: Array) -> Array:
    """How shares move with their own concentrations, divided by 1 - x."""
    _check_same_dtype(x, alpha, total)
    _refuse_dirichlet_gradient(x.dtype)
    share, own = x.astype(np.float64), alpha.astype(np.float64)
    moved = _moved("beta_slope", beta_derivative, share, own, total.astype(np.float64) - own)
    return moved.astype(x.dtype)


# --------------------------------------------------------------------------- copies filled


def _declare_copy(schema: str, fill: Callable[..., Array]) -> None:
    """The form of a filling operator that leaves its tensor alone."""

    def filled(self: Array, *rest: object) -> Array:
        return fill(like(self, self.dtype), *rest)

    face: Face = "operator"
    order = ""
    if "random" in schema:
        face, order = "function", "from from_out to to_out - out"
    elif "bernoulli" in schema:
        face = "both"
    known: Known = {"face": face, "order": order}
    if "functional" in schema:
        known["out"] = ""
    operator(schema, **known)(filled)


for _schema, _filler in (
    ("uniform(Tensor self, float from=0., float to=1.", uniform_),
    ("exponential(Tensor self, float lambd=1.", exponential_),
    ("cauchy(Tensor self, float median=0., float sigma=1.", cauchy_),
    ("log_normal(Tensor self, float mean=1., float std=2.", log_normal_),
    ("geometric(Tensor self, float p", geometric_),
    ("normal_functional(Tensor self, float mean=0., float std=1.", normal_),
    ("random(Tensor self", random_),
    ("random.from(Tensor self, int from, int? to", random_between),
    ("random.to(Tensor self, int to", random_below),
    ("bernoulli.Tensor(Tensor self, Tensor p", bernoulli_each),
):
    _declare_copy(f"aten::{_schema}, *, {_GENERATOR}) -> Tensor", _filler)


# --------------------------------------------------------------------------- generators for _like


def _made_like(self: Array, dtype: int | None) -> Array:
    return like(self, self.dtype if dtype is None else numpy_dtype(dtype))


@operator(
    f"aten::rand_like.generator(Tensor self, {_LIKE}{_LIKE_END}",
    out="",
    face="function",
    rows=rows_of("self"),
)
def rand_like(
    self: Array, generator: Generator | None, dtype: int | None, *options: object
) -> Array:
    return fill_uniform(_made_like(self, dtype), 0.0, 1.0, generator)


@operator(
    f"aten::randn_like.generator(Tensor self, {_LIKE}{_LIKE_END}",
    out="",
    face="function",
    rows=rows_of("self"),
)
def randn_like(
    self: Array, generator: Generator | None, dtype: int | None, *options: object
) -> Array:
    return fill_normal(_made_like(self, dtype), 0.0, 1.0, generator)


def _whole_like(
    self: Array, low: int, high: int, generator: Generator | None, dtype: int | None
) -> Array:
    made = _made_like(self, dtype)
    return _fill(made, whole_numbers(generator, made.size, low, high))


@operator(
    f"aten::randint_like.generator(Tensor self, SymInt high, {_LIKE}{_LIKE_END}",
    out="",
    face="function",
    order="Tensor low_dtype generator Tensor_generator low_generator_dtype",
    rows=rows_of("self"),
)
def randint_like_from(
    self: Array, high: int, generator: Generator | None, dtype: int | None, *_: object
) -> Array:
    return _whole_like(self, 0, high, generator, dtype)


@operator(
    "aten::randint_like.low_generator_dtype(Tensor self, SymInt low, SymInt high, "
    f"{_LIKE}{_LIKE_END}",
    out="",
    face="function",
    rows=rows_of("self"),
)
def randint_like_between_from(
    self: Array, low: int, high: int, generator: Generator | None, dtype: int | None, *_: object
) -> Array:
    return _whole_like(self, low, high, generator, dtype)


@operator(
    f"aten::randint_like.Tensor(Tensor self, Tensor high, {OPTIONS}{_LIKE_END}",
    random=True,
    out="",
    face="function",
    rows=rows_of("self"),
)
def randint_like_below(self: Array, high: Array, dtype: int | None, *options: object) -> Array:
    return _whole_like(self, 0, int(high.item()), None, dtype)


@operator(
    f"aten::randint_like.Tensor_generator(Tensor self, Tensor high, {_LIKE}{_LIKE_END}",
    out="",
    face="function",
    rows=rows_of("self"),
)
def randint_like_below_from(
    self: Array, high: Array, generator: Generator | None, dtype: int | None, *_: object
) -> Array:
    return _whole_like(self, 0, int(high.item()), generator, dtype)


# --------------------------------------------------------------------------- generators


@operator("aten::Generator(*, Device? device=None, int? seed=None) -> Generator")
def make_generator(device: Device | None, seed: int | None) -> Generator:
    made = Generator("cpu" if device is None else device)
    return made if seed is None else made.manual_seed(seed)


@operator("aten::seed(Generator(a!) self) -> int")
def new_seed(self: Generator) -> int:
    return self.seed()

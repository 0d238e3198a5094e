"""Functions of one number, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, Unpack

import numpy as np

from ..kernels import by_formula, family, of_floats, pointwise
from ..memory.dtype import Array, Dtype, default_dtype, dtype_of, of_numpy
from ..memory.errors import OperatorError
from ..special_functions.bessel import i0
from ..special_functions.error_functions import erf, erfc, erfinv
from ..special_functions.gamma import digamma, lgamma, multigamma, polygamma
from ..table.declare import in_double, of_one, with_twin
from ..table.faces import Face
from ..table.formula import Formula, formula
from ..table.inline import inline_kernel
from ..table.layouts import in_own_order
from ..table.out_dtypes import FOUND, OutDtype
from ..table.pointwise import as_array, operand, write
from ..table.promotion import kind
from ..table.record import Known
from ..table.refusals import Refusal, letter
from ..table.table import operator
from .complex_quotients import inverted

__all__ = ["sigmoid", "tanh"]

Kernel = Callable[..., Any]
Forward = Callable[[Array], Array]
ndarray: Final = np.ndarray
asarray: Final = np.asarray
_FLOATS: Final = (np.dtype(np.float32), np.dtype(np.float64))


_negative: Final = np.negative
_exp: Final = np.exp
_add: Final = np.add
_reciprocal: Final = np.reciprocal
_ONES: Final = {dtype: np.ones((), dtype) for dtype in _FLOATS}


def _sigmoid(x: Array) -> object:
    result = _negative(x)
    if type(result) is not ndarray:
        result = asarray(result)
    _exp(result, result)
    _add(result, _ONES.get(result.dtype, 1), result)
    if result.dtype.kind == "c":
        return _of_one(result)
    return _reciprocal(result, result)


def _of_one(x: Array) -> Array:
    return inverted(x) if x.dtype.kind == "c" else _reciprocal(x)


def _rsqrt(x: Array) -> Array:
    return _of_one(np.sqrt(x))


_FEW: Final = 64
"""So many float32 numbers are computed in double for next to nothing."""


def _closely(kernel: Kernel) -> Kernel:
    """`kernel`, with the nearest float32 numbers for small inputs, as PyTorch's mostly are."""

    def call(x: Array) -> object:
        if x.size <= _FEW and x.dtype is _FLOATS[0]:
            wide = in_own_order(x).astype(_FLOATS[1])
            return kernel(wide, wide).astype(_FLOATS[0])
        return kernel(x)

    return call


def _exp2(x: Array) -> object:
    if x.dtype.kind != "c":
        return np.exp2(x)
    scaled = np.empty_like(x)
    scaled.real, scaled.imag = x.real * math.log(2), x.imag * math.log(2)
    return np.exp(scaled)


def _not_complex(name: str) -> Refusal:
    return Refusal("", fails=("qc", f"{name} is not supported for complex tensors."))


def _times(factor: float) -> Kernel:
    """Multiplication by a number, in the array's precision."""
    return lambda x: np.multiply(x, x.dtype.type(factor))


def _declare(
    name: str,
    refuse: Refusal,
    kernel: Kernel,
    *aliases: str,
    twin: Face = "",
    **known: Unpack[Known],
) -> Forward:
    """Declare a function of one float and its aliases; those in `special` are never in place."""
    forward, form = of_one(refuse, kernel), inline_kernel(name, kernel)
    known["inline"] = form
    with_twin(f"aten::{name}(Tensor self) -> Tensor", twin=twin, **known)(forward)
    for alias in aliases:
        declare = operator if alias.startswith("special_") else with_twin
        declare(f"aten::{alias}(Tensor self) -> Tensor", inline=form, first_name=name)(forward)
    return forward


def _native(
    name: str,
    refuse: Refusal,
    kernel: Kernel,
    *aliases: str,
    twin: Face = "",
    **known: Unpack[Known],
) -> Forward:
    """Declare one that has a formula of its name, by which native code computes it as well."""
    known["formula"] = formula(name)
    return _declare(name, refuse, pointwise(name, kernel), *aliases, twin=twin, **known)


def _log1p(x: Array) -> object:
    """`log(1 + x)`; NumPy's loses the real part of complex numbers near 0."""
    if x.dtype.kind != "c":
        return np.log1p(x)
    real, imag = x.real, x.imag
    grown = real * (real + 2) + imag * imag  # |1 + x|² - 1
    is_lost = (grown == 0) & (np.hypot(real, imag) < 0.5)
    near = np.where(is_lost, real, np.log1p(grown) * real.dtype.type(0.5))
    found = as_array(np.log1p(x))
    found.real = np.where(np.abs(grown) < 0.5, near, np.log(np.hypot(real + 1, imag)))
    found[np.isnan(real) | np.isnan(imag)] = complex(np.nan, np.nan)
    return found


_native("acos", Refusal("q", "acos_vml_cpu"), np.arccos, "arccos", autocast_in_graphs="full")
_native("acosh", Refusal("q", "acosh_cpu"), np.arccosh, "arccosh")
_native("asin", Refusal("q", "asin_vml_cpu"), np.arcsin, "arcsin", autocast_in_graphs="full")
_native("asinh", Refusal("q", "asinh_cpu"), np.arcsinh, "arcsinh")
_native("atan", Refusal("q", "atan_vml_cpu"), np.arctan, "arctan")
_native("atanh", Refusal("q", "atanh_cpu"), np.arctanh, "arctanh")
_native("cos", Refusal("q", "cos_vml_cpu"), np.cos)
_native("cosh", Refusal("q", "cosh_cpu"), np.cosh, autocast_in_graphs="full")
_declare(
    "deg2rad",
    _not_complex("deg2rad"),
    _times(math.pi / 180),
    formula=formula("deg2rad"),
    gradients={"self": lambda g: g * (math.pi / 180)},
)
_native(
    "digamma",
    Refusal("qc", "digamma"),
    in_double(digamma),
    "special_digamma",
    "special_psi",
    twin="method",
)
_native("erf", Refusal("qc", "erf_vml_cpu"), erf, "special_erf")
_native("erfc", Refusal("qc", "erfc_vml_cpu"), erfc, "special_erfc")
_native(
    "erfinv",
    Refusal("qc", "erfinv_vml_cpu"),
    erfinv,
    "special_erfinv",
    twin="method",
    autocast_in_graphs="full",
)
_native("exp", Refusal("q", "exp_vml_cpu"), _closely(np.exp), autocast_in_graphs="full")
_native("exp2", Refusal("q", "exp2"), _exp2, "special_exp2")
_native(
    "expm1",
    Refusal("q", "expm1_vml_cpu"),
    np.expm1,
    "special_expm1",
    autocast_in_graphs="full",
)
_native("i0", Refusal("qc", "i0_vml_cpu"), in_double(i0), "special_i0")
_native(
    "lgamma", Refusal("qc", "lgamma_vml_cpu"), in_double(lgamma), "special_gammaln", twin="method"
)
_log: Final = _native(
    "log", Refusal("q", "log_vml_cpu"), _closely(np.log), autocast_in_graphs="full"
)
_native("log10", Refusal("q", "log10_vml_cpu"), np.log10, autocast_in_graphs="full")
_native(
    "log1p",
    Refusal("q", "log1p_vml_cpu"),
    _log1p,
    "special_log1p",
    autocast_in_graphs="full",
)
_native("log2", Refusal("q", "log2_vml_cpu"), np.log2, autocast_in_graphs="full")
_declare(
    "rad2deg",
    _not_complex("rad2deg"),
    _times(180 / math.pi),
    formula=formula("rad2deg"),
    gradients={"self": lambda g: g * (180 / math.pi)},
)
_declare(
    "reciprocal",
    Refusal("q", "reciprocal_cpu"),
    _of_one,
    formula=formula("reciprocal"),
    autocast_in_graphs="full",
)
_declare(
    "rsqrt", Refusal("q", "rsqrt_cpu"), _rsqrt, formula=formula("rsqrt"), autocast_in_graphs="full"
)
sigmoid: Final = _native("sigmoid", Refusal("q", "sigmoid_cpu"), _sigmoid, "special_expit")
"""`1 / (1 + exp(-x))`."""
_native("sin", Refusal("q", "sin_vml_cpu"), np.sin)
_native("sinc", Refusal("q", "sinc_cpu"), np.sinc, "special_sinc")
_native("sinh", Refusal("q", "sinh_cpu"), np.sinh, autocast_in_graphs="full")
_declare("sqrt", Refusal("q", "sqrt_vml_cpu"), np.sqrt, formula=formula("sqrt"))
_native("tan", Refusal("q", "tan_vml_cpu"), np.tan, autocast_in_graphs="full")
tanh: Final = _native("tanh", Refusal("q", "tanh_vml_cpu"), np.tanh)
"""The hyperbolic tangent."""


# --------------------------------------------------------------------------- without floats only

_refuse_square: Final = Refusal("uq", "pow")
_refuse_sign: Final = Refusal(
    "u",
    "sign_cpu",
    says=(
        "qc",
        "Unlike NumPy, torch.sign is not intended to support complex numbers. "
        "Please use torch.sgn instead.",
    ),
)
_refuse_sgn: Final = Refusal("u", "sign_cpu")
_refuse_frac: Final = Refusal("biuqc", "frac_cpu")


@with_twin("aten::square(Tensor self) -> Tensor", formula=formula("square"))
def square(self: Array) -> Array:
    _refuse_square(self.dtype)
    if self.dtype.kind == "b":
        return self.astype(np.int64)
    return as_array(np.multiply(self, self))


@with_twin(
    "aten::sign(Tensor self) -> Tensor", twin="method", out_dtype=FOUND, formula=formula("sign")
)
def sign(self: Array) -> Array:
    _refuse_sign(self.dtype)
    return _sign(self)


def _sign(self: Array) -> Array:
    if kind(self.dtype) == 2:
        above, below = np.greater(self, 0), np.less(self, 0)
        return as_array(np.subtract(above, below, dtype=np.int8)).astype(self.dtype)
    return as_array(np.logical_and(self, self) if kind(self.dtype) == 0 else np.sign(self))


@with_twin(
    "aten::sgn(Tensor self) -> Tensor", twin="method", out_dtype=FOUND, formula=formula("sign")
)
def sgn(self: Array) -> Array:
    """The sign; of a complex number the one of size 1 in its direction."""
    _refuse_sgn(self.dtype)
    if self.dtype.kind != "c":
        return _sign(self)
    size = np.abs(self)
    return as_array(np.where(size == 0, 0, self / np.where(size == 0, 1, size))).astype(self.dtype)


@with_twin(
    "aten::frac(Tensor self) -> Tensor",
    out_dtype=FOUND,
    formula=formula("frac"),
    gradients={"self": lambda g: g},
)
def frac(self: Array) -> Array:
    _refuse_frac(self.dtype)
    return as_array(self - np.trunc(self))


_refuse_nan_to_num: Final = Refusal("q", "nan_to_num")


@with_twin(
    "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) "
    "-> Tensor",
    layout="L",
    twin="both",
    prepared=True,
    out_dtype=OutDtype("same", "nan_to_num: dtype of out: {out} should be same as input: {result}"),
)
def nan_to_num(self: Array, nan: float | None, posinf: float | None, neginf: float | None) -> Array:
    _refuse_nan_to_num(self.dtype)
    if kind(self.dtype) < 2:
        return self.copy()
    if self.dtype.kind == "c":
        result = np.empty_like(self)
        result.real = nan_to_num(self.real, nan, posinf, neginf)
        result.imag = nan_to_num(self.imag, nan, posinf, neginf)
        return result
    limits = limit_of(self.dtype)
    high = limits if posinf is None else posinf
    low = -limits if neginf is None else neginf
    numbers = [operand(float(each), self.dtype) for each in (nan or 0.0, high, low)]
    found = by_formula("without_nan", self, *numbers)
    if found is not None:
        return as_array(found)
    result = np.where(np.isnan(self), self.dtype.type(nan or 0.0), self)
    result = np.where(self == np.inf, self.dtype.type(high), result)
    return as_array(np.where(self == -np.inf, self.dtype.type(low), result))


def limit_of(dtype: Dtype) -> Any:
    """The largest finite number of a floating-point dtype."""
    if dtype.kind == "f":
        return np.finfo(dtype).max
    import ml_dtypes

    limits: Any = ml_dtypes.finfo
    return limits(dtype).max


# --------------------------------------------------------------------------- with parameters


def _held(x: Array, eps: float | None) -> Array:
    """Numbers between eps and 1 - eps, if there is one."""
    if eps is None:
        return x
    low = x.dtype.type(eps)
    held: Array = np.minimum(np.maximum(x, low), x.dtype.type(1) - low)
    return held


def _logit(x: Array, eps: float | None) -> Array:
    bounds = () if eps is None else (np.asarray(eps, x.dtype),)
    found = of_floats("logit_within" if bounds else "logit", x, *bounds)
    if found is not None:
        return found
    held = _held(x, eps)
    odds: Array = np.log(held / (1 - held))
    return odds


def _logit_of_halves(x: Array, eps: float | None) -> Array:
    """The same, rounded after each step."""
    arrays = family("elementwise.arrays") if x.size and x.flags.c_contiguous else None
    if arrays is not None:
        own, held = arrays.LETTERS[x.dtype], 0
        bounds: tuple[float, ...] = ()
        steps: list[tuple[str, str, tuple[int, ...]]] = []
        if eps is not None:
            low = x.dtype.type(eps)
            bounds, held = (float(low), float(x.dtype.type(1) - low)), 5
            steps = [("maximum", own, (0, 2)), ("minimum", own, (4, 3))]
        last = 2 + len(bounds) + len(steps)
        steps += [("subtract", own, (1, held)), ("divide", own, (held, last))]
        made: Array = arrays.evaluate([*steps, ("log", own, (last + 1,))], own, x, 1.0, *bounds)
        return made
    within = _held(x, eps)
    shares: Array = within / (within.dtype.type(1) - within)
    return _log(shares)


_OF_LOGIT: Final = formula("logit", at={1: None}) + formula("logit_within", 0, 1)


@with_twin("aten::logit(Tensor self, float? eps=None) -> Tensor", twin="both", formula=_OF_LOGIT)
def logit(self: Array, eps: float | None) -> Array:
    """`log(x / (1 - x))`, x held between eps and 1 - eps if there is one.

    Of 16-bit floats each step is rounded.
    """
    if letter(self.dtype) == "h":
        return _logit_of_halves(in_own_order(self), eps)
    return of_one(Refusal("qc", "logit_cpu"), lambda x: _logit(x, eps))(self)


operator(
    "aten::special_logit(Tensor self, float? eps=None) -> Tensor",
    first_name="logit",
    formula=_OF_LOGIT,
)(logit)


def _with_order(name: str, order: int, kernel: Kernel) -> Kernel:
    """A function of one float and of a whole number, by native code where there is such."""

    def computed(x: Array) -> object:
        found = of_floats(name, x, np.asarray(order, x.dtype))
        return kernel(x) if found is None else found

    return computed


def _polygamma(n: int) -> Kernel:
    if n < 2:
        return _DERIVATIVES[n]
    return _with_order("polygamma", n, in_double(lambda x: polygamma(n, x)))


_DERIVATIVES: Final = (
    pointwise("digamma", in_double(digamma)),
    pointwise("trigamma", in_double(lambda x: polygamma(1, x))),
)


def _formulas_of_polygamma(n: int, x: int) -> tuple[Formula, ...]:
    """The formulas, by the places of order and tensor."""
    first = formula("digamma", x, at={n: 0}) + formula("trigamma", x, at={n: 1})
    return first + formula("polygamma", x, n, checks=True)


@operator(
    "aten::polygamma(int n, Tensor self) -> Tensor",
    "aten::special_polygamma(int n, Tensor self) -> Tensor",
    layout="P",
    formula=_formulas_of_polygamma(0, 1),
)
def polygamma_of(n: int, self: Array) -> Array:
    if n < 0:
        raise OperatorError(
            "polygamma(n, x) does not support negative n.",
            headline=f"`n` is {n}, it must not be negative",
        )
    refuse = Refusal("qc", "trigamma" if n else "digamma")
    return of_one(refuse, _polygamma(n))(self)


@operator(
    "aten::polygamma_(Tensor(a!) self, int n) -> Tensor(a!)", formula=_formulas_of_polygamma(1, 0)
)
def polygamma_in_place(self: Array, n: int) -> Array:
    return write(self, polygamma_of(n, self))


_OF_MVLGAMMA: Final = formula("mvlgamma", 0, 1, checks=True)


@operator(
    "aten::mvlgamma(Tensor self, int p) -> Tensor",
    out_dtype=OutDtype(
        "castable",
        "{name}: result type {result} can't be cast to the desired output type {result}",
    ),
    layout="C",
    formula=_OF_MVLGAMMA,
)
def mvlgamma(self: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function of dimension p."""
    if self.dtype.kind == "b":
        raise OperatorError("The input tensor may not be a boolean tensor.", code="dtype-mismatch")
    if p < 1:
        raise OperatorError("p has to be greater than or equal to 1")
    if kind(self.dtype) < 2:
        self = self.astype(default_dtype.float)
    np.empty((max(self.size, 1), p), np.float32)  # torch holds all terms
    kernel = _with_order("mvlgamma", p, in_double(lambda x: multigamma(x, p)))
    return of_one(Refusal("qc", "arange_cpu"), kernel)(self)


operator(
    "aten::special_multigammaln(Tensor self, int p) -> Tensor",
    first_name="mvlgamma",
    layout="C",
    formula=_OF_MVLGAMMA,
)(mvlgamma)


@operator("aten::mvlgamma_(Tensor(a!) self, int p) -> Tensor(a!)")
def mvlgamma_in_place(self: Array, p: int) -> Array:
    if self.dtype.kind in "iu":
        wanted, own = of_numpy(default_dtype.float).scalar_name, dtype_of(self).scalar_name
        raise OperatorError(
            f"mvlgamma: result type {own} can't be cast to the desired output type {wanted}",
            code="dtype-mismatch",
        )
    return write(self, mvlgamma(self, p))


_refuse_frexp: Final = Refusal(
    "", fails=("biuqc", "torch.frexp() only supports floating-point dtypes")
)


@operator(
    "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    layout="LL",
    out_dtype=OutDtype(
        "same",
        "torch.frexp() expects mantissa to have dtype {cpp_result} but got {cpp_out}",
        others={"exponent": "torch.frexp() expects exponent to have int dtype but got {cpp_out}"},
    ),
)
def frexp(self: Array) -> tuple[Array, Array]:
    _refuse_frexp(self.dtype)
    wide = self.astype(np.float32) if self.itemsize < 4 else self
    mantissa, exponent = np.frexp(wide)
    return as_array(mantissa).astype(self.dtype, copy=False), as_array(exponent)

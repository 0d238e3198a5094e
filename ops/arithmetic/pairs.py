"""Functions of two numbers, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..kernels import of_floats
from ..memory.dtype import Array, Dtype, Scalar, dtype_of, of_numpy
from ..memory.errors import OperatorError
from ..memory.order import beside
from ..special_functions.gamma import zeta
from ..special_functions.incomplete_gamma import igamma, igammac
from ..table.declare import number_first, number_second, of_two, with_twin
from ..table.formula import Part, formula
from ..table.layouts import contiguous
from ..table.out_dtypes import OutDtype
from ..table.pointwise import as_array, binary, cast, checked_broadcast, in_place, write
from ..table.promotion import kind
from ..table.refusals import Refusal, check_kernel, letter
from ..table.table import operator
from .elementwise import mul
from .powers import number_pow, pow_number, pow_tensors

__all__ = ["sum_of_exponentials"]

_OUT_OF_FLOAT_POWER: Final = OutDtype(
    "same",
    "the output given to float_power has dtype {out} but the operation's result requires "
    "dtype {result}",
)

_float64: Final = np.dtype(np.float64)


def _xlogy(x: Array, y: Array) -> Array:
    return np.where(np.isnan(y), y, np.where(x == 0, x.dtype.type(0), x * np.log(y)))


def _xlog1py(x: Array, y: Array) -> object:
    return np.where(np.isnan(y), y, np.where(x == 0, x.dtype.type(0), x * np.log1p(y)))


def _native(name: str, kernel: Callable[..., object]) -> Callable[..., object]:
    """A function of two floats, by native code where there is such."""

    def computed(x: Array, y: Array) -> object:
        found = of_floats(name, x, y)
        return kernel(x, y) if found is None else found

    return computed


_logaddexp_of_reals: Final = _native("logaddexp", np.logaddexp)


def _logaddexp(x: Array, y: Array) -> object:
    if x.dtype.kind != "c":
        return _logaddexp_of_reals(x, y)
    return sum_of_exponentials(x, y)


def sum_of_exponentials(x: Array, y: Array) -> Array:
    """`log(exp(x) + exp(y))` of complex numbers, whose imaginary part is not wrapped.

    NaN in one of the parts makes both NaN.  Where both real parts are minus infinity, whose angle
    means nothing, it is y.
    """
    first = x.real >= y.real
    high, low = np.where(first, x, y), np.where(first, y, x)
    same = np.isinf(x.real) & (x.real == y.real)
    found = np.where(same, np.log(np.exp(x) + np.exp(y)), high + np.log1p(np.exp(low - high)))
    found = np.where(same & (x.real < 0), y, found)
    return np.where(np.isnan(x) | np.isnan(y), complex(np.nan, np.nan), found).astype(x.dtype)


def _wide(kernel: Callable[..., object]) -> Callable[..., object]:
    def computed(x: Array, y: Array) -> Array:
        return np.asarray(kernel(x.astype(_float64), y.astype(_float64)), x.dtype)

    return computed


def _incomplete(kernel: Callable[..., object]) -> Callable[..., object]:
    def computed(a: Array, x: Array) -> Array:
        unit = _float64 if a.dtype == _float64 else np.float32
        return np.asarray(kernel(a.astype(_float64), x.astype(_float64), unit), a.dtype)

    return computed


# --------------------------------------------------------------------------- floats

_ARGUMENTS: Final = "(Tensor self, Tensor other) -> Tensor"

_atan2 = of_two(Refusal("qc", "atan2_cpu"), _native("atan2", np.arctan2))
with_twin(f"aten::atan2{_ARGUMENTS}", autocast_in_graphs="widest", formula=formula("atan2", 0, 1))(
    _atan2
)
with_twin(f"aten::arctan2{_ARGUMENTS}", first_name="atan2")(_atan2)
with_twin(f"aten::hypot{_ARGUMENTS}", formula=formula("hypot", 0, 1))(
    of_two(Refusal("biuqc", "hypot_cpu"), _native("hypot", np.hypot))
)
with_twin(f"aten::nextafter{_ARGUMENTS}", formula=formula("nextafter", 0, 1))(
    of_two(Refusal("biuqc", "nextafter_cpu"), np.nextafter, native=True)
)
operator(f"aten::logaddexp{_ARGUMENTS}", formula=formula("logaddexp", 0, 1))(
    of_two(Refusal("biuq", "logaddexp_cpu"), _logaddexp)
)
operator(f"aten::logaddexp2{_ARGUMENTS}", formula=formula("logaddexp2", 0, 1))(
    of_two(Refusal("biuqc", "logaddexp2_cpu"), _native("logaddexp2", np.logaddexp2))
)

for _name, _shown, _kernel in (
    ("fmax", "maximum_cpu", np.fmax),
    ("fmin", "minimum_cpu", np.fmin),
):
    _refuse = Refusal("u", _shown, fails=("qc", f"{_name} not implemented for complex tensors."))
    operator(f"aten::{_name}{_ARGUMENTS}", formula=formula(_name, 0, 1))(
        of_two(_refuse, _native(_name, _kernel), whole="same")
    )

_igamma: Final = of_two(Refusal("biuqc", "igamma_cpu"), _native("igamma", _incomplete(igamma)))
_igammac: Final = of_two(Refusal("biuqc", "igammac_cpu"), _native("igammac", _incomplete(igammac)))
_LOWER, _UPPER = formula("igamma", 0, 1), formula("igammac", 0, 1)
with_twin(f"aten::igamma{_ARGUMENTS}", layout="P", formula=_LOWER)(_igamma)
with_twin(f"aten::igammac{_ARGUMENTS}", layout="P", formula=_UPPER)(_igammac)
operator(f"aten::special_gammainc{_ARGUMENTS}", first_name="igamma", layout="P", formula=_LOWER)(
    _igamma
)
operator(f"aten::special_gammaincc{_ARGUMENTS}", first_name="igammac", layout="P", formula=_UPPER)(
    _igammac
)

_copysign: Final = of_two(Refusal("qc", "copysign_cpu"), np.copysign)
with_twin(
    "aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    out="out",
    formula=formula("copysign", 0, 1),
)(_copysign)
with_twin(
    "aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor",
    formula=formula("copysign", 0, 1, checks=True),
)(number_second(_copysign))

_of_xlogy: Final = of_two(Refusal("qc", "xlogy_cpu"), _native("xlogy", _xlogy), native=True)
_XLOGY: Final = formula("xlogy", 0, 1)
with_twin(
    "aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    out="OutTensor",
    twin="both",
    layout="P",
    formula=_XLOGY,
)(_of_xlogy)
with_twin(
    "aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
    out="OutScalar_Other",
    twin="both",
    formula=_XLOGY,
)(number_second(_of_xlogy))
operator(
    "aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    out="OutScalar_Self",
    formula=_XLOGY,
    order="OutScalar_Self OutScalar_Other",
)(number_first(_of_xlogy))

for _name, _forward in (
    *(
        ("xlogy", _of_xlogy),
        (
            "xlog1py",
            of_two(Refusal("qc", "xlog1py_cpu"), _native("xlog1py", _xlog1py), native=True),
        ),
    ),
    ("zeta", of_two(Refusal("hqc", "zeta_cpu"), _native("zeta", _wide(zeta)))),
):
    _full, _formula = f"aten::special_{_name}", formula(_name, 0, 1)
    operator(
        f"{_full}{_ARGUMENTS}",
        first_name="xlogy" if _name == "xlogy" else "",
        order="self_scalar_out other_scalar_out",
        layout="P",
        formula=_formula,
    )(_forward)
    operator(f"{_full}.other_scalar(Tensor self, Scalar other) -> Tensor", formula=_formula)(
        number_second(_forward)
    )
    operator(f"{_full}.self_scalar(Scalar self, Tensor other) -> Tensor", formula=_formula)(
        number_first(_forward)
    )


# --------------------------------------------------------------------------- whole numbers


def _gcd(x: Array, y: Array) -> Array:
    """Euclid's; the smallest number, which has no absolute value, counts as it is, as in torch."""
    result = as_array(np.gcd(x, y))
    least = np.iinfo(result.dtype).min
    odd = np.broadcast_to((x == least) | (y == least), result.shape) if least else None
    if odd is not None and odd.any():
        pairs = (np.abs(np.broadcast_to(each, result.shape)[odd]) for each in (x, y))
        result[odd] = [_by_remainders(int(a), int(b)) for a, b in zip(*pairs, strict=True)]
    return result


def _by_remainders(a: int, b: int) -> int:
    while a:  # the remainder has the sign of what is divided
        a, b = (-1 if b < 0 else 1) * (abs(b) % abs(a)), a
    return b


def _lcm(x: Array, y: Array) -> Array:
    """`|x / gcd * y|`, which wraps at 32 bits or more."""
    divisor = _gcd(x, y)
    wide = np.promote_types(divisor.dtype, np.int32) if divisor.dtype.kind == "i" else np.int32
    quotient = x.astype(wide) // np.where(divisor == 0, 1, divisor)
    return as_array(np.abs(as_array(quotient * y, np.dtype(wide)))).astype(divisor.dtype)


with_twin(f"aten::gcd{_ARGUMENTS}", twin="both", formula=formula("gcd", 0, 1))(
    of_two(Refusal("buhfqc", "gcd_cpu"), _gcd, whole="same")
)
with_twin(f"aten::lcm{_ARGUMENTS}", twin="both", formula=formula("lcm", 0, 1))(
    of_two(Refusal("buhfqc", "lcm_cpu"), _lcm, whole="same")
)

_refuse_heaviside: Final = Refusal(
    "u", "heaviside_cpu", fails=("qc", "heaviside is not yet implemented for complex tensors.")
)


def _parts_of_heaviside(result: Array, self: Array, values: Array) -> list[Part]:
    if not self.dtype == values.dtype == result.dtype:
        return []
    steps = [("is_zero", "", (0,)), ("greater", "", (0, 2)), ("choose", "", (3, 1, 4))]
    return [Part(steps, [self, values, 0], result)]


@with_twin(
    "aten::heaviside(Tensor self, Tensor values) -> Tensor",
    parts=_parts_of_heaviside,
    layout="P",
    out_dtype=OutDtype(
        "same",
        "{name} is not yet implemented for tensors with different dtypes.",
        others={"complex": "{name} is not yet implemented for complex tensors."},
    ),
)
def heaviside(self: Array, values: Array) -> Array:
    """0 below 0, 1 above, and `values` at 0."""
    for operand in (self, values):
        if operand.dtype.kind == "c":
            _refuse_heaviside(operand.dtype)
    if self.dtype != values.dtype:
        raise OperatorError(
            "heaviside is not yet implemented for tensors with different dtypes.",
            code="dtype-mismatch",
            headline=f"`self` is `{dtype_of(self)}` and `values` is `{dtype_of(values)}`",
        )
    _refuse_heaviside(self.dtype)

    def kernel(x: Array, at_zero: Array) -> Array:
        return np.where(x == 0, at_zero, (x > 0).astype(x.dtype))

    return binary(kernel, self, values)


# --------------------------------------------------------------------------- powers


def _wide_power_dtype(*dtypes: Dtype) -> Dtype:
    has_complex = any(kind(dtype) == 3 for dtype in dtypes)
    return np.dtype(np.complex128 if has_complex else np.float64)


@operator(
    "aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    layout="P",
    order="Scalar_out Tensor_Scalar_out",
    out_dtype=_OUT_OF_FLOAT_POWER,
)
def float_power(self: Array, exponent: Array) -> Array:
    """The power in float64, or complex128."""
    dtype = _wide_power_dtype(self.dtype, exponent.dtype)
    return pow_tensors(cast(self, dtype), cast(exponent, dtype))


def _as_wide(number: Scalar, dtype: Dtype) -> Scalar:
    return complex(number) if dtype.kind == "c" or isinstance(number, complex) else float(number)


@operator(
    "aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    out_dtype=_OUT_OF_FLOAT_POWER,
)
def float_power_number(self: Array, exponent: Scalar) -> Array:
    dtype = _wide_power_dtype(self.dtype, np.dtype(type(exponent)))
    return pow_number(cast(self, dtype), _as_wide(exponent, dtype))


@operator(
    "aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    out_dtype=_OUT_OF_FLOAT_POWER,
)
def number_float_power(self: Scalar, exponent: Array) -> Array:
    dtype = _wide_power_dtype(exponent.dtype, np.dtype(type(self)))
    return number_pow(_as_wide(self, dtype), cast(exponent, dtype))


def _float_power_in_place(forward: Callable[..., Array]) -> Callable[..., Array]:
    def computed(self: Array, exponent: Array | Scalar) -> Array:
        other = exponent.dtype if isinstance(exponent, np.ndarray) else np.dtype(type(exponent))
        wanted = _wide_power_dtype(self.dtype, other)
        if wanted != self.dtype:
            raise OperatorError(
                f"the base given to float_power_ has dtype {dtype_of(self).scalar_name} but the "
                f"operation's result requires dtype {of_numpy(wanted).scalar_name}",
                code="dtype-mismatch",
                headline=f"the result is `{of_numpy(wanted)}` and `self` is `{dtype_of(self)}`",
            )
        return write(self, forward(self, exponent))

    return computed


operator("aten::float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)")(
    _float_power_in_place(float_power)
)
operator("aten::float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)")(
    _float_power_in_place(float_power_number)
)


_refuse_exponent: Final = Refusal("bu", "ldexp_cpu_exp")


def _scaled_by_two(mantissa: Array, exponent: Array) -> object:
    narrow = letter(mantissa.dtype) == "h"
    wide = mantissa.astype(np.float32) if narrow else mantissa
    result = np.ldexp(wide, exponent.astype(np.int32))  # wraps, as torch's
    return np.asarray(result, mantissa.dtype)


def _parts_of_ldexp(result: Array, self: Array, other: Array) -> list[Part]:
    if self.dtype != np.float32 or other.dtype.char not in "bhilB":
        return []
    steps = [("same", "i", (1,)), ("scaled_by_two", "", (0, 2))]
    return [Part(steps, [self, other], result)]


@operator(
    "aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    out="out",
    parts=_parts_of_ldexp,
    out_dtype=OutDtype("castable", "{name} can't be cast to the desired output type {out}"),
)
def ldexp(self: Array, other: Array) -> Array:
    """`self * 2 ** other`, whose power is a contiguous tensor in torch."""
    return beside(_ldexp(self, other), self, contiguous(other))


def _ldexp(self: Array, other: Array) -> Array:
    check_kernel("pow", other, "qe" if self.dtype == np.float32 else "e")
    if kind(self.dtype) == 2 and kind(other.dtype) < 2:
        checked_broadcast(self.shape, other.shape)
        _refuse_exponent(other.dtype)
        return as_array(_scaled_by_two(self, other))
    if kind(self.dtype) < 2 or self.dtype == np.float32:
        return mul(self, number_pow(2.0, other))
    return mul(self, pow_tensors(np.asarray(2).astype(self.dtype), other))


_scale_in_place: Final = in_place(ldexp)


@operator("aten::ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)", face="both")
def ldexp_in_place(self: Array, other: Array) -> Array:
    if kind(self.dtype) < 2:
        wanted = dtype_of(self).scalar_name
        raise OperatorError(
            f"ldexp can't be cast to the desired output type {wanted}",
            code="dtype-mismatch",
            headline=f"a result of floats cannot be written into `{dtype_of(self)}`",
        )
    return _scale_in_place(self, other)

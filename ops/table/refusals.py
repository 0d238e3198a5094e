"""The dtypes an operator does not take, and torch's sentence about it.

Dtypes fall into classes, each with a letter; torch's kernels take or refuse whole classes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np

from ..memory.dtype import DType, Scalar, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype

__all__ = ["Refusal", "check_number", "cpp_name", "letter"]

Dtype = np.dtype[Any]

_LETTERS: Final = {
    **dict.fromkeys(("bool",), "b"),
    **dict.fromkeys(("uint8", "int8", "int16", "int32", "int64"), "i"),
    **dict.fromkeys(("uint16", "uint32", "uint64"), "u"),
    **dict.fromkeys(("float16", "bfloat16"), "h"),
    **dict.fromkeys(("float32", "float64"), "f"),
    **dict.fromkeys(("complex32",), "q"),
    **dict.fromkeys(("complex64", "complex128"), "c"),
}


@cache
def letter(dtype: Dtype) -> str:
    """The class of an array dtype: bool b, whole i, wide unsigned u, 16 bits h, float f, complex c.

    The complex numbers of two halves are `q`, the 8-bit floats `e`.
    """
    return _LETTERS.get(of_numpy(dtype).name, "e")


_KERNELS: Final = """
abs bu abs_cpu; acos q acos_vml_cpu; acosh q acosh_cpu; addcdiv q addcdiv_cpu_out;
addcmul bu addcmul_cpu_out; angle q angle_cpu; asin q asin_vml_cpu; asinh q asinh_cpu;
atan q atan_vml_cpu; atan2 qc atan2_cpu; atanh q atanh_cpu; bitwise_and hfqc bitwise_and_cpu;
bitwise_left_shift buhfqc lshift_cpu; bitwise_not uhfqc bitwise_not_cpu;
bitwise_or hfqc bitwise_or_cpu; bitwise_right_shift buhfqc rshift_cpu;
bitwise_xor hfqc bitwise_xor_cpu; ceil b ceil_vml_cpu; clamp bu clamp_cpu;
clamp_numbers bu clamp_scalar_cpu; clamp_min_number bu clamp_min_scalar_cpu;
clamp_max_number bu clamp_max_scalar_cpu; copysign qc copysign_cpu; cos q cos_vml_cpu;
cosh q cosh_cpu; digamma qc digamma; div q div_cpu; div_floor buqc div_floor_cpu;
div_trunc buqc div_trunc_cpu; entr qc entr_cpu; erf qc erf_vml_cpu; erfc qc erfc_vml_cpu;
erfcx hqc erfcx_cpu; erfinv qc erfinv_vml_cpu; exp q exp_vml_cpu; exp2 q exp2;
expm1 q expm1_vml_cpu; floor b floor_vml_cpu; fmax u maximum_cpu; fmin u minimum_cpu;
fmod buqc fmod_cpu; frac biuqc frac_cpu; gcd buhfqc gcd_cpu; ge uqc ge_cpu; gt uqc gt_cpu;
heaviside u heaviside_cpu; hypot biuqc hypot_cpu; i0 qc i0_vml_cpu; i0e qc i0e_cpu; i1 qc i1_cpu;
i1e qc i1e_cpu; igamma biuqc igamma_cpu; igammac biuqc igammac_cpu; lcm buhfqc lcm_cpu;
le uqc le_cpu; ldexp q pow; lerp_number biuq lerp_kernel_scalar; lerp biuq lerp_kernel_tensor;
lgamma qc lgamma_vml_cpu; log q log_vml_cpu; log10 q log10_vml_cpu; log1p q log1p_vml_cpu;
log2 q log2_vml_cpu; log_ndtr hqc log_ndtr_cpu; logaddexp biuq logaddexp_cpu;
logaddexp2 biuqc logaddexp2_cpu; logical_and uq logical_and_cpu; logical_not uq logical_not_cpu;
logical_or uq logical_or_cpu; logical_xor uq logical_xor_cpu; logit qc logit_cpu; lt uqc lt_cpu;
maximum uqc maximum_cpu; minimum uqc minimum_cpu; nan_to_num q nan_to_num; ndtr qc erf_vml_cpu;
ndtri hqc ndtri_cpu; neg u neg_cpu; nextafter biuqc nextafter_cpu; polygamma qc trigamma;
pow buq pow; reciprocal q reciprocal_cpu; remainder buqc remainder_cpu; round bqc round_vml_cpu;
round_decimals biuqc round_cpu; rsqrt q rsqrt_cpu; sgn u sign_cpu; sigmoid q sigmoid_cpu;
sign u sign_cpu; sin q sin_vml_cpu; sinc q sinc_cpu; sinh q sinh_cpu; sqrt q sqrt_vml_cpu;
square uq pow; sub u add_stub; add u add_stub; tan q tan_vml_cpu; tanh q tanh_vml_cpu;
trunc b trunc_vml_cpu; xlog1py qc xlog1py_cpu; xlogy qc xlogy_cpu; zeta hqc zeta_cpu;
polar h polar_cpu; deg2rad - -; rad2deg - -; isneginf - -; isposinf - -; positive - -;
frexp - -; signbit - -; mvlgamma qc arange_cpu
"""
"""Operator, classes refused, kernel as torch names it.  Others refuse `hqc`, as in `special`."""

_SENTENCES: Final[dict[str, tuple[str, str]]] = {
    **{name: ("qc", f"{name} is not supported for complex inputs") for name in ("ceil", "floor")},
    "trunc": ("qc", "trunc is not supported for complex inputs"),
    "sign": (
        "qc",
        "Unlike NumPy, torch.sign is not intended to support complex numbers. "
        "Please use torch.sgn instead.",
    ),
    "signbit": ("qc", "signbit is not implemented for complex tensors."),
    **dict.fromkeys(
        ("clamp", "clamp_numbers", "clamp_min_number", "clamp_max_number"),
        ("qc", "clamp is not supported for complex types"),
    ),
}
"""Refusals told as not implemented, in other words."""

_FAILURES: Final[dict[str, tuple[str, str]]] = {
    **{
        name: ("qc", f"{name} is not supported for complex tensors.")
        for name in ("deg2rad", "rad2deg")
    },
    **{
        name: ("qc", f"{name} does not support complex inputs.")
        for name in ("isneginf", "isposinf")
    },
    **{
        name: ("qc", f"{name} not implemented for complex tensors.")
        for name in ("fmax", "fmin", "maximum", "minimum")
    },
    "heaviside": ("qc", "heaviside is not yet implemented for complex tensors."),
    "positive": ("b", "The `+` operator, on a bool tensor is not supported."),
    "frexp": ("biuqc", "torch.frexp() only supports floating-point dtypes"),
}
"""Refusals told as plain failures."""


@cache
def _kernels() -> dict[str, tuple[str, str]]:
    words = (entry.split() for entry in _KERNELS.split(";"))
    return {name: (classes, kernel) for name, classes, kernel in words}


_CPP_NAMES: Final = {
    **{"uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int"},
    **{"int64": "long int", "uint16": "short unsigned int", "uint32": "unsigned int"},
    **{"uint64": "long unsigned int", "float16": "c10::Half", "bfloat16": "c10::BFloat16"},
    **{"float32": "float", "float64": "double", "complex32": "c10::complex<c10::Half>"},
    **{"complex64": "c10::complex<float>", "complex128": "c10::complex<double>"},
}
"""Dtypes as C++ spells them, where not as torch does."""


def cpp_name(dtype: DType) -> str:
    """What some of torch's messages call a dtype."""
    return _CPP_NAMES.get(dtype.name, dtype.name)


_MAX: Final = np.finfo(np.float32).max
_LARGEST: Final = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": float(_MAX)}
"""Of the floats that are smaller than Python's."""

_OVERFLOW_NAMES: Final = {
    **{"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t"},
}


def _fits(number: Scalar, dtype: Dtype) -> bool:
    given = of_numpy(dtype)
    if given.name == "bool":
        return True
    if isinstance(number, complex):
        if given.is_complex:
            part = given.to_real().numpy
            return _fits(number.real, part) and _fits(number.imag, part)
        return not number.imag and _fits(number.real, dtype)
    if given.is_complex:
        return _fits(number, given.to_real().numpy)
    if given.kind in "iu":
        limits = np.iinfo(dtype)
        whole = isinstance(number, int)  # of which unsigned dtypes take negative ones too
        return bool((limits.min or (-limits.max if whole else 0)) <= number <= limits.max)
    largest = _LARGEST.get(given.name)
    return largest is None or not (largest < abs(number) and (math.isfinite(number)))


def check_number(number: Scalar, dtype: Dtype) -> None:
    """Refuse a number that a tensor of this dtype cannot hold; infinities are no numbers too large.

    Raises:
        OperatorError: it is complex and the dtype is not, or it is too large.
    """
    if not _fits(number, dtype):
        given = of_numpy(dtype)
        name = _OVERFLOW_NAMES.get(given.name, cpp_name(given))
        raise OperatorError(
            f"value cannot be converted to type {name} without overflow",
            code="dtype-mismatch",
            headline=f"{number} is not a `{given}`",
        )


class Refusal:
    """Called with a dtype, raises if the operator refuses it.

    Args:
        name: the operator in the table of this file.
        kernel: the kernel's name in the sentence, if it is another than the table says.
        classes: the letters of the dtypes refused, likewise.
    """

    __slots__ = ("_classes", "_kernel", "_known", "_name")

    def __init__(self, name: str, kernel: str = "", classes: str | None = None) -> None:
        listed, shown = _kernels().get(name) or ("hqc", f"{name}_cpu")
        self._name = name
        self._kernel = kernel or shown
        self._classes = listed if classes is None else classes
        self._known: set[Dtype] = set()

    def __call__(self, dtype: Dtype) -> None:
        """Refuse a dtype.

        Raises:
            UnsupportedDtype: the operator does not take it.
        """
        if dtype in self._known:
            return
        error = self._error(of_numpy(dtype), letter(dtype))
        if error is not None:
            raise error
        self._known.add(dtype)

    def _error(self, dtype: DType, kind: str) -> OperatorError | None:
        headline = f"this function does not work on `{dtype}`"
        classes, sentence = _SENTENCES.get(self._name, ("", ""))
        if kind in classes:
            return UnsupportedDtype(sentence, headline=headline)
        classes, sentence = _FAILURES.get(self._name, ("", ""))
        if kind in classes:
            return OperatorError(sentence, code="dtype-mismatch", headline=headline)
        if kind in self._classes:
            return UnsupportedDtype(
                f"\"{self._kernel}\" not implemented for '{dtype.scalar_name}'",
                headline=headline,
                roles={"self": f"is `{dtype}`"},
            )
        return None

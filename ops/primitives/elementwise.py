"""Operators of `prims` that work element by element: `aten`'s, of operands that are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..eager.aten import aten
from ..memory.dtype import MemoryFormat
from ..memory.errors import OperatorError
from ..tensors.tensor import Tensor
from .declaring import primitive, require

__all__ = ["check_alike", "check_same_dtype"]

_ONE: Final = """
    abs acos acosh asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfc exp exp2 expm1
    floor isfinite lgamma log log10 log1p log2 neg reciprocal round rsqrt sign signbit sin sinh sqrt
    tan tanh trunc
    bessel_i0:i0 bessel_i0e:special_i0e bessel_i1:special_i1 bessel_i1e:special_i1e
    bessel_j0:special_bessel_j0 bessel_j1:special_bessel_j1 erf_inv:erfinv erfcx:special_erfcx
    ndtri:special_ndtri spherical_bessel_j0:special_spherical_bessel_j0
"""
"""Of one operand, with the name in `aten` where that is another one."""

_TWO: Final = """
    add atan2 bitwise_and bitwise_or bitwise_xor eq fmax fmin fmod gcd ge gt hypot igamma igammac le
    lt mul ne nextafter pow remainder sub
    shift_left:bitwise_left_shift shift_right_arithmetic:bitwise_right_shift zeta:special_zeta
"""


# --------------------------------------------------------------------------- checks


Operand = Tensor | complex


def check_same_dtype(*operands: Operand) -> None:
    """Refuse tensors of several dtypes.

    Raises:
        OperatorError: they are.
    """
    dtypes = [each.dtype for each in operands if isinstance(each, Tensor)]
    for dtype in dtypes:
        wanted = dtypes[0]
        require(
            dtype is wanted, f"Tensor with dtype {dtype} is not the expected dtype of {wanted}!"
        )


def check_alike(*operands: Operand) -> None:
    """Refuse tensors on several devices or of several sizes; one number on the CPU may be any.

    Raises:
        OperatorError: they are.
    """
    tensors = [each for each in operands if isinstance(each, Tensor)]
    whole = [each for each in tensors if each.dim() or each.device.type != "cpu"]
    for each in whole:
        device, shape = whole[0].device, whole[0].shape
        require(
            each.device == device,
            f"Tensor on device {each.device} is not on the expected device {device}!",
        )
        require(each.shape == shape, f"Shape {each.shape} is not the expected shape {shape}!")


# --------------------------------------------------------------------------- by rule


def _pairs(words: str) -> list[tuple[str, Callable[..., Tensor]]]:
    named = (word.partition(":") for word in words.split())
    return [(name, getattr(aten, other or name)) for name, _, other in named]


def _of_one(name: str, function: Callable[..., Tensor]) -> None:
    primitive(f"{name}(Tensor self) -> Tensor")(lambda self: function(self))


def _of_two(name: str, function: Callable[..., Tensor]) -> None:
    @primitive(f"{name}(Tensor self, Tensor other) -> Tensor")
    def run(self: Operand, other: Operand) -> Tensor:
        check_same_dtype(self, other)
        check_alike(self, other)
        return function(self, other)


for _name, _function in _pairs(_ONE):
    _of_one(_name, _function)
for _name, _function in _pairs(_TWO):
    _of_two(_name, _function)


# --------------------------------------------------------------------------- others


def _divided(self: Operand, other: Operand) -> Tensor:
    """The quotient; of whole numbers it is one as well, without what is left."""
    is_whole = isinstance(self, int)
    if isinstance(self, Tensor):
        is_whole = not (self.is_floating_point() or self.is_complex() or self.dtype.name == "bool")
    return aten.div(self, other, rounding_mode="trunc") if is_whole else aten.div(self, other)


def _of_tensors(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A function of two tensors for a tensor and a number, which becomes of the tensor's dtype."""

    def run(self: Any, other: Any) -> Tensor:
        if isinstance(self, Tensor) and not isinstance(other, Tensor):
            other = aten.scalar_tensor(other, dtype=self.dtype, device=self.device)
        elif isinstance(other, Tensor) and not isinstance(self, Tensor):
            self = aten.scalar_tensor(self, dtype=other.dtype, device=other.device)
        return function(self, other)

    return run


_of_two("div", _divided)
_of_two("maximum", _of_tensors(aten.maximum))
_of_two("minimum", _of_tensors(aten.minimum))


@primitive("cbrt(Tensor self) -> Tensor")
def _cbrt(self: Tensor) -> Tensor:
    require(
        not self.is_complex(),
        "cbrt: Complex inputs not supported. Consider calling torch.pow(a, 1.0/3.0)",
    )
    return aten.copysign(aten.pow(aten.abs(self), 1 / 3), self)


@primitive("conj_physical(Tensor self) -> Tensor")
def _conj_physical(self: Tensor) -> Tensor:
    require(self.is_complex(), "prims.conj_physical is only defined for complex dtypes")
    return aten.conj_physical(self)


@primitive("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
def _clone(self: Tensor, *, memory_format: MemoryFormat | None = None) -> Tensor:
    return aten.clone(self, memory_format=memory_format)


@primitive("fill(Tensor self, Scalar value) -> Tensor")
def _fill(self: Tensor, value: Any) -> Tensor:
    return aten.fill(self, value)


@primitive("where(Tensor pred, Tensor a, Tensor b) -> Tensor")
def _where(pred: Tensor, a: Operand, b: Operand) -> Tensor:
    check_same_dtype(a, b)
    check_alike(pred, a, b)
    if pred.dtype.name not in ("bool", "uint8"):
        raise OperatorError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{pred.dtype.scalar_name}"
        )
    return aten.where(pred, a, b)


@primitive("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)")
def _frexp(self: Tensor) -> object:
    require(self.is_floating_point(), "torch.frexp() only supports floating-point dtypes")
    return aten.frexp(self)

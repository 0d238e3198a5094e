"""Arithmetic of two operands, with the dtypes in which they meet."""

from __future__ import annotations

import math

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import BOOL, DOUBLE, INT, Writer, is_float, is_number, is_plain
from .pointwise import trunc

__all__ = ["divided", "scaled"]


def scaled(w: Writer, item: Item, factor: Item) -> Item:
    """An operand times a number, which is often one."""
    if is_number(factor) and factor == 1:
        return item
    return w.op("Mul", *_numbers(w, item, factor))


def _numbers(w: Writer, *items: Item) -> tuple[Operand, ...]:
    """Operands that can be added: truths count as whole numbers in Python."""
    found = w.common(*items)
    if found[0].dtype == BOOL and all(map(is_plain, items)):
        return tuple(w.cast(each, INT) for each in found)
    return found


@exports("aten::add", parts=(0, 1))
def add(w: Writer, self: Item, other: Item, alpha: Item = 1) -> Item:
    if isinstance(self, str):
        raise Unsupported("a text that only a run knows")
    x, y = _numbers(w, self, scaled(w, other, alpha))
    if x.dtype == BOOL:
        return w.op("Or", x, y)
    return w.op("Add", x, y)


@exports("aten::sub", "aten::subtract", parts=(0, 1))
def sub(w: Writer, self: Item, other: Item, alpha: Item = 1) -> Item:
    return w.op("Sub", *_numbers(w, self, scaled(w, other, alpha)))


@exports("aten::rsub", parts=(0, 1))
def rsub(w: Writer, self: Item, other: Item, alpha: Item = 1) -> Item:
    return sub(w, other, self, alpha)


@exports("aten::mul", "aten::multiply")
def mul(w: Writer, self: Item, other: Item) -> Item:
    x, y = _numbers(w, self, other)
    return w.op("And", x, y) if x.dtype == BOOL else w.op("Mul", x, y)


def divided(w: Writer, x: Item, y: Item) -> Operand:
    """The quotient as floating-point numbers."""
    dtype = w.meeting(x, y)
    if not is_float(dtype):
        both = [w.floating(each) for each in (x, y)]
        if is_plain(x) and is_plain(y):
            return w.op("Div", *both)
        dtype = min((each.dtype for each in both), key=lambda d: d.itemsize)
    return w.op("Div", w.tensor(x, dtype), w.tensor(y, dtype))


@exports("aten::div", "aten::divide", "aten::true_divide")
def div(w: Writer, self: Item, other: Item, rounding_mode: Item = None) -> Item:
    if rounding_mode is None:
        return divided(w, self, other)
    if rounding_mode == "floor":
        return floor_divide(w, self, other)
    return trunc(w, w.op("Div", *_numbers(w, self, other)))


def _crosses(w: Writer, rest: Operand, y: Operand) -> Operand:
    """Whether the rest of a truncated division has another sign than the divisor."""
    zero = w.constant(0, rest.dtype)
    differ = w.op("Xor", w.op("Less", rest, zero), w.op("Less", y, zero))
    return w.op("And", differ, w.op("Not", w.op("Equal", rest, zero)))


@exports("aten::floor_divide", "aten::floordiv")
def floor_divide(w: Writer, self: Item, other: Item) -> Item:
    x, y = _numbers(w, self, other)
    if is_float(x.dtype):
        return w.op("Floor", w.op("Div", x, y))
    quotient = w.op("Div", x, y)
    if x.dtype.kind == "u":
        return quotient
    rest = w.op("Sub", x, w.op("Mul", quotient, y))
    return w.op("Sub", quotient, w.cast(_crosses(w, rest, y), x.dtype))


@exports("aten::remainder")
def remainder(w: Writer, self: Item, other: Item) -> Item:
    x, y = _numbers(w, self, other)
    if not is_float(x.dtype):
        return w.op("Mod", x, y)
    rest = w.op("Mod", x, y, fmod=1)
    return w.where(_crosses(w, rest, y), w.op("Add", rest, y), rest)


@exports("aten::fmod")
def fmod(w: Writer, self: Item, other: Item) -> Item:
    x, y = _numbers(w, self, other)
    return w.op("Mod", x, y, fmod=1)


@exports("aten::pow")
def power(w: Writer, self: Item, exponent: Item) -> Item:
    if is_number(exponent) and isinstance(self, Operand) and not self.weak and is_float(self.dtype):
        if exponent == 2:
            return w.op("Mul", self, self)
        if exponent == 0.5:
            return w.op("Sqrt", self)
    return w.op("Pow", *_numbers(w, self, exponent))


@exports("aten::float_power")
def float_power(w: Writer, self: Item, exponent: Item) -> Item:
    return w.op("Pow", w.tensor(self, DOUBLE), w.tensor(exponent, DOUBLE))


def _extreme(kind: str, w: Writer, self: Item, other: Item) -> Operand:
    x, y = _numbers(w, self, other)
    if x.dtype == BOOL:
        return w.op("Or" if kind == "Max" else "And", x, y)
    return w.op(kind, x, y)


@exports("aten::maximum")
def maximum(w: Writer, self: Item, other: Item) -> Item:
    return _extreme("Max", w, self, other)


@exports("aten::minimum")
def minimum(w: Writer, self: Item, other: Item) -> Item:
    return _extreme("Min", w, self, other)


def _extreme_number(kind: str, w: Writer, self: Item, other: Item) -> Operand:
    """The extreme of what is a number: NaN counts only where both are."""
    x, y = w.common(self, other)
    found = _extreme(kind, w, x, y)
    if not is_float(x.dtype):
        return found
    return w.where(w.op("IsNaN", x), y, w.where(w.op("IsNaN", y), x, found))


@exports("aten::fmax")
def fmax(w: Writer, self: Item, other: Item) -> Item:
    return _extreme_number("Max", w, self, other)


@exports("aten::fmin")
def fmin(w: Writer, self: Item, other: Item) -> Item:
    return _extreme_number("Min", w, self, other)


@exports("aten::clamp", "aten::clip")
def clamp(w: Writer, self: Item, min: Item = None, max: Item = None) -> Item:
    bounds = [bound for bound in (min, max) if bound is not None]
    x, *ends = w.common(self, *bounds)
    low = ends.pop(0) if min is not None else None
    high = ends.pop(0) if max is not None else None
    if low is not None:
        x = w.op("Max", x, low)
    return x if high is None else w.op("Min", x, high)


@exports("aten::clamp_min")
def clamp_min(w: Writer, self: Item, min: Item) -> Item:
    return clamp(w, self, min)


@exports("aten::clamp_max")
def clamp_max(w: Writer, self: Item, max: Item) -> Item:
    return clamp(w, self, None, max)


@exports("aten::addcmul")
def addcmul(w: Writer, self: Item, tensor1: Item, tensor2: Item, value: Item = 1) -> Item:
    return add(w, self, scaled(w, mul(w, tensor1, tensor2), value))


@exports("aten::addcdiv")
def addcdiv(w: Writer, self: Item, tensor1: Item, tensor2: Item, value: Item = 1) -> Item:
    return add(w, self, scaled(w, divided(w, tensor1, tensor2), value))


@exports("aten::lerp")
def lerp(w: Writer, self: Item, end: Item, weight: Item) -> Item:
    return add(w, self, mul(w, weight, sub(w, end, self)))


@exports("aten::atan2", "aten::arctan2")
def atan2(w: Writer, self: Item, other: Item) -> Item:
    y, x = w.common(self, other)
    y, x = w.floating(y), w.floating(x)
    zero, pi = w.constant(0.0, x.dtype), w.constant(math.pi, x.dtype)
    angle = w.op("Atan", w.op("Div", y, x))
    turned = w.where(w.op("Less", y, zero), w.op("Sub", angle, pi), w.op("Add", angle, pi))
    found = w.where(w.op("Less", x, zero), turned, angle)
    both = w.op("And", w.op("Equal", x, zero), w.op("Equal", y, zero))
    return w.where(both, zero, found)


@exports("aten::hypot")
def hypot(w: Writer, self: Item, other: Item) -> Item:
    x, y = w.common(self, other)
    return w.op("Sqrt", w.op("Add", w.op("Mul", x, x), w.op("Mul", y, y)))


@exports("aten::logaddexp")
def logaddexp(w: Writer, self: Item, other: Item) -> Item:
    x, y = w.common(self, other)
    gap = w.op("Abs", w.op("Sub", x, y))
    return w.op("Add", w.op("Max", x, y), w.op("Softplus", w.op("Neg", gap)))


@exports("aten::xlogy", "aten::special_xlogy")
def xlogy(w: Writer, self: Item, other: Item) -> Item:
    x, y = (w.floating(each) for each in w.common(self, other))
    zero = w.constant(0.0, x.dtype)
    made = w.op("Mul", x, w.op("Log", y))
    none = w.op("And", w.op("Equal", x, zero), w.op("Not", w.op("IsNaN", y)))
    return w.where(none, zero, made)


@exports("aten::heaviside")
def heaviside(w: Writer, self: Item, values: Item) -> Item:
    x, at_zero = w.common(self, values)
    zero = w.constant(0, x.dtype)
    above = w.cast(w.op("Greater", x, zero), x.dtype)
    return w.where(w.op("Equal", x, zero), at_zero, above)

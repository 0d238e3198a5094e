"""Operators over complex tensors, and what makes or takes apart such; see `complex_parts`."""

from __future__ import annotations

import math
from typing import Any

from ..complex_parts import by_parts, is_complex, part_of, together
from ..items import Item, Operand, Unsupported
from ..table import COMPLEX, EXPORTS, Form, exports, exports_complex
from ..walk import ACROSS, PUTS
from ..writer import Writer
from . import arithmetic, comparisons, products, views
from .pointwise import itself

__all__ = ["multiplied"]


# ------------------------------------------------------------------------- real and complex


@exports("aten::complex")
def complex_(w: Writer, real: Item, imag: Item) -> Item:
    one, other = w.common(real, imag)
    first, second = (views.expand_as(w, x, w.op("Add", one, other)) for x in (one, other))
    return together(w, first, second)


@exports("aten::polar")
def polar(w: Writer, abs: Item, angle: Item) -> Item:
    r, turn = w.common(abs, angle)
    return w.from_halves(w.op("Mul", r, w.op("Cos", turn)), w.op("Mul", r, w.op("Sin", turn)))


@exports("aten::view_as_complex")
def view_as_complex(w: Writer, self: Item) -> Item:
    return w.as_complex(w.tensor(self))


@exports_complex("aten::view_as_real")
def view_as_real(w: Writer, self: Item) -> Item:
    return w.parts(w.tensor(self))


@exports_complex("aten::real")
def real(w: Writer, self: Item) -> Item:
    return part_of(w, self, 0)


@exports_complex("aten::imag")
def imag(w: Writer, self: Item) -> Item:
    return part_of(w, self, 1)


EXPORTS["aten::real"] = itself


def _put_real(w: Writer, base: Operand, new: Operand) -> Operand:
    return new if not is_complex(base) else w.from_halves(new, w.halves(base)[1])


PUTS.put(["aten::real"], _put_real)
PUTS.put(["aten::imag"], lambda w, base, new: w.from_halves(w.halves(base)[0], new))
PUTS.put(["aten::view_as_real"], lambda w, base, new: w.as_complex(new))
PUTS.put(["aten::view_as_complex"], lambda w, base, new: w.parts(new))
ACROSS.update(("aten::real", "aten::imag", "aten::view_as_real", "aten::view_as_complex"))


@exports_complex("aten::conj", "aten::_conj", "aten::conj_physical", "aten::_conj_physical")
def conj(w: Writer, self: Item) -> Item:
    parts = w.parts(w.tensor(self))
    signs = w.constant([1, -1], parts.dtype)
    return w.as_complex(w.op("Mul", parts, signs))


for _name in ("conj", "_conj", "conj_physical", "_conj_physical"):
    EXPORTS[f"aten::{_name}"] = itself


@exports("aten::mH", "aten::adjoint")
def adjoint(w: Writer, self: Item) -> Item:
    return views.t(w, self)


@exports_complex("aten::mH", "aten::adjoint")
def complex_adjoint(w: Writer, self: Item) -> Item:
    return conj(w, by_parts(views.t)(w, self))


# ------------------------------------------------------------------------------ sizes and angles


@exports_complex("aten::abs", "aten::absolute")
def absolute(w: Writer, self: Item) -> Item:
    return w.reduce("ReduceL2", w.parts(w.tensor(self)), [-1], False)


@exports("aten::angle")
def real_angle(w: Writer, self: Item) -> Item:
    x = w.floating(self)
    below = w.op("Less", x, w.constant(0, x.dtype))
    found = w.where(below, w.constant(math.pi, x.dtype), w.constant(0, x.dtype))
    return w.where(w.op("IsNaN", x), x, found)


@exports_complex("aten::angle")
def angle(w: Writer, self: Item) -> Item:
    x, y = w.halves(w.tensor(self))
    return arithmetic.atan2(w, y, x)


@exports_complex("aten::sgn")
def sgn(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    size = w.tensor(absolute(w, x))
    safe = w.where(w.op("Equal", size, w.constant(0, size.dtype)), w.constant(1, size.dtype), size)
    return _scaled(w, x, lambda half: w.op("Div", half, safe))


def _scaled(w: Writer, x: Operand, change: Any) -> Operand:
    return w.from_halves(*(change(half) for half in w.halves(x)))


# ----------------------------------------------------------------------------------- arithmetic


def _bilinear(form: Form) -> Form:
    """A form of two operands that is linear in each, for complex ones."""

    def made(w: Writer, x: Item, y: Item, *rest: Item) -> Item:
        if not is_complex(x):
            return together(w, *(form(w, x, part_of(w, y, n), *rest) for n in (0, 1)))
        if not is_complex(y):
            return together(w, *(form(w, part_of(w, x, n), y, *rest) for n in (0, 1)))
        (a, b), (c, d) = ([part_of(w, each, n) for n in (0, 1)] for each in (x, y))
        first = arithmetic.sub(w, form(w, a, c, *rest), form(w, b, d, *rest))
        second = arithmetic.add(w, form(w, a, d, *rest), form(w, b, c, *rest))
        return together(w, first, second)

    return made


for _name in "mul multiply matmul mm bmm mv dot linalg_matmul inner outer ger".split():
    COMPLEX[f"aten::{_name}"] = _bilinear(EXPORTS[f"aten::{_name}"])
multiplied = COMPLEX["aten::mul"]


@exports_complex("aten::linear")
def linear(w: Writer, input: Item, weight: Item, bias: Item = None) -> Item:
    found = _bilinear(products.linear)(w, input, weight)
    return found if bias is None else by_parts(arithmetic.add, (0, 1))(w, found, bias)


@exports_complex("aten::einsum")
def einsum(w: Writer, equation: Item, tensors: Item, path: Item = None) -> Item:
    if not isinstance(tensors, list) or len(tensors) > 2:
        raise Unsupported("more than two complex tensors; write the products one after another")
    if len(tensors) == 1:
        return by_parts(products.einsum)(w, equation, tensors)

    def product(w: Writer, x: Item, y: Item) -> Item:
        return products.einsum(w, equation, [x, y])

    return _bilinear(product)(w, *tensors)


@exports_complex("aten::div", "aten::divide", "aten::true_divide")
def div(w: Writer, self: Item, other: Item, rounding_mode: Item = None) -> Item:
    if rounding_mode is not None:
        raise Unsupported("complex numbers are not rounded")
    if not is_complex(other):
        return together(w, *(arithmetic.div(w, part_of(w, self, n), other) for n in (0, 1)))
    c, d = (part_of(w, other, n) for n in (0, 1))
    size = arithmetic.add(w, arithmetic.mul(w, c, c), arithmetic.mul(w, d, d))
    opposite = together(w, c, arithmetic.mul(w, d, -1))
    return div(w, multiplied(w, self, opposite), size)


@exports_complex("aten::reciprocal")
def reciprocal(w: Writer, self: Item) -> Item:
    return div(w, 1.0, self)


@exports_complex("aten::square")
def square(w: Writer, self: Item) -> Item:
    return multiplied(w, self, self)


@exports_complex("aten::exp")
def exp(w: Writer, self: Item) -> Item:
    x, y = w.halves(w.tensor(self))
    return polar(w, w.op("Exp", x), y)


@exports_complex("aten::log")
def log(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.from_halves(w.op("Log", w.tensor(absolute(w, x))), w.tensor(angle(w, x)))


@exports_complex("aten::pow")
def power(w: Writer, self: Item, exponent: Item) -> Item:
    if is_complex(exponent) or not is_complex(self):
        raise Unsupported("a complex exponent")
    if exponent == 2:
        return square(w, self)
    x = w.tensor(self)
    r, turn = w.tensor(absolute(w, x)), w.tensor(angle(w, x))
    return polar(w, arithmetic.power(w, r, exponent), arithmetic.mul(w, turn, exponent))


@exports_complex("aten::sqrt")
def sqrt(w: Writer, self: Item) -> Item:
    return power(w, self, 0.5)


@exports_complex("aten::eq")
def equals(w: Writer, self: Item, other: Item) -> Item:
    both = [comparisons.eq(w, part_of(w, self, n), part_of(w, other, n)) for n in (0, 1)]
    return w.op("And", *map(w.tensor, both))


@exports_complex("aten::ne", "aten::not_equal")
def differs(w: Writer, self: Item, other: Item) -> Item:
    return w.op("Not", w.tensor(equals(w, self, other)))


@exports_complex("aten::norm", "aten::linalg_vector_norm")
def norm(w: Writer, self: Item, *rest: Item) -> Item:
    return EXPORTS["aten::norm"](w, absolute(w, self), *rest)

"""Comparisons and logic."""

from __future__ import annotations

from functools import reduce

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import BOOL, INT, Writer, is_float, is_number

__all__ = ["truths"]


def _compared(kind: str, w: Writer, x: Item, y: Item) -> Operand:
    if isinstance(x, str) or isinstance(y, str) or x is None or y is None:
        raise Unsupported("texts and None are compared when the model is exported, or not at all")
    a, b = w.common(x, y)
    if a.dtype == BOOL and kind != "Equal":
        a, b = w.cast(a, INT), w.cast(b, INT)
    return w.op(kind, a, b)


def _comparison(operators: str, kind: str) -> None:
    def form(w: Writer, self: Item, other: Item) -> Item:
        return _compared(kind, w, self, other)

    for operator in operators.split():
        EXPORTS[f"aten::{operator}"] = form


_comparison("lt less", "Less")
_comparison("gt greater", "Greater")
_comparison("le less_equal", "LessOrEqual")
_comparison("ge greater_equal", "GreaterOrEqual")


@exports("aten::eq")
def eq(w: Writer, self: Item, other: Item) -> Item:
    if isinstance(self, list | tuple) and isinstance(other, list | tuple):
        if len(self) != len(other):
            return False
        parts = [_compared("Equal", w, a, b) for a, b in zip(self, other, strict=True)]
        return reduce(lambda a, b: w.op("And", a, b), parts)
    return _compared("Equal", w, self, other)


@exports("aten::ne", "aten::not_equal")
def ne(w: Writer, self: Item, other: Item) -> Item:
    found = eq(w, self, other)
    return (not found) if isinstance(found, bool) else w.op("Not", w.tensor(found))


def truths(w: Writer, item: Item) -> Operand:
    """Whether elements are not zero."""
    x = w.tensor(item)
    return x if x.dtype == BOOL else w.cast(x, BOOL)


@exports("aten::__and__", "aten::bitwise_and")
def bitwise_and(w: Writer, self: Item, other: Item) -> Item:
    return _logic("And", w, self, other)


@exports("aten::__or__", "aten::bitwise_or")
def bitwise_or(w: Writer, self: Item, other: Item) -> Item:
    return _logic("Or", w, self, other)


@exports("aten::__xor__", "aten::bitwise_xor")
def bitwise_xor(w: Writer, self: Item, other: Item) -> Item:
    return _logic("Xor", w, self, other)


def _logic(kind: str, w: Writer, x: Item, y: Item) -> Operand:
    dtype = w.meeting(x, y)
    if dtype == BOOL:
        return w.op(kind, w.tensor(x, BOOL), w.tensor(y, BOOL))
    return w.op(f"Bitwise{kind}", w.tensor(x, dtype), w.tensor(y, dtype))


for _name, _kind in (("and", "And"), ("or", "Or"), ("xor", "Xor")):

    def _of_truths(w: Writer, self: Item, other: Item, kind: str = _kind) -> Item:
        return w.op(kind, truths(w, self), truths(w, other))

    EXPORTS[f"aten::logical_{_name}"] = _of_truths


@exports("aten::logical_not", "aten::__not__")
def logical_not(w: Writer, self: Item) -> Item:
    return w.op("Not", truths(w, self))


@exports("aten::bitwise_not")
def bitwise_not(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return w.op("Not" if x.dtype == BOOL else "BitwiseNot", x)


@exports("aten::isclose")
def isclose(
    w: Writer, self: Item, other: Item, rtol: Item, atol: Item, equal_nan: Item = False
) -> Item:
    x, y = w.common(self, other)
    limit = w.op("Mul", w.op("Abs", y), w.tensor(rtol, x.dtype))
    limit = w.op("Add", limit, w.tensor(atol, x.dtype))
    near = w.op("LessOrEqual", w.op("Abs", w.op("Sub", x, y)), limit)
    found = w.op("Or", near, w.op("Equal", x, y))
    if equal_nan is True and is_float(x.dtype):
        found = w.op("Or", found, w.op("And", w.op("IsNaN", x), w.op("IsNaN", y)))
    return found


@exports("aten::equal")
def equal(w: Writer, self: Item, other: Item) -> Item:
    x, y = w.tensor(self), w.tensor(other)
    if x.sizes is None or y.sizes is None:
        raise Unsupported("sizes that only a run knows are compared")
    if x.sizes != y.sizes:
        return False
    same = w.cast(w.op("Equal", *w.common(x, y)), INT)
    return w.cast(w.reduce("ReduceMin", same, range(w.rank(x)), False), BOOL)


@exports("aten::where", parts=(1, 2))
def where(w: Writer, condition: Item, self: Item = None, other: Item = None) -> Item:
    if self is None:
        raise Unsupported("the number of its results depends on a run")
    return w.where(truths(w, condition), *w.common(self, other))


@exports("aten::masked_fill", parts=(0, 2))
def masked_fill(w: Writer, self: Item, mask: Item, value: Item) -> Item:
    x = w.tensor(self)
    return w.where(w.tensor(mask), w.tensor(value, x.dtype), x)


@exports("aten::isin")
def isin(
    w: Writer,
    elements: Item,
    test_elements: Item,
    assume_unique: Item = False,
    invert: Item = False,
) -> Item:
    x, y = w.common(elements, test_elements)
    flat = w.reshape(y, [-1])
    x = w.unsqueeze(x, w.rank(x)) if not is_number(elements) else x
    same = w.cast(w.op("Equal", x, flat), INT)
    found = w.cast(w.reduce("ReduceMax", same, [-1], False), BOOL)
    return w.op("Not", found) if invert is True else found

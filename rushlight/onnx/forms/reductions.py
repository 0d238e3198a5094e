"""Sums, means, extremes, norms and running sums."""

from __future__ import annotations

import math
from functools import reduce

from ...ops.memory.dtype import Dtype
from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import BOOL, END, INT, Writer, is_float
from .comparisons import truths

__all__ = ["log_softmax", "norm_of"]


def _addends(w: Writer, self: Item, dtype: Item) -> tuple[Operand, Dtype]:
    """What is added or multiplied (no small whole numbers in ONNX), and the dtype of the result."""
    x = w.tensor(self)
    wanted = w.dtype(dtype) if dtype is not None else x.dtype if is_float(x.dtype) else INT
    x = w.cast(x, wanted)
    return x if is_float(wanted) else w.cast(x, INT), wanted


def _reduced(w: Writer, kind: str, self: Item, dim: Item, keepdim: Item, dtype: Item) -> Operand:
    x, wanted = _addends(w, self, dtype)
    return w.cast(w.reduce(kind, x, w.axes(dim, w.rank(x)), keepdim is True), wanted)


@exports("aten::sum", parts=(0,))
def sum_(
    w: Writer, self: Item, dim: Item = None, keepdim: Item = False, dtype: Item = None
) -> Item:
    if isinstance(self, list):
        return w.reduce("ReduceSum", w.vector(self, w.meeting(*self)), [0], False)
    if not isinstance(keepdim, bool):
        keepdim, dtype = False, keepdim
    if isinstance(dim, int) and not isinstance(dim, bool):  # `sum(x, dtype)`
        dim, dtype = None, dim
    return _reduced(w, "ReduceSum", self, dim, keepdim, dtype)


@exports("aten::mean", parts=(0,))
def mean(
    w: Writer, self: Item, dim: Item = None, keepdim: Item = False, dtype: Item = None
) -> Item:
    if isinstance(dim, int) and not isinstance(dim, bool):
        dim, dtype = None, dim
    return _reduced(w, "ReduceMean", self, dim, keepdim, dtype)


@exports("aten::prod")
def prod(w: Writer, self: Item, *args: Item) -> Item:
    """`prod(self, dtype)` or `prod(self, dim, keepdim, dtype)`."""
    dim, keepdim = args[:2] if len(args) == 3 else (None, False)
    return _reduced(w, "ReduceProd", self, dim, keepdim, args[-1])


@exports("aten::logsumexp")
def logsumexp(w: Writer, self: Item, dim: Item, keepdim: Item = False) -> Item:
    x = w.floating(self)
    return w.reduce("ReduceLogSumExp", x, w.axes(dim, w.rank(x)), keepdim is True)


@exports("aten::amax")
def amax(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    x = w.tensor(self)
    return w.reduce("ReduceMax", x, w.axes(dim, w.rank(x)), keepdim is True)


@exports("aten::amin")
def amin(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    x = w.tensor(self)
    return w.reduce("ReduceMin", x, w.axes(dim, w.rank(x)), keepdim is True)


def _extreme(kind: str, w: Writer, self: Item, dim: Item, keepdim: Item) -> Item:
    x = w.tensor(self)
    if isinstance(dim, Operand) or (dim is not None and not isinstance(dim, int)):
        raise Unsupported("this overload")
    if dim is None:
        return w.reduce(f"Reduce{kind}", x, range(w.rank(x)), False)
    axis = w.axis(dim, w.rank(x))
    found = w.reduce(f"Reduce{kind}", x, [axis], keepdim is True)
    return found, w.op(f"Arg{kind}", x, axis=axis, keepdims=int(keepdim is True))


@exports("aten::max")
def max_(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    if isinstance(dim, Operand):
        return w.op("Max", *w.common(self, dim))
    return _extreme("Max", w, self, dim, keepdim)


@exports("aten::min")
def min_(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    if isinstance(dim, Operand):
        return w.op("Min", *w.common(self, dim))
    return _extreme("Min", w, self, dim, keepdim)


def _place(kind: str, w: Writer, self: Item, dim: Item, keepdim: Item) -> Item:
    x = w.tensor(self)
    if dim is None:
        found = w.op(kind, w.reshape(x, [-1]), axis=0, keepdims=0)
        return w.reshape(found, [1] * w.rank(x)) if keepdim is True else found
    return w.op(kind, x, axis=w.axis(dim, w.rank(x)), keepdims=int(keepdim is True))


@exports("aten::argmax")
def argmax(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    return _place("ArgMax", w, self, dim, keepdim)


@exports("aten::argmin")
def argmin(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    return _place("ArgMin", w, self, dim, keepdim)


def _truth(kind: str, w: Writer, self: Item, dim: Item, keepdim: Item) -> Item:
    if isinstance(self, list):
        parts = [truths(w, each) for each in self]
        return reduce(lambda a, b: w.op("And" if kind == "ReduceMin" else "Or", a, b), parts)
    x = w.cast(truths(w, self), INT)
    return w.cast(w.reduce(kind, x, w.axes(dim, w.rank(x)), keepdim is True), BOOL)


@exports("aten::all")
def all_(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    return _truth("ReduceMin", w, self, dim, keepdim)


@exports("aten::any")
def any_(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    return _truth("ReduceMax", w, self, dim, keepdim)


@exports("aten::count_nonzero")
def count_nonzero(w: Writer, self: Item, dim: Item = None) -> Item:
    x = w.cast(truths(w, self), INT)
    return w.reduce("ReduceSum", x, w.axes(dim, w.rank(x)), False)


# ------------------------------------------------------------------------------ variance, norms


def _variance(w: Writer, x: Operand, axes: list[int], correction: float, keep: bool) -> Operand:
    mid = w.reduce("ReduceMean", x, axes, True)
    gap = w.op("Sub", x, mid)
    squares = w.reduce("ReduceSum", w.op("Mul", gap, gap), axes, keep)
    return w.op("Div", squares, w.op("Sub", _count(w, x, axes), w.constant(correction, x.dtype)))


def _count(w: Writer, x: Operand, axes: list[int]) -> Operand:
    """How many elements are folded into one."""
    sizes = [w.size(x, axis) for axis in axes]
    known = [size for size in sizes if isinstance(size, int)]
    if len(known) == len(sizes):
        return w.constant(math.prod(known), x.dtype)
    return w.cast(w.reduce("ReduceProd", w.vector(sizes), [0], False), x.dtype)


def _spread_of(w: Writer, args: tuple[Item, ...]) -> tuple[Operand, list[int], float, bool]:
    """The tensor, axes, correction and `keepdim` of any overload of `var` and `std`."""
    self, *rest = args
    x = w.floating(self)
    dim: Item = None
    correction: Item = True
    keep: Item = False
    if len(rest) == 1:
        (correction,) = rest
    elif rest:
        dim, correction, keep = rest
    amount = 1.0 if correction is None else w.real(correction, "correction")
    return x, w.axes(dim, w.rank(x)), amount, keep is True


@exports("aten::var")
def var(w: Writer, *args: Item) -> Item:
    return _variance(w, *_spread_of(w, args))


@exports("aten::std")
def std(w: Writer, *args: Item) -> Item:
    return w.op("Sqrt", _variance(w, *_spread_of(w, args)))


@exports("aten::var_mean")
def var_mean(w: Writer, *args: Item) -> Item:
    x, axes, correction, keep = _spread_of(w, args)
    return _variance(w, x, axes, correction, keep), w.reduce("ReduceMean", x, axes, keep)


@exports("aten::std_mean")
def std_mean(w: Writer, *args: Item) -> Item:
    x, axes, correction, keep = _spread_of(w, args)
    spread = w.op("Sqrt", _variance(w, x, axes, correction, keep))
    return spread, w.reduce("ReduceMean", x, axes, keep)


def norm_of(w: Writer, x: Operand, order: float, axes: list[int], keep: bool) -> Operand:
    """The vector norm of an order along axes."""
    if order == 2:
        return w.reduce("ReduceL2", x, axes, keep)
    size = w.op("Abs", x)
    if order == 1:
        return w.reduce("ReduceSum", size, axes, keep)
    if math.isinf(order):
        return w.reduce("ReduceMax" if order > 0 else "ReduceMin", size, axes, keep)
    if order == 0:
        return w.reduce("ReduceSum", w.cast(truths(w, x), x.dtype), axes, keep)
    total = w.reduce("ReduceSum", w.op("Pow", size, w.constant(order, x.dtype)), axes, keep)
    return w.op("Pow", total, w.constant(1 / order, x.dtype))


@exports("aten::norm", "aten::linalg_vector_norm")
def norm(
    w: Writer, self: Item, p: Item = 2, dim: Item = None, keepdim: Item = False, dtype: Item = None
) -> Item:
    if not isinstance(keepdim, bool) or (isinstance(dim, int) and not isinstance(dim, bool)):
        raise Unsupported("this overload")
    x = w.floating(self if dtype is None else w.cast(w.tensor(self), w.dtype(dtype)))
    order = 2.0 if p is None else w.real(p, "p")
    return norm_of(w, x, order, w.axes(dim, w.rank(x)), keepdim)


# ----------------------------------------------------------------------- softmax, running sums


@exports("aten::softmax", "aten::_softmax")
def softmax(w: Writer, self: Item, dim: Item, dtype: Item = None) -> Item:
    return _soft("Softmax", w, self, dim, dtype)


@exports("aten::log_softmax", "aten::_log_softmax")
def log_softmax(w: Writer, self: Item, dim: Item, dtype: Item = None) -> Item:
    return _soft("LogSoftmax", w, self, dim, dtype)


def _soft(kind: str, w: Writer, self: Item, dim: Item, dtype: Item) -> Operand:
    x = w.tensor(self)
    if dtype is not None and not isinstance(dtype, bool):
        x = w.cast(x, w.dtype(dtype))
    if w.rank(x) == 0:
        return w.op("Squeeze", w.op(kind, w.unsqueeze(x, 0), axis=0))
    return w.op(kind, x, axis=w.axis(dim, w.rank(x)))


@exports("aten::cumsum", parts=(0,))
def cumsum(w: Writer, self: Item, dim: Item, dtype: Item = None) -> Item:
    x, wanted = _addends(w, self, dtype)
    if w.rank(x) == 0:
        return w.cast(x, wanted)
    return w.cast(w.op("CumSum", x, w.constant(w.axis(dim, w.rank(x)), INT)), wanted)


@exports("aten::diff", parts=(0,))
def diff(
    w: Writer, self: Item, n: Item = 1, dim: Item = -1, prepend: Item = None, append: Item = None
) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    parts = [w.tensor(part) for part in (prepend, self, append) if part is not None]
    x = parts[0] if len(parts) == 1 else w.op("Concat", *w.common(*parts), axis=axis)
    for _ in range(w.whole(n, "n")):
        after = w.slice(x, axis, 1, END)
        x = w.op("Sub", after, w.slice(x, axis, 0, -1))
    return x

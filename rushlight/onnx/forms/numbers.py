"""Python's numbers: conversions between them and tensors, and their arithmetic."""

from __future__ import annotations

import math

import numpy as np

from ...ops.memory.dtype import CPU, of_numpy
from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import BOOL, DOUBLE, INT, Writer, is_float, is_plain
from .comparisons import truths


def _single(w: Writer, item: Item) -> Operand:
    """A tensor of one element without dimensions."""
    x = w.tensor(item)
    return x if x.shape == () else w.reshape(x, [])


@exports("aten::Int", "aten::IntImplicit")
def to_int(w: Writer, a: Item) -> Item:
    return w.cast(_single(w, a), INT)


@exports("aten::Float", "aten::FloatImplicit")
def to_float(w: Writer, a: Item) -> Item:
    return w.cast(_single(w, a), DOUBLE)


@exports("aten::Bool", "aten::is_nonzero")
def to_bool(w: Writer, a: Item) -> Item:
    return truths(w, _single(w, a))


@exports("aten::item", "aten::ScalarImplicit")
def item(w: Writer, self: Item) -> Item:
    x = _single(w, self)
    return w.cast(x, DOUBLE if is_float(x.dtype) else BOOL if x.dtype == BOOL else INT)


@exports("aten::tensor", "aten::as_tensor", "aten::scalar_tensor", takes_complex=True)
def tensor(w: Writer, data: Item, dtype: Item = None, *rest: Item) -> Item:
    if isinstance(data, list) and any(isinstance(each, list) for each in data):
        rows = [w.unsqueeze(w.tensor(tensor(w, row, dtype)), 0) for row in data]
        return w.op("Concat", *w.common(*rows), axis=0)
    if isinstance(data, list):
        wanted = w.dtype(dtype, _default(w, data))
        return w.vector(data, wanted)
    return w.tensor(data, w.dtype(dtype, _default(w, [data])))


def _default(w: Writer, items: list[Item]) -> np.dtype:
    found = w.meeting(*items) if items else np.dtype(np.float32)
    plain = all(map(is_plain, items))
    return w.dtype(None) if plain and is_float(found) else found


@exports("aten::__range_length")
def range_length(w: Writer, lo: Item, hi: Item, step: Item) -> Item:
    low, high, by = (w.cast(_single(w, each), INT) for each in (lo, hi, step))
    # rounded up: the last number that is before `high`, seen in the direction of the step
    behind = w.op("Sub", w.op("Sub", high, low), w.op("Sign", by))
    return w.op("Max", w.op("Div", w.op("Add", behind, by), by), w.constant(0, INT))


@exports("aten::__derive_index")
def derive_index(w: Writer, index: Item, start: Item, step: Item) -> Item:
    return w.op("Add", w.op("Mul", *w.common(index, step)), w.tensor(start, INT))


@exports("prim::min")
def smallest(w: Writer, a: Item, b: Item = None) -> Item:
    return _extreme("Min", w, a, b)


@exports("prim::max")
def largest(w: Writer, a: Item, b: Item = None) -> Item:
    return _extreme("Max", w, a, b)


def _extreme(kind: str, w: Writer, a: Item, b: Item) -> Operand:
    if b is None:
        x = w.vector(a, a.dtype if isinstance(a, Operand) else w.meeting(*_listed(a)))
        return w.reduce(f"Reduce{kind}", x, [0], False)
    return w.op(kind, *w.common(a, b))


def _listed(item: Item) -> list[Item]:
    if not isinstance(item, list):
        raise Unsupported("a list that only a run knows")
    return item


@exports("aten::size", takes_complex=True)
def size(w: Writer, self: Item, dim: Item = None) -> Item:
    x = w.tensor(self)
    if dim is None:
        return w.op("Shape", x) if x.shape is None else w.sizes(x)
    if isinstance(dim, int) and x.shape is not None:
        return w.size(x, w.axis(dim, w.rank(x)))
    return w.op("Gather", w.op("Shape", x), w.tensor(dim, INT), axis=0)


@exports("aten::_shape_as_tensor", takes_complex=True)
def shape_as_tensor(w: Writer, self: Item) -> Item:
    return w.vector(size(w, self))


@exports("aten::dim", takes_complex=True)
def dim(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    if x.shape is not None:
        return len(x.shape)
    return w.op("Size", w.op("Shape", x))


@exports("aten::numel", takes_complex=True)
def numel(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return math.prod(x.sizes) if x.sizes is not None else w.op("Size", x)


@exports("prim::dtype", takes_complex=True)
def dtype(w: Writer, a: Item) -> Item:
    return of_numpy(w.tensor(a).dtype).number


@exports("prim::device", takes_complex=True)
def device(w: Writer, a: Item) -> Item:
    return CPU


@exports("prim::layout", takes_complex=True)
def layout(w: Writer, a: Item) -> Item:
    return 0


@exports(
    "prim::requires_grad",
    "prim::is_cuda",
    "prim::is_quantized",
    "prim::is_sparse",
    takes_complex=True,
)
@exports("prim::is_mkldnn", "prim::is_meta")
@exports("prim::is_nested", takes_complex=True)
def is_false(w: Writer, a: Item) -> Item:
    return False


@exports("aten::is_complex", takes_complex=True)
def is_complex(w: Writer, self: Item) -> Item:
    return w.tensor(self).dtype.kind == "c"


@exports("aten::is_autocast_enabled", "aten::is_autocast_cpu_enabled", "aten::is_grad_enabled")
def never(w: Writer, *rest: Item) -> Item:
    return False


@exports("prim::is_cpu", takes_complex=True)
def is_true(w: Writer, a: Item) -> Item:
    return True


@exports("aten::is_floating_point", takes_complex=True)
def is_floating_point(w: Writer, self: Item) -> Item:
    return is_float(w.tensor(self).dtype)


@exports("aten::to", "aten::type_as", "aten::_to_copy", takes_complex=True)
def to(w: Writer, self: Item, *rest: Item) -> Item:
    x = w.tensor(self)
    for wanted in rest:
        if isinstance(wanted, Operand):
            return w.cast(x, wanted.dtype)
        if isinstance(wanted, int) and not isinstance(wanted, bool):
            return w.cast(x, w.dtype(wanted))
    return x

"""New tensors: of one value, of numbers in a row, of the sizes of another."""

from __future__ import annotations

from ..items import Item, Operand
from ..table import exports
from ..writer import BOOL, DOUBLE, FLOAT, INT, Writer, is_float, is_number


@exports("aten::zeros", "aten::empty")
def zeros(w: Writer, size: Item, dtype: Item = None, *rest: Item) -> Item:
    return w.filled(size, 0, w.dtype(dtype))


@exports("aten::ones")
def ones(w: Writer, size: Item, dtype: Item = None, *rest: Item) -> Item:
    return w.filled(size, 1, w.dtype(dtype))


@exports("aten::full", takes_complex=True)
def full(w: Writer, size: Item, fill_value: Item, dtype: Item = None, *rest: Item) -> Item:
    natural = w.meeting(fill_value)
    return w.filled(size, fill_value, w.dtype(dtype, None if is_float(natural) else natural))


def _like(w: Writer, self: Item, value: Item, dtype: Item) -> Operand:
    x = w.tensor(self)
    wanted = w.dtype(dtype, x.dtype)
    sizes: Item = w.op("Shape", x) if x.shape is None else w.sizes(x)
    return w.filled(sizes, value, wanted)


@exports("aten::zeros_like", "aten::empty_like", takes_complex=True)
def zeros_like(w: Writer, self: Item, dtype: Item = None, *rest: Item) -> Item:
    return _like(w, self, 0, dtype)


@exports("aten::ones_like", takes_complex=True)
def ones_like(w: Writer, self: Item, dtype: Item = None, *rest: Item) -> Item:
    return _like(w, self, 1, dtype)


@exports("aten::full_like", takes_complex=True)
def full_like(w: Writer, self: Item, fill_value: Item, dtype: Item = None, *rest: Item) -> Item:
    return _like(w, self, fill_value, dtype)


@exports("aten::new_zeros", "aten::new_empty", takes_complex=True)
def new_zeros(w: Writer, self: Item, size: Item, dtype: Item = None, *rest: Item) -> Item:
    return w.filled(size, 0, w.dtype(dtype, w.tensor(self).dtype))


@exports("aten::new_ones", takes_complex=True)
def new_ones(w: Writer, self: Item, size: Item, dtype: Item = None, *rest: Item) -> Item:
    return w.filled(size, 1, w.dtype(dtype, w.tensor(self).dtype))


@exports("aten::new_full", takes_complex=True)
def new_full(
    w: Writer, self: Item, size: Item, fill_value: Item, dtype: Item = None, *rest: Item
) -> Item:
    return w.filled(size, fill_value, w.dtype(dtype, w.tensor(self).dtype))


@exports("aten::fill_", takes_complex=True)
def fill(w: Writer, self: Item, value: Item) -> Item:
    x = w.tensor(self)
    return w.expand_as(w.tensor(value, x.dtype), x)


@exports("aten::zero_", takes_complex=True)
def zero(w: Writer, self: Item) -> Item:
    return fill(w, self, 0)


@exports("aten::copy_", takes_complex=True)
def copy(w: Writer, self: Item, src: Item, non_blocking: Item = False) -> Item:
    x = w.tensor(self)
    new = w.tensor(src, x.dtype)
    if x.sizes is not None and x.sizes == new.sizes:
        return new
    return w.expand_as(new, x)


@exports("aten::arange")
def arange(w: Writer, *args: Item) -> Item:
    """`arange(end)`, `(start, end)` or `(start, end, step)`, then dtype, layout, device, pin."""
    numbers, dtype = list(args[:-4]), args[-4]
    start, end, step = {1: [0, *numbers, 1], 2: [*numbers, 1], 3: numbers}[len(numbers)]
    natural = w.meeting(start, end, step)
    wanted = w.dtype(dtype, w.dtype(None) if is_float(natural) else INT)
    inner = DOUBLE if is_float(natural) else INT
    parts = [w.tensor(each, inner) for each in (start, end, step)]
    return w.cast(w.op("Range", *parts), wanted)


@exports("aten::linspace")
def linspace(
    w: Writer, start: Item, end: Item, steps: Item, dtype: Item = None, *rest: Item
) -> Item:
    wanted = w.dtype(dtype)
    count = w.tensor(steps, INT)
    row = w.op("Range", w.constant(0, INT), count, w.constant(1, INT))
    row = w.cast(row, DOUBLE)
    first = w.tensor(start, DOUBLE)
    gaps = w.op("Max", w.op("Sub", count, w.constant(1, INT)), w.constant(1, INT))
    step = w.op("Div", w.op("Sub", w.tensor(end, DOUBLE), first), w.cast(gaps, DOUBLE))
    return w.cast(w.op("Add", w.op("Mul", row, step), first), wanted)


@exports("aten::eye")
def eye(w: Writer, n: Item, *rest: Item) -> Item:
    columns, dtype = (rest[0], rest[1]) if len(rest) == 5 else (n, rest[0])
    wanted = w.dtype(dtype)
    made = w.op("EyeLike", w.tensor(w.filled([n, columns], 0, FLOAT)))
    return w.cast(made, wanted)


@exports("aten::one_hot")
def one_hot(w: Writer, self: Item, num_classes: Item = -1) -> Item:
    x = w.tensor(self)
    count = num_classes
    if is_number(count) and count == -1:
        most = w.reduce("ReduceMax", x, range(w.rank(x)), False)
        count = w.op("Add", most, w.constant(1, INT))
    return w.op("OneHot", x, w.tensor(count, INT), w.ints(0, 1), axis=-1)


@exports("aten::tril_indices")
def tril_indices(w: Writer, row: Item, col: Item, offset: Item = 0, *rest: Item) -> Item:
    return _indices(w, row, col, offset, 0)


@exports("aten::triu_indices")
def triu_indices(w: Writer, row: Item, col: Item, offset: Item = 0, *rest: Item) -> Item:
    return _indices(w, row, col, offset, 1)


def _indices(w: Writer, row: Item, col: Item, offset: Item, upper: int) -> Operand:
    whole = w.filled([row, col], 1, INT)
    part = w.op("Trilu", whole, w.tensor(offset, INT), upper=upper)
    return w.op("NonZero", w.cast(part, BOOL))

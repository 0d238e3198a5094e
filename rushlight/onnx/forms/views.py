"""Other forms of the same elements, and parts of a tensor; with the way back, for writing."""

from __future__ import annotations

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..walk import PUTS
from ..writer import END, INT, Writer, is_number


@PUTS.of("aten::detach", "aten::alias", "aten::contiguous", "aten::to", "aten::requires_grad_")
@PUTS.of("aten::positive", "aten::resolve_conj", "aten::resolve_neg")
def _put_all(w: Writer, base: Operand, new: Operand, *rest: Item) -> Operand:
    return new


@exports("aten::view", "aten::reshape", "aten::_unsafe_view", "aten::view_copy", parts=(0,))
def view(w: Writer, self: Item, size: Item) -> Item:
    x = w.tensor(self)
    if isinstance(size, Operand):
        return w.op("Reshape", x, size, allowzero=1)
    if not isinstance(size, list | tuple):
        raise Unsupported("a view in another dtype")
    return w.reshape(x, list(size))


@exports("aten::view_as", "aten::reshape_as", parts=(0,))
def view_as(w: Writer, self: Item, other: Item) -> Item:
    x = w.tensor(other)
    return w.reshape(w.tensor(self), w.sizes(x))


@exports("aten::flatten", parts=(0,))
def flatten(w: Writer, self: Item, start_dim: Item = 0, end_dim: Item = -1) -> Item:
    x = w.tensor(self)
    rank = w.rank(x)
    if rank == 0:
        return w.reshape(x, [1])
    start, end = w.axis(start_dim, rank), w.axis(end_dim, rank)
    if start == end:
        return x
    sizes = w.sizes(x)
    return w.reshape(x, [*sizes[:start], _product(sizes[start : end + 1]), *sizes[end + 1 :]])


def _product(sizes: list[Item]) -> int:
    """The size of dimensions that are one; -1 where only a run knows."""
    product = 1
    for size in sizes:
        if not isinstance(size, int):
            return -1
        product *= size
    return product


@exports("aten::unflatten", parts=(0,))
def unflatten(w: Writer, self: Item, dim: Item, sizes: Item) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    if not isinstance(sizes, list | tuple):
        raise Unsupported("sizes whose number only a run knows")
    before = w.sizes(x)
    return w.reshape(x, [*before[:axis], *sizes, *before[axis + 1 :]])


@PUTS.of("aten::view", "aten::reshape", "aten::flatten", "aten::squeeze", "aten::unsqueeze")
@PUTS.of("aten::view_as", "aten::reshape_as", "aten::unflatten", "aten::_unsafe_view")
def _put_form(w: Writer, base: Operand, new: Operand, *rest: Item) -> Operand:
    return w.op("Reshape", new, w.op("Shape", base), dims=base.shape, allowzero=1)


@exports("aten::unsqueeze", parts=(0,))
def unsqueeze(w: Writer, self: Item, dim: Item) -> Item:
    x = w.tensor(self)
    return w.unsqueeze(x, w.axis(dim, w.rank(x) + 1))


@exports("aten::squeeze", parts=(0,))
def squeeze(w: Writer, self: Item, dim: Item = None) -> Item:
    x = w.tensor(self)
    rank = w.rank(x)
    axes = w.axes(dim, rank) if dim != [] else []
    assert x.shape is not None
    unknown = [axis for axis in axes if axis < rank and not isinstance(x.shape[axis], int)]
    if unknown:
        raise Unsupported("whether the dimension is one only a run knows")
    return w.squeeze(x, *(axis for axis in axes if axis < rank and x.shape[axis] == 1))


@exports("aten::permute", parts=(0,))
def permute(w: Writer, self: Item, dims: Item) -> Item:
    x = w.tensor(self)
    return w.transpose(x, [w.axis(d, w.rank(x)) for d in w.wholes(dims, "dims")])


@PUTS.of("aten::permute")
def _put_permuted(w: Writer, base: Operand, new: Operand, dims: Item) -> Operand:
    order = [w.axis(d, w.rank(base)) for d in w.wholes(dims, "dims")]
    return w.transpose(new, [order.index(axis) for axis in range(len(order))])


def _exchanged(w: Writer, x: Operand, one: Item, other: Item) -> Operand:
    order = list(range(w.rank(x)))
    if not order:
        return x
    a, b = w.axis(one, len(order)), w.axis(other, len(order))
    order[a], order[b] = order[b], order[a]
    return w.transpose(x, order)


@exports("aten::transpose", "aten::swapaxes", "aten::swapdims", parts=(0,))
def transpose(w: Writer, self: Item, dim0: Item, dim1: Item) -> Item:
    return _exchanged(w, w.tensor(self), dim0, dim1)


@PUTS.of("aten::transpose", "aten::swapaxes", "aten::swapdims")
def _put_transposed(w: Writer, base: Operand, new: Operand, dim0: Item, dim1: Item) -> Operand:
    return _exchanged(w, new, dim0, dim1)


@exports("aten::numpy_T", parts=(0,))
def numpy_t(w: Writer, self: Item) -> Item:
    return _turned(w, w.tensor(self))


def _turned(w: Writer, x: Operand) -> Operand:
    return w.transpose(x, list(reversed(range(w.rank(x)))))


@PUTS.of("aten::numpy_T")
def _put_turned(w: Writer, base: Operand, new: Operand) -> Operand:
    return _turned(w, new)


@exports("aten::t", "aten::mT", parts=(0,))
def t(w: Writer, self: Item) -> Item:
    x = w.tensor(self)
    return _exchanged(w, x, -1, -2) if w.rank(x) > 1 else x


@PUTS.of("aten::t", "aten::mT")
def _put_t(w: Writer, base: Operand, new: Operand) -> Operand:
    return w.tensor(t(w, new))


@exports("aten::movedim", "aten::moveaxis", parts=(0,))
def movedim(w: Writer, self: Item, source: Item, destination: Item) -> Item:
    x = w.tensor(self)
    rank = w.rank(x)
    places = [w.axis(d, rank) for d in w.wholes(destination, "destination")]
    moved = dict(zip(places, (w.axis(d, rank) for d in w.wholes(source, "source")), strict=True))
    rest = iter([axis for axis in range(rank) if axis not in moved.values()])
    return w.transpose(x, [moved[n] if n in moved else next(rest) for n in range(rank)])


@exports("aten::expand", "aten::broadcast_to", parts=(0,))
def expand(w: Writer, self: Item, size: Item, implicit: Item = False) -> Item:
    x = w.tensor(self)
    if isinstance(size, Operand):
        return w.op("Expand", x, size)
    if not isinstance(size, list | tuple):
        raise Unsupported("sizes that only a run knows")
    added = len(size) - w.rank(x)
    kept = [w.size(x, n - added) if each == -1 else each for n, each in enumerate(size)]
    return w.expand(x, kept)


@exports("aten::expand_as", parts=(0,))
def expand_as(w: Writer, self: Item, other: Item) -> Item:
    return w.expand(w.tensor(self), w.sizes(w.tensor(other)))


@exports("aten::select", parts=(0,))
def select(w: Writer, self: Item, dim: Item, index: Item) -> Item:
    x = w.tensor(self)
    return w.select(x, w.axis(dim, w.rank(x)), index)


@exports("aten::slice", "aten::narrow_copy", parts=(0,))
def slice_(
    w: Writer, self: Item, dim: Item = 0, start: Item = None, end: Item = None, step: Item = 1
) -> Item:
    x = w.tensor(self)
    first = 0 if start is None else start
    last = END if end is None else end
    if first == 0 and last == END and step == 1:
        return x
    return w.slice(x, w.axis(dim, w.rank(x)), first, last, step)


@exports("aten::narrow", parts=(0,))
def narrow(w: Writer, self: Item, dim: Item, start: Item, length: Item) -> Item:
    x = w.tensor(self)
    return w.slice(x, w.axis(dim, w.rank(x)), start, _end_of(w, start, length))


def _end_of(w: Writer, start: Item, length: Item) -> Item:
    if is_number(start) and is_number(length):
        return start + length if start != -length else END
    return w.op("Add", w.tensor(start, INT), w.tensor(length, INT))


def _places(w: Writer, base: Operand, axis: int) -> Operand:
    """The numbers of the places along a dimension."""
    size = w.size(base, axis)
    zero, one = w.constant(0, INT), w.constant(1, INT)
    return w.op("Range", zero, w.tensor(size, INT), one)


def _put_at(w: Writer, base: Operand, axis: int, places: Operand, new: Operand) -> Operand:
    """Other contents at places of one dimension."""
    order = list(range(w.rank(base)))
    order[0], order[axis] = order[axis], order[0]
    made = w.op(
        "ScatterND",
        w.transpose(base, order),
        w.unsqueeze(places, 1),
        w.transpose(w.cast(new, base.dtype), order),
    )
    return w.transpose(made, order)


@PUTS.of("aten::select")
def _put_selected(w: Writer, base: Operand, new: Operand, dim: Item, index: Item) -> Operand:
    axis = w.axis(dim, w.rank(base))
    return _put_at(w, base, axis, w.vector([index]), w.unsqueeze(new, axis))


@PUTS.of("aten::slice")
def _put_slice(
    w: Writer,
    base: Operand,
    new: Operand,
    dim: Item = 0,
    start: Item = None,
    end: Item = None,
    step: Item = 1,
) -> Operand:
    axis = w.axis(dim, w.rank(base))
    first, last = 0 if start is None else start, END if end is None else end
    if first == 0 and last == END and step == 1:
        return new
    places = w.slice(_places(w, base, axis), 0, first, last, step)
    return _put_at(w, base, axis, places, new)


@PUTS.of("aten::narrow")
def _put_narrow(
    w: Writer, base: Operand, new: Operand, dim: Item, start: Item, length: Item
) -> Operand:
    return _put_slice(w, base, new, dim, start, _end_of(w, start, length))


@exports("aten::unbind", parts=(0,))
def unbind(w: Writer, self: Item, dim: Item = 0) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    size = w.size(x, axis)
    if isinstance(size, int):
        return [w.select(x, axis, n) for n in range(size)]
    return w.op("SplitToSequence", x, axis=axis, keepdims=0)


@exports("aten::split", "aten::split_with_sizes", parts=(0,))
def split(w: Writer, self: Item, split_size: Item, dim: Item = 0) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    size = w.size(x, axis)
    if isinstance(split_size, list | tuple):
        sizes = w.wholes(split_size, "split_sizes")
    elif isinstance(size, int):
        step = w.whole(split_size, "split_size")
        sizes = [min(step, size - at) for at in range(0, size, step)] or [0]
    else:
        return w.op("SplitToSequence", x, w.tensor(split_size, INT), axis=axis)
    return list(w.ops(len(sizes), "Split", x, w.ints(*sizes), axis=axis)) if len(sizes) > 1 else [x]


@exports("aten::chunk", parts=(0,))
def chunk(w: Writer, self: Item, chunks: Item, dim: Item = 0) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    size = w.known_size(x, axis, "the size of what is cut into chunks")
    count = w.whole(chunks, "chunks")
    return split(w, x, max(-(-size // count), 1), axis)


@exports("aten::tensor_split", parts=(0,))
def tensor_split(w: Writer, self: Item, parts: Item, dim: Item = 0) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    size = w.known_size(x, axis, "the size of what is split")
    if isinstance(parts, list):
        cuts = [min(cut + size if cut < 0 else cut, size) for cut in w.wholes(parts, "indices")]
        ends = [*cuts, size]
    else:
        count = w.whole(parts, "sections")
        base, more = divmod(size, count)
        ends = [base * (n + 1) + min(n + 1, more) for n in range(count)]
    starts = [0, *ends[:-1]]
    return split(w, x, [max(b - a, 0) for a, b in zip(starts, ends, strict=True)], axis)


@exports("aten::diagonal", parts=(0,))
def diagonal(w: Writer, self: Item, offset: Item = 0, dim1: Item = 0, dim2: Item = 1) -> Item:
    x = w.tensor(self)
    rank = w.rank(x)
    one, two = w.axis(dim1, rank), w.axis(dim2, rank)
    rows, columns = w.known_size(x, one, "its size"), w.known_size(x, two, "its size")
    shift = w.whole(offset, "offset")
    row, column = max(-shift, 0), max(shift, 0)
    count = max(min(rows - row, columns - column), 0)
    order = [one, two, *(axis for axis in range(rank) if axis not in (one, two))]
    places = [[row + n, column + n] for n in range(count)]
    found = w.op("GatherND", w.transpose(x, order), w.constant(places, INT))
    return w.transpose(found, [*range(1, rank - 1), 0])


@exports("aten::unfold", parts=(0,))
def unfold(w: Writer, self: Item, dimension: Item, size: Item, step: Item) -> Item:
    x = w.tensor(self)
    axis = w.axis(dimension, w.rank(x))
    long, by = w.whole(size, "size"), w.whole(step, "step")
    total = w.known_size(x, axis, "the size of the unfolded dimension")
    places = [[start + n for n in range(long)] for start in range(0, total - long + 1, by)]
    found = w.op("Gather", x, w.constant(places, INT), axis=axis)
    order = [a for a in range(w.rank(found)) if a != axis + 1]
    return w.transpose(found, [*order, axis + 1])

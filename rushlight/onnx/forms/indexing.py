"""Reading and writing at places: index, gather, scatter, embedding."""

from __future__ import annotations

from collections.abc import Sequence

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..walk import PUTS
from ..writer import BOOL, INT, Writer


@exports("aten::embedding")
def embedding(w: Writer, weight: Item, indices: Item, *rest: Item) -> Item:
    return w.op("Gather", w.tensor(weight), w.tensor(indices), axis=0)


@exports("aten::index_select", parts=(0,))
def index_select(w: Writer, self: Item, dim: Item, index: Item) -> Item:
    x, places = w.tensor(self), w.tensor(index)
    if w.rank(places) == 0:
        places = w.unsqueeze(places, 0)
    return w.op("Gather", x, places, axis=w.axis(dim, w.rank(x)))


@exports("aten::gather", parts=(0,))
def gather(w: Writer, self: Item, dim: Item, index: Item, sparse_grad: Item = False) -> Item:
    x, places = w.tensor(self), w.tensor(index)
    if w.rank(x) == 0:
        return w.expand(x, w.sizes(places))
    return w.op("GatherElements", x, places, axis=w.axis(dim, w.rank(x)))


@exports("aten::take_along_dim", parts=(0,))
def take_along_dim(w: Writer, self: Item, indices: Item, dim: Item = None) -> Item:
    x, places = w.tensor(self), w.tensor(indices)
    if dim is None:
        return w.op("GatherElements", w.reshape(x, [-1]), w.reshape(places, [-1]), axis=0)
    return w.op("GatherElements", x, places, axis=w.axis(dim, w.rank(x)))


@exports("aten::take", parts=(0,))
def take(w: Writer, self: Item, index: Item) -> Item:
    return w.op("Gather", w.reshape(w.tensor(self), [-1]), w.tensor(index), axis=0)


@exports("aten::masked_select", parts=(0,))
def masked_select(w: Writer, self: Item, mask: Item) -> Item:
    x, chosen = w.tensor(self), w.tensor(mask)
    if x.sizes is None or x.sizes != chosen.sizes:
        true = w.expand_as(w.constant(True, BOOL), x)
        shape = w.op("Shape", w.op("And", true, chosen))
        x, chosen = w.op("Expand", x, shape), w.op("Expand", chosen, shape)
    return w.op("Compress", w.reshape(x, [-1]), w.reshape(chosen, [-1]), axis=0)


@exports("aten::nonzero", "aten::argwhere")
def nonzero(w: Writer, self: Item) -> Item:
    return w.op("Transpose", w.op("NonZero", w.tensor(self)), perm=[1, 0])


# -------------------------------------------------------------------------------- x[a, b]


def _places(w: Writer, x: Operand, indices: Item) -> tuple[Operand, list[int], Operand]:
    """Where `x[indices]` reads: the tensor with the indexed dimensions first, which those were,
    and the places in them as the last dimension of one tensor."""
    if not isinstance(indices, list | tuple):
        raise Unsupported("a list of indices that only a run knows")
    found: list[tuple[int, Operand]] = []
    axis = 0
    for each in indices:
        if each is None:
            axis += 1
            continue
        index = w.tensor(each)
        if index.dtype == BOOL or index.dtype.name == "uint8":
            rank = w.rank(index)
            where = w.op("NonZero", index)
            for n in range(rank):
                found.append((axis + n, w.select(where, 0, n)))
            axis += rank
        else:
            found.append((axis, w.cast(index, INT)))
            axis += 1
    if not found:
        raise Unsupported("there is no index")
    axes = [axis for axis, _ in found]
    order = [*axes, *(a for a in range(w.rank(x)) if a not in axes)]
    return w.transpose(x, order), axes, _stacked(w, [index for _, index in found])


def _stacked(w: Writer, places: Sequence[Operand]) -> Operand:
    """Indices as the last dimension, broadcast to each other."""
    if len(places) == 1:
        return w.unsqueeze(places[0], w.rank(places[0]))
    rank = max(w.rank(each) for each in places)
    sizes = [each.sizes for each in places]
    if any(size != sizes[0] or size is None for size in sizes):
        total = places[0]
        for each in places[1:]:
            total = w.op("Add", total, each)
        shape = w.op("Shape", total)
        places = [w.op("Expand", each, shape, dims=total.shape) for each in places]
    return w.op("Concat", *(w.unsqueeze(each, rank) for each in places), axis=rank)


def _in_place(axes: list[int]) -> bool:
    """Whether indexed dimensions lie side by side, so that the result has them there."""
    return axes == list(range(axes[0], axes[0] + len(axes)))


@exports("aten::index", "aten::_unsafe_index", parts=(0,))
def index(w: Writer, self: Item, indices: Item) -> Item:
    x = w.tensor(self)
    turned, axes, places = _places(w, x, indices)
    shape = [*(places.shape or ())[:-1], *(turned.shape or ())[len(axes) :]]
    found = w.op("GatherND", turned, places, dims=shape)
    if not _in_place(axes) or axes[0] == 0:
        return found
    front, before = w.rank(places) - 1, axes[0]
    rank = w.rank(found)
    order = [*range(front, front + before), *range(front), *range(front + before, rank)]
    return w.transpose(found, order)


@exports("aten::index_put", "aten::_unsafe_index_put", parts=(0, 2))
def index_put(
    w: Writer, self: Item, indices: Item, values: Item, accumulate: Item = False, *rest: Item
) -> Item:
    x = w.tensor(self)
    turned, axes, places = _places(w, x, indices)
    new = w.tensor(values, x.dtype)
    front, before = w.rank(places) - 1, axes[0] if _in_place(axes) else 0
    shape = w.op("Shape", w.op("GatherND", turned, places))
    rank = front + w.rank(x) - len(axes)
    if before:
        back = [*range(front, front + before), *range(front), *range(front + before, rank)]
        shape = w.op("Gather", shape, w.ints(*back), axis=0)
    new = w.op("Expand", new, shape, dims=[None] * rank)
    if before:
        new = w.transpose(new, [back.index(n) for n in range(rank)])
    kind = "add" if accumulate is True else "none"
    made = w.op("ScatterND", turned, places, new, reduction=kind)
    order = [*axes, *(a for a in range(w.rank(x)) if a not in axes)]
    return w.transpose(made, [order.index(n) for n in range(len(order))])


# ----------------------------------------------------------------------------------- scatter


def _scattered(w: Writer, self: Item, dim: Item, index: Item, src: Item, reduction: str) -> Operand:
    x, places = w.tensor(self), w.tensor(index)
    new = w.tensor(src, x.dtype)
    if w.rank(new) == 0 and w.rank(places) > 0:
        new = w.expand_as(new, places)
    elif new.sizes != places.sizes or new.sizes is None:
        rank = w.rank(places)
        ends = w.op("Shape", places)
        new = w.op("Slice", new, w.ints(*[0] * rank), ends, w.ints(*range(rank)))
    return w.op("ScatterElements", x, places, new, axis=w.axis(dim, w.rank(x)), reduction=reduction)


@exports("aten::scatter", parts=(0, 3))
def scatter(w: Writer, self: Item, dim: Item, index: Item, src: Item, reduce: Item = None) -> Item:
    known = {None: "none", "add": "add", "multiply": "mul"}
    if not (reduce is None or isinstance(reduce, str)) or reduce not in known:
        raise Unsupported("this reduction")
    return _scattered(w, self, dim, index, src, known[reduce])


@exports("aten::scatter_add", parts=(0, 3))
def scatter_add(w: Writer, self: Item, dim: Item, index: Item, src: Item) -> Item:
    return _scattered(w, self, dim, index, src, "add")


@exports("aten::scatter_reduce")
def scatter_reduce(
    w: Writer,
    self: Item,
    dim: Item,
    index: Item,
    src: Item,
    reduce: Item,
    include_self: Item = True,
) -> Item:
    known = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    if reduce not in known or include_self is not True:
        raise Unsupported("this reduction")
    kind = known[str(reduce)]
    if kind in ("max", "min") and w.opset < 18:
        raise Unsupported(f"`{reduce}` in opset {w.opset}: there is one from 18 on")
    return _scattered(w, self, dim, index, src, kind)


def _along(w: Writer, x: Operand, axis: int, index: Operand, like: Operand) -> Operand:
    """An index of one dimension, broadcast to the elements that it is for."""
    shape = [1] * w.rank(x)
    shape[axis] = -1
    return w.expand_as(w.reshape(index, shape), like)


@exports("aten::index_add", parts=(0, 3))
def index_add(w: Writer, self: Item, dim: Item, index: Item, source: Item, alpha: Item = 1) -> Item:
    if alpha != 1:
        raise Unsupported("a factor")
    x, new = w.tensor(self), w.tensor(source)
    axis = w.axis(dim, w.rank(x))
    places = _along(w, x, axis, w.tensor(index, INT), new)
    return w.op("ScatterElements", x, places, new, axis=axis, reduction="add")


@exports("aten::index_copy", parts=(0, 3))
def index_copy(w: Writer, self: Item, dim: Item, index: Item, source: Item) -> Item:
    x, new = w.tensor(self), w.tensor(source)
    axis = w.axis(dim, w.rank(x))
    places = _along(w, x, axis, w.tensor(index, INT), new)
    return w.op("ScatterElements", x, places, new, axis=axis)


@exports("aten::index_fill", parts=(0, 3))
def index_fill(w: Writer, self: Item, dim: Item, index: Item, value: Item) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    like = w.op("Gather", x, w.tensor(index, INT), axis=axis)
    new = w.expand_as(w.tensor(value, x.dtype), like)
    places = _along(w, x, axis, w.tensor(index, INT), new)
    return w.op("ScatterElements", x, places, new, axis=axis)


@exports("aten::masked_scatter", parts=(0, 2))
def masked_scatter(w: Writer, self: Item, mask: Item, source: Item) -> Item:
    x = w.tensor(self)
    chosen = w.expand_as(w.tensor(mask), x)
    places = w.op("Transpose", w.op("NonZero", chosen), perm=[1, 0])
    count = w.slice(w.op("Shape", places), 0, 0, 1)
    new = w.op("Slice", w.reshape(w.tensor(source), [-1]), w.ints(0), count)
    return w.op("ScatterND", x, places, new)


@exports("aten::select_scatter", parts=(0, 1))
def select_scatter(w: Writer, self: Item, src: Item, dim: Item, index: Item) -> Item:
    return PUTS["aten::select"](w, w.tensor(self), w.tensor(src), dim, index)


@exports("aten::slice_scatter", parts=(0, 1))
def slice_scatter(
    w: Writer,
    self: Item,
    src: Item,
    dim: Item = 0,
    start: Item = None,
    end: Item = None,
    step: Item = 1,
) -> Item:
    return PUTS["aten::slice"](w, w.tensor(self), w.tensor(src), dim, start, end, step)

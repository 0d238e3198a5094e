"""Windows as columns and back, places of maxima put back, and pooling by windows of many sizes or
that begin at places which are drawn."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from ..items import Item, Operand, Unsupported
from ..table import EXPORTS, exports
from ..writer import INT, Writer

__all__ = ["uneven_average", "uneven_maximum"]

_MOST = 256
"""Windows that are written out one by one."""


def _bounds(size: int, target: int) -> list[tuple[int, int]]:
    """Where the windows of an adaptive pool begin and end."""
    return [(n * size // target, -(-(n + 1) * size // target)) for n in range(target)]


def uneven_average(w: Writer, x: Operand, sizes: list[int], targets: list[int]) -> Operand:
    """An adaptive average pool, dimension by dimension."""
    for axis, (size, target) in enumerate(zip(sizes, targets, strict=True), 2):
        if target > _MOST:
            raise Unsupported(f"more than {_MOST} windows of many sizes")
        parts = [
            w.reduce("ReduceMean", w.slice(x, axis, first, last), [axis], True)
            for first, last in _bounds(size, target)
        ]
        x = parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=axis)
    return x


def uneven_maximum(
    w: Writer, x: Operand, sizes: list[int], targets: list[int]
) -> tuple[Operand, Operand]:
    """An adaptive maximum pool, window by window, with the places in each plane."""
    if prod(targets) > _MOST:
        raise Unsupported(f"more than {_MOST} windows of many sizes")
    places = np.arange(prod(sizes)).reshape(sizes)
    values, found = [], []
    each = (_bounds(size, target) for size, target in zip(sizes, targets, strict=True))
    for window in product(*each):
        part = x
        for axis, (first, last) in enumerate(window, 2):
            part = w.slice(part, axis, first, last)
        flat = w.op("Reshape", part, w.ints(0, 0, -1))
        values.append(w.reduce("ReduceMax", flat, [2], True))
        table = w.constant(places[tuple(slice(*ends) for ends in window)].reshape(-1), INT)
        best = w.op("ArgMax", flat, axis=2, keepdims=1)
        found.append(w.op("Gather", table, best, axis=0))
    shape = w.ints(0, 0, *targets)
    made = [
        w.op("Reshape", w.op("Concat", *parts, axis=2) if len(parts) > 1 else parts[0], shape)
        for parts in (values, found)
    ]
    return made[0], made[1]


def _pair(w: Writer, item: Item, what: str) -> list[int]:
    return w.wholes(item, what, 2)


@exports("aten::im2col")
def im2col(
    w: Writer, self: Item, kernel_size: Item, dilation: Item, padding: Item, stride: Item
) -> Item:
    x, is_single = w.batched(self, 4)
    given = (kernel_size, dilation, padding, stride)
    names = ("kernel_size", "dilation", "padding", "stride")
    kernel, holes, pads, steps = (_pair(w, i, n) for i, n in zip(given, names, strict=True))
    lines = [w.known_size(x, 2 + n, "the size of the image") + 2 * pads[n] for n in range(2)]
    starts = [
        np.arange(0, lines[n] - holes[n] * (kernel[n] - 1), steps[n], dtype=np.int64)
        for n in range(2)
    ]
    within = [np.arange(kernel[n], dtype=np.int64) * holes[n] for n in range(2)]
    rows = within[0].reshape(-1, 1, 1, 1) + starts[0].reshape(1, 1, -1, 1)
    columns = within[1].reshape(1, -1, 1, 1) + starts[1].reshape(1, 1, 1, -1)
    places = (rows * lines[1] + columns).reshape(prod(kernel), -1)
    if any(pads):
        x = w.op("Pad", x, w.ints(0, 0, *pads, 0, 0, *pads))
    flat = w.op("Reshape", x, w.ints(0, 0, -1))
    found = w.op("Gather", flat, w.constant(places, INT), axis=2)
    columns_of = w.known_size(x, 1, "the number of channels") * places.shape[0]
    made = w.op("Reshape", found, w.ints(0, columns_of, places.shape[1]))
    return w.squeeze(made, 0) if is_single else made


@exports("aten::col2im")
def col2im(
    w: Writer,
    self: Item,
    output_size: Item,
    kernel_size: Item,
    dilation: Item,
    padding: Item,
    stride: Item,
) -> Item:
    if w.opset < 18:
        raise Unsupported("it is there from opset 18 on")
    x, is_single = w.batched(self, 3)
    pads = _pair(w, padding, "padding")
    made = w.op(
        "Col2Im",
        x,
        w.ints(*_pair(w, output_size, "output_size")),
        w.ints(*_pair(w, kernel_size, "kernel_size")),
        dilations=_pair(w, dilation, "dilation"),
        pads=pads * 2,
        strides=_pair(w, stride, "stride"),
    )
    return w.squeeze(made, 0) if is_single else made


def _unpool(count: int) -> None:
    def form(w: Writer, self: Item, indices: Item, output_size: Item, *rest: Item) -> Item:
        x, is_single = w.batched(self, count + 2)
        places, _ = w.batched(indices, count + 2)
        sizes = w.wholes(output_size, "output_size", count)[-count:]
        channels = [w.size(x, 0), w.size(x, 1)]
        empty = w.tensor(w.filled([*channels, prod(sizes)], 0, x.dtype))
        flat = w.ints(0, 0, -1)
        values, where = (w.op("Reshape", each, flat) for each in (x, places))
        made = w.op("ScatterElements", empty, where, values, axis=2)
        made = w.op("Reshape", made, w.ints(0, 0, *sizes))
        return w.squeeze(made, 0) if is_single else made

    EXPORTS[f"aten::max_unpool{count}d"] = form


for _count in (2, 3):
    _unpool(_count)


def _fractional(order: tuple[int, ...]) -> None:
    """A maximum over windows that begin where samples say; `order` is the sample of each
    dimension."""
    count = len(order)

    def form(w: Writer, self: Item, kernel_size: Item, output_size: Item, samples: Item) -> Item:
        x, is_single = w.batched(self, count + 2)
        kernel = w.wholes(kernel_size, "kernel_size", count)
        targets = w.wholes(output_size, "output_size", count)
        lines = [w.known_size(x, 2 + n, "the size of the image") for n in range(count)]
        drawn = w.slice(w.tensor(samples), 0, 0, w.size(x, 0))
        places = w.ints(0)
        for n in range(count):
            begun = _begun(w, w.select(drawn, 2, order[n]), lines[n], targets[n], kernel[n])
            taken = w.op("Add", w.unsqueeze(begun, 3), w.constant(np.arange(kernel[n]), INT))
            others = [at for at in range(count) if at != n]
            here = w.unsqueeze(
                taken, *sorted(2 + at + side for at in others for side in (0, count))
            )
            places = w.op("Add", w.op("Mul", places, w.ints(lines[n])), here)
        flat = w.op("Reshape", x, w.ints(0, 0, -1))
        seen = w.op("GatherElements", flat, w.op("Reshape", places, w.ints(0, 0, -1)), axis=2)
        windows = w.ints(0, 0, -1, prod(kernel))
        best = w.op("ArgMax", w.op("Reshape", seen, windows), axis=3, keepdims=1)
        found = w.op("GatherElements", w.op("Reshape", places, windows), best, axis=3)
        values = w.op("GatherElements", flat, w.op("Reshape", found, w.ints(0, 0, -1)), axis=2)
        made = (w.op("Reshape", each, w.ints(0, 0, *targets)) for each in (values, found))
        return tuple(w.squeeze(each, 0) if is_single else each for each in made)

    EXPORTS[f"aten::fractional_max_pool{count}d"] = form


def _begun(w: Writer, drawn: Operand, size: int, target: int, kernel: int) -> Operand:
    """Where the windows of a dimension begin, for samples [batch, channels]."""
    moves = w.cast(drawn, np.dtype(np.float64 if drawn.dtype == np.float64 else np.float32))
    moves = w.unsqueeze(moves, 2)
    whole = w.cast(w.op("Mul", moves, w.constant(0, moves.dtype)), INT)
    last = w.op("Add", whole, w.ints(size - kernel))
    if target == 1:
        return last
    step = w.constant(moves.dtype.type(size - kernel) / moves.dtype.type(target - 1))
    at = w.op("Add", w.constant(np.arange(target - 1), moves.dtype), moves)
    moved = (w.cast(w.op("Mul", each, step), INT) for each in (at, moves))
    return w.op("Concat", w.op("Sub", *moved), last, axis=2)


for _order in ((1, 0), (0, 1, 2)):
    _fractional(_order)

"""Orders: sort, topk, unique."""

from __future__ import annotations

from ..items import Item, Unsupported
from ..table import exports
from ..writer import INT, Writer


@exports("aten::topk")
def topk(
    w: Writer, self: Item, k: Item, dim: Item = -1, largest: Item = True, sorted: Item = True
) -> Item:
    x = w.tensor(self)
    return w.ops(
        2,
        "TopK",
        x,
        w.vector([k]),
        axis=w.axis(dim, w.rank(x)),
        largest=int(largest is True),
        sorted=1,
    )


@exports("aten::sort")
def sort(w: Writer, self: Item, *args: Item) -> Item:
    stable = args[0] if len(args) == 3 else None
    dim, descending = args[-2:] if len(args) >= 2 else (-1, False)
    if stable is True and descending is True:
        raise Unsupported("the order of equal elements is asked for")
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    count = w.op("Gather", w.op("Shape", x), w.ints(axis), axis=0)
    largest = int(descending is True)
    return w.ops(2, "TopK", x, count, axis=axis, largest=largest, sorted=1)


@exports("aten::argsort")
def argsort(w: Writer, self: Item, *args: Item) -> Item:
    return sort(w, self, *args)[1]  # type: ignore[index]


@exports("aten::kthvalue")
def kthvalue(w: Writer, self: Item, k: Item, dim: Item = -1, keepdim: Item = False) -> Item:
    x = w.tensor(self)
    axis = w.axis(dim, w.rank(x))
    found = w.ops(2, "TopK", x, w.vector([k]), axis=axis, largest=0, sorted=1)
    last = w.ints(-1) if keepdim is True else w.constant(-1, INT)
    return tuple(w.op("Gather", each, last, axis=axis) for each in found)


@exports("aten::median")
def median(w: Writer, self: Item, dim: Item = None, keepdim: Item = False) -> Item:
    x = w.tensor(self)
    if dim is None:
        flat = w.reshape(x, [-1])
        middle = (w.known_size(flat, 0, "the number of elements") + 1) // 2
        return kthvalue(w, flat, middle, 0)[0]  # type: ignore[index]
    size = w.known_size(x, w.axis(dim, w.rank(x)), "the size of the dimension")
    return kthvalue(w, x, (size + 1) // 2, dim, keepdim)


@exports("aten::_unique2", "aten::_unique")
def unique(
    w: Writer,
    self: Item,
    sorted: Item = True,
    return_inverse: Item = False,
    return_counts: Item = False,
) -> Item:
    x = w.tensor(self)
    values, _, inverse, counts = w.ops(4, "Unique", x, sorted=1)
    return values, w.reshape(inverse, w.sizes(x)), counts

"""New tensors made of the elements of others: joined, repeated, padded, turned."""

from __future__ import annotations

from collections.abc import Sequence

from ..items import Item, Operand, Unsupported
from ..table import exports
from ..writer import BOOL, END, INT, Writer


@exports("aten::cat", "aten::concat", "aten::concatenate", parts=(0,))
def cat(w: Writer, tensors: Item, dim: Item = 0) -> Item:
    if isinstance(tensors, Operand) and tensors.is_sequence:
        return w.op("ConcatFromSequence", tensors, axis=w.whole(dim, "dim"))
    parts = w.common(*_several(tensors))
    parts = tuple(part for part in parts if part.shape != (0,)) or parts
    axis = w.whole(dim, "dim")
    return parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=axis)


def _several(tensors: Item) -> Sequence[Item]:
    if not isinstance(tensors, list | tuple):
        raise Unsupported("a list that only a run knows")
    return tensors


@exports("aten::stack", parts=(0,))
def stack(w: Writer, tensors: Item, dim: Item = 0) -> Item:
    axis = w.whole(dim, "dim")
    if isinstance(tensors, Operand) and tensors.is_sequence:
        return w.op("ConcatFromSequence", tensors, axis=axis, new_axis=1)
    parts = w.common(*_several(tensors))
    place = w.axis(axis, w.rank(parts[0]) + 1)
    return w.op("Concat", *(w.unsqueeze(part, place) for part in parts), axis=place)


@exports("aten::hstack", parts=(0,))
def hstack(w: Writer, tensors: Item) -> Item:
    first = w.tensor(_several(tensors)[0])
    return cat(w, tensors, 0 if w.rank(first) <= 1 else 1)


@exports("aten::vstack", parts=(0,))
def vstack(w: Writer, tensors: Item) -> Item:
    parts = [w.tensor(each) for each in _several(tensors)]
    return cat(w, [w.unsqueeze(p, 0) if w.rank(p) == 1 else p for p in parts], 0)


@exports("aten::repeat", "aten::tile", parts=(0,))
def repeat(w: Writer, self: Item, repeats: Item) -> Item:
    x = w.tensor(self)
    counts = list(_several(repeats))
    added = len(counts) - w.rank(x)
    if added < 0:
        counts = [1] * -added + counts
    x = w.unsqueeze(x, *range(added)) if added > 0 else x
    return w.op("Tile", x, w.vector(counts)) if counts else x


@exports("aten::repeat_interleave", parts=(0,))
def repeat_interleave(
    w: Writer, self: Item, repeats: Item = None, dim: Item = None, output_size: Item = None
) -> Item:
    x = w.tensor(self)
    if repeats is None:
        return _places_of(w, x)
    if dim is None:
        x, axis = w.reshape(x, [-1]), 0
    else:
        axis = w.axis(dim, w.rank(x))
    if isinstance(repeats, Operand) and repeats.shape not in ((), (1,)):
        return w.op("Gather", x, _places_of(w, repeats), axis=axis)
    wide = w.unsqueeze(x, axis + 1)
    ones: list[Item] = [1] * w.rank(wide)
    ones[axis + 1] = w.reshape(repeats, []) if isinstance(repeats, Operand) else repeats
    sizes = w.sizes(x)
    sizes[axis] = -1
    return w.reshape(w.op("Tile", wide, w.vector(ones)), sizes)


def _places_of(w: Writer, repeats: Operand) -> Operand:
    """Each place as often as `repeats` says there: how many of the places before end by then."""
    counts = w.cast(repeats, INT)
    ends = w.op("CumSum", counts, w.constant(0, INT))
    total = w.reduce("ReduceSum", counts, [0], False)
    places = w.op("Range", w.constant(0, INT), total, w.constant(1, INT))
    ended = w.op("LessOrEqual", w.unsqueeze(ends, 0), w.unsqueeze(places, 1))
    return w.reduce("ReduceSum", w.cast(ended, INT), [1], False)


@exports("aten::pad", parts=(0, 3))
@exports("aten::constant_pad_nd", parts=(0, 2))
def pad(w: Writer, self: Item, pad: Item, mode: Item = "constant", value: Item = None) -> Item:
    if not isinstance(mode, str):
        mode, value = "constant", mode
    x = w.tensor(self)
    if mode == "circular":
        return _circular(w, x, w.wholes(pad, "pad"))
    known = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    if mode not in known:
        raise Unsupported(f"the mode `{mode}`")
    filling = None
    if mode == "constant":
        filling = w.tensor(0 if value is None else value, x.dtype)
    return w.op("Pad", x, _amounts(w, pad, w.rank(x)), filling, mode=known[mode])


def _amounts(w: Writer, pad: Item, rank: int) -> Operand:
    """torch counts from the last dimension, in pairs; ONNX wants all starts, then all ends."""
    given = list(_several(pad))
    starts: list[Item] = [0] * rank
    ends: list[Item] = [0] * rank
    for number in range(len(given) // 2):
        starts[rank - 1 - number] = given[2 * number]
        ends[rank - 1 - number] = given[2 * number + 1]
    return w.vector([*starts, *ends])


def _circular(w: Writer, x: Operand, amounts: list[int]) -> Operand:
    for number in range(len(amounts) // 2):
        axis = w.rank(x) - 1 - number
        before, after = amounts[2 * number : 2 * number + 2]
        parts = [x]
        if before > 0:
            parts.insert(0, w.slice(x, axis, -before, END))
        if after > 0:
            parts.append(w.slice(x, axis, 0, after))
        if before < 0 or after < 0:
            raise Unsupported("a negative padding")
        x = parts[0] if len(parts) == 1 else w.op("Concat", *parts, axis=axis)
    return x


for _count in (1, 2, 3):
    for _name, _mode in (("reflection", "reflect"), ("replication", "replicate")):

        def _padded(w: Writer, self: Item, padding: Item, mode: str = _mode) -> Item:
            return pad(w, self, padding, mode)

        exports(f"aten::{_name}_pad{_count}d")(_padded)


@exports("aten::flip", parts=(0,))
def flip(w: Writer, self: Item, dims: Item) -> Item:
    x = w.tensor(self)
    axes = [w.axis(d, w.rank(x)) for d in w.wholes(dims, "dims")]
    if not axes:
        return x
    ends = [-END - 1] * len(axes)
    back = w.ints(*[-1] * len(axes))
    return w.op("Slice", x, back, w.ints(*ends), w.ints(*axes), back)


@exports("aten::roll", parts=(0,))
def roll(w: Writer, self: Item, shifts: Item, dims: Item = ()) -> Item:
    x = w.tensor(self)
    by = shifts if isinstance(shifts, list | tuple) else [shifts]
    if not dims:
        flat = w.reshape(x, [-1])
        return w.reshape(_rolled(w, flat, 0, by[0]), w.sizes(x))
    for shift, dim in zip(by, w.wholes(dims, "dims"), strict=True):
        x = _rolled(w, x, w.axis(dim, w.rank(x)), shift)
    return x


def _rolled(w: Writer, x: Operand, axis: int, shift: Item) -> Operand:
    size = w.size(x, axis)
    if isinstance(shift, int) and isinstance(size, int):
        begin: Item = -shift % size if size else 0
        if begin == 0:
            return x
    else:
        size = w.tensor(size, INT)
        begin = w.op("Mod", w.op("Neg", w.tensor(shift, INT)), size)
    parts = [w.slice(x, axis, begin, END), w.slice(x, axis, 0, begin)]
    return w.op("Concat", *parts, dims=x.shape, axis=axis)


def _triangle(w: Writer, self: Item, diagonal: Item, upper: int) -> Operand:
    x = w.tensor(self)
    shift = w.tensor(diagonal, INT)
    if x.dtype == BOOL:
        return w.cast(w.op("Trilu", w.cast(x, INT), shift, upper=upper), BOOL)
    return w.op("Trilu", x, shift, upper=upper)


@exports("aten::triu", parts=(0,))
def triu(w: Writer, self: Item, diagonal: Item = 0) -> Item:
    return _triangle(w, self, diagonal, 1)


@exports("aten::tril", parts=(0,))
def tril(w: Writer, self: Item, diagonal: Item = 0) -> Item:
    return _triangle(w, self, diagonal, 0)


@exports("aten::pixel_shuffle")
def pixel_shuffle(w: Writer, self: Item, upscale_factor: Item) -> Item:
    return _of_pictures(
        w,
        self,
        lambda x: w.op(
            "DepthToSpace", x, blocksize=w.whole(upscale_factor, "upscale_factor"), mode="CRD"
        ),
    )


def _of_pictures(w: Writer, self: Item, act: object) -> Operand:
    """A function of batches of pictures, for tensors with any number of dimensions before them."""
    assert callable(act)
    x = w.tensor(self)
    if w.rank(x) == 4:
        made: Operand = act(x)
        return made
    sizes = w.sizes(x)
    made = act(w.reshape(x, [-1, *sizes[-3:]]))
    return w.reshape(made, [*sizes[:-3], *w.sizes(made)[1:]])


@exports("aten::pixel_unshuffle")
def pixel_unshuffle(w: Writer, self: Item, downscale_factor: Item) -> Item:
    by = w.whole(downscale_factor, "downscale_factor")
    x = w.tensor(self)
    *before, channels, height, width = w.sizes(x)
    if not (isinstance(height, int) and isinstance(width, int)):
        raise Unsupported("sizes that only a run knows")
    count = len(before)
    wide = w.reshape(x, [*before, channels, height // by, by, width // by, by])
    order = [*range(count), *(count + n for n in (0, 2, 4, 1, 3))]
    if not isinstance(channels, int):
        raise Unsupported("a number of channels that only a run knows")
    sizes = [*before, channels * by * by, height // by, width // by]
    return w.reshape(w.transpose(wide, order), sizes)


@exports("aten::channel_shuffle")
def channel_shuffle(w: Writer, self: Item, groups: Item) -> Item:
    x = w.tensor(self)
    batch, channels, *rest = w.sizes(x)
    count = w.whole(groups, "groups")
    if not isinstance(channels, int):
        raise Unsupported("a number of channels that only a run knows")
    wide = w.reshape(x, [batch, count, channels // count, *rest])
    turned = w.transpose(wide, [0, 2, 1, *range(3, 3 + len(rest))])
    return w.reshape(turned, [batch, channels, *rest])


@exports("aten::meshgrid", parts=(0,))
def meshgrid(w: Writer, tensors: Item, indexing: Item = "ij") -> Item:
    parts = [w.tensor(each) for each in _several(tensors)]
    if indexing != "ij":
        raise Unsupported("another order than `ij`")
    sizes = [w.size(part, 0) if w.rank(part) else 1 for part in parts]
    found = []
    for number, part in enumerate(parts):
        shape: list[Item] = [1] * len(parts)
        shape[number] = -1
        found.append(w.expand(w.reshape(part, shape), sizes))
    return found


@exports("aten::broadcast_tensors", parts=(0,))
def broadcast_tensors(w: Writer, tensors: Item) -> Item:
    parts = [w.tensor(each) for each in _several(tensors)]
    sizes = [part.sizes for part in parts]
    if None not in sizes and all(size == sizes[0] for size in sizes):
        return parts
    truths = [w.op("Equal", part, part) for part in parts]
    whole = truths[0]
    for each in truths[1:]:
        whole = w.op("Or", whole, each)
    shape = w.op("Shape", whole)
    return [w.op("Expand", part, shape, dims=whole.shape) for part in parts]

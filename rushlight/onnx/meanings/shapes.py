"""Operators that move, take and join elements, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...ops.tensors.tensor import Tensor
from .table import means, torch


@means("Shape")
def shape_of(x: Tensor, start: int = 0, end: int | None = None) -> Tensor:
    return torch.tensor(list(x.shape)[start:end], dtype=torch.int64)


@means("Size")
def size_of(x: Tensor) -> Tensor:
    return torch.tensor(x.numel())


@means("Reshape")
def reshape(x: Tensor, shape: Tensor, allowzero: int = 0) -> Tensor:
    sizes = shape.tolist()
    if not allowzero:
        sizes = [x.shape[n] if size == 0 else size for n, size in enumerate(sizes)]
    return x.reshape(sizes)


@means("Flatten")
def flatten(x: Tensor, axis: int = 1) -> Tensor:
    rows = 1
    for size in x.shape[: axis if axis >= 0 else axis + x.dim()]:
        rows *= size
    return x.reshape(rows, -1)


@means("Expand")
def expand(x: Tensor, shape: Tensor) -> Tensor:
    return x.expand(torch.broadcast_shapes(x.shape, tuple(shape.tolist())))


@means("Transpose")
def transpose(x: Tensor, perm: list[int] | None = None) -> Tensor:
    return x.permute(list(range(x.dim()))[::-1] if perm is None else perm)


@means("Squeeze")
def squeeze(x: Tensor, axes: Tensor | None = None) -> Tensor:
    if axes is None:
        return x.squeeze()
    for axis in sorted((a % x.dim() for a in axes.tolist()), reverse=True):
        if x.shape[axis] != 1:
            raise RuntimeError(f"Squeeze: dimension {axis} has {x.shape[axis]} elements, not 1")
        x = x.squeeze(axis)
    return x


@means("Unsqueeze")
def unsqueeze(x: Tensor, axes: Tensor) -> Tensor:
    rank = x.dim() + len(axes)
    for axis in sorted(a % rank for a in axes.tolist()):
        x = x.unsqueeze(axis)
    return x


@means("Concat")
def concat(*given: Tensor, axis: int = 0) -> Tensor:
    return torch.cat(list(given), axis)


@means("Tile")
def tile(x: Tensor, repeats: Tensor) -> Tensor:
    return x.repeat(repeats.tolist())


@means("Split")
def split_up(
    x: Tensor, sizes: Tensor | None = None, axis: int = 0, num_outputs: int | None = None
) -> tuple[Tensor, ...]:
    if sizes is not None:
        return tuple(torch.split(x, sizes.tolist(), axis))
    count = num_outputs or 1
    return tuple(torch.split(x, -(-x.shape[axis] // count), axis))


@means("Slice")
def slice_of(
    x: Tensor, starts: Tensor, ends: Tensor, axes: Tensor | None = None, steps: Tensor | None = None
) -> Tensor:
    firsts, lasts = starts.tolist(), ends.tolist()
    where = list(range(len(firsts))) if axes is None else axes.tolist()
    strides = [1] * len(firsts) if steps is None else steps.tolist()
    for axis, first, last, step in zip(where, firsts, lasts, strides, strict=True):
        size = x.shape[axis]
        places = range(size)[slice(first, last if step > 0 or last >= -size else None, step)]
        if step == 1:
            x = x.narrow(axis, places.start, len(places))
        else:
            x = torch.index_select(x, axis, torch.tensor(list(places), dtype=torch.int64))
    return x


@means("Pad")
def pad(
    x: Tensor,
    pads: Tensor,
    value: Tensor | None = None,
    axes: Tensor | None = None,
    mode: str = "constant",
) -> Tensor:
    given = pads.tolist()
    where = list(range(x.dim())) if axes is None else [a % x.dim() for a in axes.tolist()]
    count = len(where)
    before = dict(zip(where, given[:count], strict=True))
    after = dict(zip(where, given[count:], strict=True))
    for axis in range(x.dim()):
        first, last = before.get(axis, 0), after.get(axis, 0)
        if first < 0 or last < 0:
            x = x.narrow(axis, max(-first, 0), x.shape[axis] + min(first, 0) + min(last, 0))
        first, last = max(first, 0), max(last, 0)
        if first or last:
            x = _padded(x, axis, first, last, mode, value)
    return x


def _padded(x: Tensor, axis: int, first: int, last: int, mode: str, value: Tensor | None) -> Tensor:
    size = x.shape[axis]
    if mode == "constant":
        sizes = list(x.shape)
        filled = 0 if value is None else value.item()
        parts = []
        for count in (first, last):
            sizes[axis] = count
            parts.append(torch.full(sizes, filled, dtype=x.dtype))
        return torch.cat([parts[0], x, parts[1]], axis)
    places = torch.arange(-first, size + last)
    if mode == "edge":
        places = torch.clamp(places, 0, size - 1)
    elif mode == "wrap":
        places = torch.remainder(places, size)
    else:
        places = torch.abs(places)
        places = torch.where(places >= size, 2 * (size - 1) - places, places)
    return torch.index_select(x, axis, places)


@means("Trilu")
def triangle(x: Tensor, k: Tensor | None = None, upper: int = 1) -> Tensor:
    diagonal = 0 if k is None else int(k)
    return torch.triu(x, diagonal) if upper else torch.tril(x, diagonal)


@means("DepthToSpace")
def depth_to_space(x: Tensor, blocksize: int = 1, mode: str = "DCR") -> Tensor:
    if mode == "CRD":
        return torch.pixel_shuffle(x, blocksize)
    n, c, h, w = x.shape
    parts = x.reshape(n, blocksize, blocksize, c // blocksize**2, h, w)
    return parts.permute(0, 3, 4, 1, 5, 2).reshape(n, -1, h * blocksize, w * blocksize)


# --------------------------------------------------------------------------- taking and putting


def _places(indices: Tensor, size: int) -> Tensor:
    """Places counted from the front."""
    return torch.where(indices < 0, indices + size, indices).to(torch.int64)


@means("Gather")
def gather(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    axis %= x.dim()
    found = torch.index_select(x, axis, _places(indices, x.shape[axis]).reshape(-1))
    return found.reshape([*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]])


@means("GatherElements")
def gather_elements(x: Tensor, indices: Tensor, axis: int = 0) -> Tensor:
    return torch.gather(x, axis, _places(indices, x.shape[axis]))


@means("GatherND")
def gather_nd(x: Tensor, indices: Tensor, batch_dims: int = 0) -> Tensor:
    if batch_dims:
        parts = [gather_nd(a, b, batch_dims - 1) for a, b in zip(x, indices, strict=True)]
        return torch.stack(parts)
    return x[tuple(indices[..., n].to(torch.int64) for n in range(indices.shape[-1]))]


_REDUCTIONS: Final = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}


@means("ScatterElements")
def scatter_elements(
    x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    places = _places(indices, x.shape[axis])
    if reduction == "none":
        return torch.scatter(x, axis, places, updates)
    return torch.scatter_reduce(x, axis, places, updates, _REDUCTIONS[reduction])


@means("ScatterND")
def scatter_nd(x: Tensor, indices: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
    depth, made = indices.shape[-1], x.clone()
    flat = indices.reshape(-1, depth).to(torch.int64)
    where = tuple(_places(flat[:, n], x.shape[n]) for n in range(depth))
    new = updates.reshape([flat.shape[0], *x.shape[depth:]])
    if reduction == "none":
        made[where] = new
        return made
    if reduction == "add":
        return made.index_put(where, new, accumulate=True)
    combine = {"mul": torch.mul, "min": torch.minimum, "max": torch.maximum}[reduction]
    for row in range(flat.shape[0]):
        at = tuple(int(each[row]) for each in where)
        made[at] = combine(made[at], new[row])
    return made


@means("Compress")
def compress(x: Tensor, condition: Tensor, axis: int | None = None) -> Tensor:
    source = x.reshape(-1) if axis is None else x
    along = 0 if axis is None else axis
    places = torch.nonzero(condition.reshape(-1)).reshape(-1)
    return torch.index_select(source, along, places)


@means("NonZero")
def non_zero(x: Tensor) -> Tensor:
    return torch.nonzero(x).t()


@means("Unique")
def unique(x: Tensor, axis: int | None = None, sorted: int = 1) -> tuple[Tensor, ...]:
    if axis is not None:
        raise NotImplementedError("Unique along an axis has no meaning here")
    flat = x.reshape(-1)
    values, inverse, counts = torch._unique2(flat, return_inverse=True, return_counts=True)
    order = torch.arange(flat.shape[0])
    first = torch.full_like(values, flat.shape[0], dtype=torch.int64)
    first = torch.scatter_reduce(first, 0, inverse, order, "amin")
    return values, first, inverse, counts


# --------------------------------------------------------------------------- sequences


@means("SequenceEmpty")
def sequence_empty(dtype: int = 1) -> list[Tensor]:
    return []


@means("SequenceConstruct")
def sequence_construct(*given: Tensor) -> list[Tensor]:
    return list(given)


@means("SequenceAt")
def sequence_at(sequence: list[Tensor], place: Tensor) -> Tensor:
    return sequence[int(place)]


@means("SequenceLength")
def sequence_length(sequence: list[Tensor]) -> Tensor:
    return torch.tensor(len(sequence))


@means("SequenceInsert")
def sequence_insert(
    sequence: Sequence[Tensor], each: Tensor, place: Tensor | None = None
) -> list[Tensor]:
    made = list(sequence)
    made.insert(len(made) if place is None else int(place), each)
    return made


@means("SequenceErase")
def sequence_erase(sequence: Sequence[Tensor], place: Tensor | None = None) -> list[Tensor]:
    made = list(sequence)
    del made[-1 if place is None else int(place)]
    return made


@means("ConcatFromSequence")
def concat_from_sequence(sequence: list[Tensor], axis: int = 0, new_axis: int = 0) -> Tensor:
    return torch.stack(sequence, axis) if new_axis else torch.cat(sequence, axis)


@means("SplitToSequence")
def split_to_sequence(
    x: Tensor, sizes: Tensor | None = None, axis: int = 0, keepdims: int = 1
) -> list[Tensor]:
    if sizes is None:
        parts = list(torch.split(x, 1, axis))
        return parts if keepdims else [each.squeeze(axis) for each in parts]
    return list(torch.split(x, sizes.tolist() if sizes.dim() else int(sizes), axis))

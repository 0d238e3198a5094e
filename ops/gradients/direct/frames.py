"""Gradients of frames that hold what lies within: each side is added where it came from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from ...memory.dtype import Array
from ...tensors.tensor import Tensor
from ..table.rows import Formula, Ints, direct
from ..table.rules import are_wide

__all__ = ["MODES", "folded"]

MODES: Final = frozenset({"reflect", "replicate", "circular"})

_SHORTEST: Final = 12
"""Rows within, which NumPy goes through one by one; shorter ones are sooner added by number."""

Frame = Sequence[tuple[int, int, int]]
"""An axis, and how much lies before and behind what is within, for each that has a frame."""


def folded(g: Tensor, pad: Ints, mode: str) -> tuple[Tensor] | None:
    """The gradient of what lies within a frame of one of the `MODES`."""
    array = g._array
    if not are_wide(g) or not array.size or min(pad, default=0) < 0:
        return None
    sides = zip(pad[::2], pad[1::2], strict=True)
    frame = [(array.ndim - 1 - at, before, after) for at, (before, after) in enumerate(sides)]
    within = [array.shape[axis] - before - after for axis, before, after in frame]
    if min(within, default=0) < 1 or within[0] < _SHORTEST:
        return None
    return (Tensor._of(_folded(array, frame, mode)),)


def _folded(array: Array, frame: Frame, mode: str) -> Array:
    """What is within, with the sides of each axis: of the frame of those before it they are freed
    in the same way, of those behind it nothing is left."""
    if not frame:
        return array
    whole = _within(array, frame).copy()
    for at, (axis, before, after) in enumerate(frame):
        part = _within(array, frame[at + 1 :])
        for side, place in _sides(np.moveaxis(part, axis, 0), before, after, mode):
            into = np.moveaxis(whole, axis, 0)[place]
            into += np.moveaxis(_folded(np.moveaxis(side, 0, axis), frame[:at], mode), axis, 0)
    return whole


def _within(array: Array, frame: Frame) -> Array:
    """A view of what is left without the sides of a frame."""
    place = [slice(None)] * array.ndim
    for axis, before, after in frame:
        place[axis] = slice(before, array.shape[axis] - after)
    return array[tuple(place)]


def _sides(part: Array, before: int, after: int, mode: str) -> Iterator[tuple[Array, slice]]:
    """The sides along the first axis, and where they came from."""
    size = len(part) - before - after
    first, last = part[:before], part[before + size :]
    if mode == "replicate":
        places = slice(0, 1), slice(size - 1, size)
    elif mode == "reflect":
        places = slice(1, before + 1), slice(size - 1 - after, size - 1)
    else:
        places = slice(size - before, size), slice(0, after)
    for side, place in zip((first, last), places, strict=True):
        if not len(side):
            continue
        if mode == "replicate":
            side = side.sum(0, keepdims=True)
        yield side[::-1] if mode == "reflect" else side, place


def _of_mode(mode: str) -> Formula:
    def of_frame(g: Tensor, padding: Ints) -> tuple[Tensor] | None:
        """The same for operators of one mode."""
        return folded(g, padding, mode)

    return of_frame


for _count in (1, 2, 3):
    direct(f"aten::reflection_pad{_count}d", of="self")(_of_mode("reflect"))
    direct(f"aten::replication_pad{_count}d", of="self")(_of_mode("replicate"))


@direct("aten::_pad_circular", of="self")
def of_circle(g: Tensor, pad: Ints) -> tuple[Tensor] | None:
    """The same for what goes round."""
    return folded(g, pad, "circular")

"""How the work of convolutions is cut up: the numbers that their kernels are given.

They follow from shapes, strides and settings alone; no sum depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np

from ....memory.dtype import Array
from ..language.target import host
from ..language.text import LANES
from . import descents, planes, strips, sums
from .padded_planes import Pads, padded_lying

__all__ = [
    *("HALVES", "WORDS"),
    *(
        "Sums",
        "Windows",
        "are_descents",
        "are_planes",
        "copy_of",
        "descents_plan",
        "filled_plan",
        "numbers_of",
        "planes_plan",
        "planned",
        "steps_of",
    ),
    *("strips_plan", "sums_plan"),
]

WORDS: Final = "halves", "numbers"
"""How what is multiplied may be short: bfloat16, or float32 that is rounded to that."""
HALVES: Final = "halves", "alone"
"""What arrays of bfloat16 are called: those of which pairs are multiplied, and others."""
_ITEM: Final = 1 << 21
"""Products of numbers in a piece of work."""
_STEP: Final = 8
"""Rows of a strip are a multiple of it."""
_MANY: Final = 512
"""Pixels of a sample from which it is better kept near than the weights of a panel."""
_STRIP: Final = 1 << 14
"""Numbers of a strip, unless a few rows have more."""
_STRIPS: Final = 1 << 17
"""Products of numbers of strips in a piece of work."""
_LYING: Final = 700
"""Numbers of the input that vectors go down beside each other, for each row of a window."""
_NARROW: Final = 8
"""Columns of the output that leave half of a vector's lanes idle."""
_SMALL: Final = 3
"""Rows of windows for which that is not worth it."""
_WIDEST: Final = 1 << 12
"""Numbers of a plane that stays in the nearest cache while its windows are summed."""
_BITS: Final = 1 << 12
"""Vectors of all places of a window, at most, for which it is told what is inside."""
_NEAR: Final = 3 << 16
"""Bytes that windows of an item see which stay near."""
_EVEN: Final = 8
"""Items of a sample with pixels enough, if they are not too small."""
_FARTHEST: Final = 1 << 21
"""Bytes that are worth a copy of each thread's own."""
_KEPT: Final = 700 << 10
"""Bytes of panels that stay near, beside what windows see."""
_SHARES: Final = 16
"""Pieces of work that threads share evenly."""


Sizes = Sequence[int]


def steps_of(shape: Sizes) -> tuple[int, ...]:
    """The strides of float32 in one piece."""
    return tuple(4 * prod(shape[place + 1 :]) for place in range(len(shape)))


def numbers_of(form: ModuleType, sizes: dict[str, int], steps: Sizes, shape: Sizes) -> Array:
    """Sizes as the kernel wants them, and behind them how far in bytes weights' partners lie."""
    places = np.indices(shape, np.int64).reshape(len(shape), -1)
    offsets = (np.array(steps, np.int64)[:, None] * places).sum(0)
    return np.concatenate([np.array([sizes[name] for name in form.SIZES], np.int64), offsets])


class Windows(NamedTuple):
    """A convolution over three dimensions; its channels may be words of two, its `weights` not."""

    shape: tuple[int, ...]
    weight: tuple[int, ...]
    weights: int
    output: tuple[int, ...]
    stride: tuple[int, ...]
    pads: Pads
    dilation: tuple[int, ...]
    groups: int

    def in_pairs(self) -> Windows:
        """The same of words of two channels of the input."""
        words = -(-self.weight[1] // 2)
        shape, weight = (
            (each[0], channels, *each[2:])
            for each, channels in ((self.shape, words * self.groups), (self.weight, words))
        )
        return self._replace(shape=shape, weight=weight)

    def sums(self, steps: Sequence[int]) -> tuple[Sums, list[int]]:
        """What is summed of numbers that lie so many bytes apart, and how far a window's lie."""
        windows: Any = tuple(s * step for s, step in zip(steps, self.stride, strict=True))
        output: Any = self.output
        if windows[:2] == (windows[1] * output[1], windows[2] * output[2]):
            output = 1, 1, prod(output)  # windows follow each other at equal distances
        far = [step * d for step, d in zip(steps, self.dilation, strict=True)]
        channels = self.shape[0], self.groups, self.weight[0] // self.groups
        window = prod(self.weight[2:])
        return Sums(channels, output, windows, self.weights, window), far


def sums_plan(what: Windows, is_padded: bool) -> Array:
    """The numbers of a kernel that reads arrays as they lie, or have been padded."""
    seen, steps = what.shape, steps_of(what.shape)
    if is_padded:
        seen, steps = padded_lying(seen, what.pads)
    sums_of, far = what.sums(steps[2:])
    inside = what.weight[1]
    return planned(sums_of, steps[0], steps[1] * inside, [steps[1], *far], what.weight[1:])


def filled_plan(what: Windows) -> Array | None:
    """The numbers of a kernel whose slots are filled with what windows see; None where it is
    better to read arrays as they lie, or to have them padded before, all at once."""
    size, output, inside = what.weight[2:], what.output, what.weight[1]
    pixels = prod(output)
    is_large = pixels >= _MANY
    if prod(size) == 1 or not (is_large or what.shape[0] == 1):
        return None
    along = next((place for place in range(3) if output[place] > 1), 2)
    reach = [d * (k - 1) + 1 for d, k in zip(what.dilation, size, strict=True)]

    def local(lines: int) -> list[int]:
        count = [lines if place == along else n for place, n in enumerate(output)]
        return [(n - 1) * s + r for n, s, r in zip(count, what.stride, reach, strict=True)]

    lines = output[along]
    if is_large:
        work = pixels * prod(what.weight[1:]) * what.weight[0] // what.groups
        fitting = [n for n in range(1, lines + 1) if 4 * inside * prod(local(n)) <= _NEAR]
        lines = _even_lines(lines, fitting[-1] if fitting else 1, min(_EVEN, work // _ITEM))
    copied = copy_of(what, local(lines))
    if 4 * inside * copied["pitch"] > _FARTHEST:
        return None
    made = copied["rows_made"], copied["columns_made"]
    sums_of, far = what.sums([4 * made[0] * made[1], 4 * made[1], 4])
    on = [lines * s if place == along else 0 for place, s in enumerate(what.stride)]
    more = {"is_filled": 1, **copied, **_named(_DIMENSIONS, "on", on)}
    channel = 4 * prod(what.shape[2:])
    chunk = pixels // output[along] * lines
    return planned(
        *(sums_of, channel * what.shape[1], channel * inside, [4 * copied["pitch"], *far]),
        *(what.weight[1:], (chunk, more)),
    )


def _even_lines(lines: int, most: int, parts: int) -> int:
    """So many lines of an item, `most` if need be, that there are about so many parts: if they can
    be, an even number of them with equally many lines, which threads share best."""
    for count in range(parts, 1, -1):
        if count % 2 == 0 == lines % count and lines // count <= most:
            return lines // count
    few = min(most, -(-lines // max(1, parts)))
    return -(-lines // -(-lines // few))


def copy_of(what: Windows, made: Sequence[int]) -> dict[str, int]:
    """The numbers of a copy of so many planes, rows and columns."""
    pads = (pad[0] for pad in what.pads)
    return {
        "channels": what.weight[1],
        "pitch": (-(-prod(made) // LANES) | 1) * LANES,
        **_named(_DIMENSIONS, "seen", what.shape[2:]),
        **_named(_DIMENSIONS, "made", made),
        **dict(zip(("front", "top", "left"), pads, strict=True)),
    }


_DIMENSIONS: Final = ("planes", "rows", "columns")


def _named(names: Sequence[str], which: str, numbers: Sequence[int]) -> dict[str, int]:
    return {f"{name}_{which}": number for name, number in zip(names, numbers, strict=True)}


class Sums(NamedTuple):
    """What a kernel sums: samples, groups and channels made of each; rows of windows in planes, and
    the steps between them in bytes; weights of a channel, and how many for one of the input."""

    channels: tuple[int, int, int]
    space: tuple[int, int, int]
    windows: tuple[int, int, int]
    weights: int
    window: int


def planned(
    what: Sums,
    sample: int,
    group: int,
    steps: Sequence[int],
    shape: Sequence[int],
    filled: tuple[int, dict[str, int]] | None = None,
) -> Array:
    """The numbers of a kernel for it: steps to the next sample and group, in bytes, and those in a
    window, whose numbers have a shape.

    Where slots are `filled` it is told for how many pixels, and what else the kernel has to know.
    """
    samples, groups, made = what.channels
    pixels, depth = prod(what.space), prod(shape)
    wide = sums.channels_of_panel(host())
    panels = -(-made // wide)
    is_large, is_alone = pixels >= _MANY, samples == 1
    chunk, more = filled or (_plain_chunk(pixels, depth, groups * panels * samples), {})
    chunks = -(-pixels // chunk)
    panel = sums.panel_size(what.weights, host())
    block, is_renewed = 1, 0
    if filled and is_large:
        block = panels if 4 * panels * panel <= _KEPT else 1
    elif chunks == 1 and is_alone:
        panels += panels % 2 if -(-made // LANES) > panels > 1 else 0  # for two threads
        is_renewed = int(depth == what.weights)
    deep = sums.depth_of_piece(depth, host())
    if is_renewed:
        deep = sums.renewed_piece(depth, host())
        panel = sums.panel_size(deep, host())
    room = -(-sums.sums_kept(chunk, host()) // LANES) * LANES if deep < depth else 0
    blocks = -(-panels // block)
    teams = groups * blocks
    sizes = {
        **dict.fromkeys(sums.SIZES, 0),
        "items": samples * chunks * teams,
        "slot": LANES + room + block * panel + more.get("channels", 0) * more.get("pitch", 0),
        **_order(samples, chunks, teams, is_large, filled is not None),
        "blocks": blocks,
        "block": block,
        "panels": panels,
        "made": made,
        "is_kept": int(block > 1),
        "panel": panel,
        "lines": block * panel,
        "room": room,
        "depth": depth,
        "weights": what.weights,
        "window": what.window,
        "deep": deep,
        "is_renewed": is_renewed,
        "pixels": pixels,
        "chunk": chunk,
        **_steps_of_windows(what),
        "x_sample": sample,
        "x_group": group,
        **more,
    }
    return numbers_of(sums, sizes, steps, shape)


def _order(
    samples: int, chunks: int, teams: int, is_large: bool, is_filled: bool
) -> dict[str, int]:
    """How many items there are of each kind, and how far from one to the next: what a thread does
    in turn shares weights if pixels are few, and what was copied if slots are filled."""
    steps = (teams * chunks, 1, chunks) if is_large else (chunks, 1, samples * chunks)
    if is_filled and is_large:
        steps = teams * chunks, teams, 1
    counts = {"samples": samples, "chunks": chunks, "teams": teams}
    return counts | dict(zip(("sample_step", "chunk_step", "team_step"), steps, strict=True))


def _steps_of_windows(what: Sums) -> dict[str, int]:
    """How far windows lie from each other, and from the last of a row or plane to the next one."""
    _, height, width = what.space
    plane, row, column = what.windows
    last_row, last_column = (height - 1) * row, (width - 1) * column
    return {
        "width": width,
        "height": height,
        "next_column": column,
        "next_row": row - last_column,
        "next_plane": plane - last_row - last_column,
        "x_row": row,
        "x_plane": plane,
    }


def _plain_chunk(pixels: int, depth: int, others: int) -> int:
    """Pixels of an item, whole tiles; `others` are the items that all pixels would make."""
    tall = sums.pixels_of_tile(host())
    chunks = -(-pixels // max(tall, _ITEM // (depth * sums.channels_of_panel(host()))))
    if pixels < _MANY and others >= _SHARES:
        chunks = 1  # no two threads turn the weights of a panel around then
    return -(-pixels // (chunks * tall)) * tall


def are_descents(what: Windows) -> bool:
    """Whether windows are those of one plane, of few sizes, and rows fill vectors well enough."""
    (deep, *window), stride, made = what.weight[2:], what.stride[1:], what.output
    is_flat = what.weight[1] == deep == what.shape[2] == made[0] == what.dilation[1] == 1
    is_square = window[0] == window[1] in descents.WINDOWS and stride[0] == stride[1] in (1, 2)
    is_wide = made[2] > _NARROW or stride[0] > 1 or window[0] > _SMALL
    is_near = what.dilation[2] == 1 and what.pads[1][0] < window[0]  # all rows see some
    return bool(host().has_scaling and is_flat and is_square and is_wide and is_near)


def descents_plan(what: Windows) -> Array:
    """The numbers of `convolution_descents`."""
    (samples, _, _, height, width), (channels, _, _, window, _) = what.shape, what.weight
    made_height, made_width = what.output[1:]
    planes, step = samples * channels, what.stride[1]
    block = max(1, _STRIPS // (window * window * made_height * made_width))
    sizes = {
        "items": -(-planes // block),
        "block": block,
        "planes": planes,
        "slot": 0,
        "channels": channels,
        "made": channels // what.shape[1],
        "window": window,
        "step": step,
        "height": height,
        "width": width,
        "made_height": made_height,
        "made_width": made_width,
        "top": what.pads[1][0],
        "left": what.pads[2][0],
        "rows": min(made_height, max(_STEP, _LYING * window // (width * step))),
    }
    return np.array([sizes[name] for name in descents.SIZES], np.int64)


def are_planes(shape: Sizes, weight: Sizes, output: Sizes, stride: Sizes) -> bool:
    """Whether what comes of small planes lies as they do, and each is of one of them."""
    area = prod(output)
    is_same = tuple(shape[2:]) == tuple(output) and all(step == 1 for step in stride)
    small = area <= _WIDEST and prod(weight[2:]) * -(-area // LANES) <= _BITS
    return bool(host().has_scaling and is_same and weight[1] == 1 and small)


def planes_plan(
    shape: Any,
    weight: Sequence[int],
    before: tuple[int, int, int],
    dilation: tuple[int, ...],
    short: str,
) -> Array:
    """The numbers of `convolution_planes`, for so many zeros before the rows and columns."""
    each = 2 if short in HALVES else 4
    width, depth, channels = shape[4], prod(weight[2:]), weight[0]
    ways = zip(weight[3:], dilation[1:], before[1:], strict=True)
    rows, columns = ([i * far - pad for i in range(count)] for count, far, pad in ways)
    window = [(down, across) for down in rows for across in columns]
    area, count = prod(shape[2:]), shape[0] * channels
    vectors = -(-area // LANES)
    block = max(1, _STRIPS // (depth * area))
    sizes = {
        "items": -(-count // block),
        "block": block,
        "planes": count,
        "slot": LANES,
        "area": area,
        "vectors": vectors,
        "depth": depth,
        "channels": channels,
        "made": channels // shape[1],
    }
    offsets = [each * (down * width + across) for down, across in window]
    bits = planes.seen_bits(shape[3:], window).reshape(-1)
    filled = np.zeros(-(-bits.size // 4) * 4, np.uint16)
    filled[: bits.size] = bits
    numbers = [sizes[name] for name in planes.SIZES] + offsets
    return np.concatenate([np.array(numbers, np.int64), filled.view(np.int64)])


def strips_plan(
    x: Sizes,
    weight: Sizes,
    output: Sizes,
    stride: Sizes,
    before: tuple[int, int, int],
    dilation: Sizes,
    groups: int,
) -> Array:
    inside, depth, made = weight[1], prod(weight[1:]), weight[0] // groups
    down, across = stride[1:]
    reach = [d * (k - 1) for d, k in zip(dilation[1:], weight[3:], strict=True)]
    pitch = -(-(output[2] + reach[1] // across) // LANES) * LANES
    line = inside * weight[2] * across * pitch
    rows = max(1, (_STRIP // line - reach[0] - 1) // (down * _STEP)) * _STEP
    rows = min(rows, output[1])
    seen = (rows - 1) * down + reach[0] + 1
    chunks = -(-output[1] // rows)
    count = x[0] * groups * chunks * output[0]
    block = max(1, _STRIPS // (depth * made * rows * output[2]))
    sizes = {
        "items": -(-count // block),
        "block": block,
        "strips": count,
        "chunks": chunks,
        "rows": rows,
        "groups": groups,
        "inside": inside,
        "made": made,
        "depth": depth,
        "slot": LANES + strips.BESIDE * (seen * line + strips.SLACK),
        "room": seen * line + strips.SLACK,
        "height": x[3],
        "width": x[4],
        "down": down,
        "across": across,
        "top": before[1],
        "left": before[2],
        "made_height": output[1],
        "made_width": output[2],
        "seen": seen,
        "pitch": pitch,
        "planes": x[2],
        "deep": stride[0],
        "apart": dilation[0],
        "front": before[0],
        "levels": weight[2],
        "made_planes": output[0],
    }
    # the columns of a window lie in rows by their place in a stride
    places = np.arange(weight[4]) * dilation[2]
    columns = (places % across) * pitch + places // across
    rows_of = np.arange(weight[3])[:, None] * (dilation[1] * across * pitch)
    channels = np.arange(inside * weight[2])[:, None, None] * (seen * across * pitch)
    offsets = (channels + rows_of + columns).reshape(-1) * 4
    return np.concatenate([np.array([sizes[name] for name in strips.SIZES]), offsets])

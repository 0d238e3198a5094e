"""Convolutions of float32 over up to three dimensions.

`convolution_sums` does most of them; `convolution_strips` those over planes whose groups make too
few channels to fill a vector; `convolution_points` those of windows of one number that lie side by
side.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ...memory.remembered import remembered
from ..precision import PRECISION
from ..threads import get_threads
from . import convolution_points as points
from . import convolution_strips as strips
from . import convolution_sums as sums
from . import pairs
from .convolution_frame import PLAIN, After
from .loops import shown
from .objects import is_kept, kernel
from .padded_planes import padded_lying, padded_planes
from .run import run
from .target import host
from .text import LANES

__all__ = [
    *("UNFIT", "Convolution", "Settled", "Sums"),
    *("in_pairs", "planned", "settled", "steps_of", "takes_pairs"),
]

F: Final = np.float32
_ITEM: Final = 1 << 21
"""Products of numbers in a piece of work."""
_STEP: Final = 8
"""Rows of a strip are a multiple of it."""
_MANY: Final = 512
"""Pixels of a sample from which it is better kept near than the weights of a panel."""
_COLUMNS: Final = (4, 8)
"""Bytes between windows that have kernels of their own: most are neighbours, or step over one."""
_STRIP: Final = 1 << 14
"""Numbers of a strip, unless a few rows have more."""
_POINTS: Final = 32
"""Pixels of a sample from which they fill vectors well enough."""
_NEAR: Final = 3 << 16
"""Bytes that windows of an item see which stay near."""
_EVEN: Final = 8
"""Items of a sample with pixels enough, if they are not too small."""
_FARTHEST: Final = 1 << 21
"""Bytes that are worth a copy of each thread's own."""
_KEPT: Final = 600 << 10
"""Bytes of panels that stay near, beside what windows see."""
_LEAST: Final = 1 << 18
"""Products of numbers that are worth taking from a thread that has others to do."""
_SHARES: Final = 16
"""Pieces of work that threads share evenly."""
_BLOCK: Final = 96
"""Channels that are worth packing pixels for once more."""
_ROWS: Final = 24
"""Channels of pieces are a multiple of it, so that they are whole tiles."""
_FEW: Final = 8
"""With fewer channels a group, strips are quicker."""


class Settled(NamedTuple):
    """What is known of a convolution by the shapes and settings alone; the kernel's numbers hold
    the sizes and, from `begun` on, the offsets."""

    form: Any
    numbers: Any
    begun: int
    items: int
    slot: int
    padded: tuple[Any, Any] | None
    made: tuple[int, ...]
    no_bias: Any

    @property
    def nbytes(self) -> int:
        return int(self.numbers.nbytes + self.no_bias.nbytes)

    @property
    def column(self) -> int:
        """The bytes to the next window in a row, if the kernel is one for so many; else 0."""
        if self.form is not sums:
            return 0
        far = int(self.numbers[sums.SIZES.index("next_column")])
        return far if far in _COLUMNS else 0

    @staticmethod
    def by(form: Any, numbers: Any, padded: Any, made: tuple[int, ...], channels: int) -> Settled:
        """One of so many channels whose kernel is given these numbers, which nobody writes to."""
        numbers.setflags(write=False)
        no_bias = np.zeros(channels, F)
        no_bias.setflags(write=False)
        slot = int(numbers[form.SIZES.index("slot")])
        return Settled(form, numbers, len(form.SIZES), int(numbers[0]), slot, padded, made, no_bias)


UNFIT: Final = Settled(sums, np.zeros(0), 0, 0, 0, None, (), np.zeros(0))
"""What does not fit together."""


@remembered(12 << 20)
def settled(
    shape: Any,
    weight: Any,
    output: Any,
    stride: Any,
    pads: Any,
    dilation: Any,
    groups: int,
    in_pairs: bool = False,
) -> Settled:
    """The convolution of arrays of these shapes, of (batch, channels) and one to three dimensions.

    `output` are the sizes of the result.  What does not fit together is settled without `items`.
    The channels of the shape may be words of two, `in_pairs`; those of the weight are none.
    """
    more = 5 - len(shape)
    weights, made = prod(weight[1:]), weight[0]
    if in_pairs:
        weight = made, -(-weight[1] // 2), *weight[2:]
    # what nothing depends on may be larger than any memory
    stride = [step if count > 1 else 1 for step, count in zip(stride, output, strict=True)]
    dilation = [d if k > 1 else 1 for d, k in zip(dilation, weight[2:], strict=True)]
    stride, dilation, space = ((1,) * more + tuple(each) for each in (stride, dilation, output))
    shape, weight = ((*each[:2], *(1,) * more, *each[2:]) for each in (shape, weight))
    pads = ((0, 0),) * more + tuple(pads)
    padded = None
    form: Any = sums
    reach = [
        (o - 1) * s + d * (k - 1)
        for o, s, d, k in zip(space, stride, dilation, weight[2:], strict=True)
    ]
    fits = all(r < n + sum(p) for r, n, p in zip(reach, shape[2:], pads, strict=True))
    if not fits or shape[1] != weight[1] * groups or weight[0] % groups:
        return UNFIT
    if weight[0] // groups < _FEW and shape[2] == space[0] == weight[2] == 1:
        before = pads[1][0], pads[2][0]
        form, numbers = strips, _strips_plan(shape, weight, space, stride, before, dilation, groups)
    else:
        if any(map(any, pads)):
            padded = shape[2:], pads
        if not (in_pairs or padded) and _are_points(shape, weight, space):
            form, numbers = points, _points_plan(shape, weight, groups)
        else:
            what = _Windows(shape, weight, weights, space, stride, pads, dilation, groups)
            numbers = None if in_pairs and weight[1] > 1 << 12 else _filled_plan(what)
            if numbers is not None:
                padded = None
            else:
                numbers = _sums_plan(what, bool(padded))
    return Settled.by(form, numbers, padded, (shape[0], weight[0], *output), weight[0])


def steps_of(shape: Any) -> tuple[int, ...]:
    """The strides of float32 in one piece."""
    return tuple(4 * prod(shape[place + 1 :]) for place in range(len(shape)))


def takes_pairs(x: Any, weight: Any, groups: int) -> bool:
    """Whether arrays fit, have channels enough for `in_pairs`, and are or may be bfloat16."""
    if x.itemsize == 4 and not (PRECISION.convolutions_may_be_short and host().has_pairs):
        return False
    made, inside = weight.shape[:2]
    fits = inside * groups == x.shape[1] and not made % groups
    return fits and bool(min(inside, made // groups) >= _FEW)


def in_pairs(x: Any, groups: int) -> Any:
    """float32 or bfloat16 as words of two channels, for a `Convolution` of pairs."""
    batch, channels, *space = x.shape
    planes = pairs.across(x.reshape(batch * groups, channels // groups, prod(space)))
    return planes.reshape(batch, groups * planes.shape[1], *space)


class Convolution:
    """A convolution that can be computed: `fill` writes it to `out`."""

    __slots__ = ("_column", "_given", "_pairs", "out", "settled")

    def __init__(
        self, settled: Settled, x: Any, weight: Any, bias: Any, *, of_pairs: bool = False
    ) -> None:
        """The arrays are in one piece, of the shapes that it was settled for, and no other thread
        can change them; without a bias it is None.  Where it is one `of_pairs` x is what `in_pairs`
        gives, and the weight is float32 or bfloat16.

        Raises:
            ValueError: the bias has another shape.
        """
        if bias is None:
            bias = settled.no_bias
        elif bias.shape != settled.no_bias.shape:
            raise ValueError("the bias does not fit the channels")
        self.out = np.empty(settled.made, F)
        self.settled, self._given = settled, (x, weight, bias)
        self._column = settled.column
        self._pairs = ("halves" if weight.itemsize == 2 else "numbers") if of_pairs else ""

    def is_at_hand(self, after: After, operands: Any) -> bool:
        """Whether the kernel with something after the sums need not be compiled."""
        return is_kept(self.settled.form.NAME, self._parameters(after))

    def prepare(self, after: After, operands: Any) -> None:
        """Compile that kernel if need be.

        Raises:
            OSError, RuntimeError: it cannot be.
        """
        self._kernel(after)

    def _kernel(self, after: After) -> int:
        form = self.settled.form
        which = form.NAME, self._pairs, self._column, id(after)
        known = _KERNELS.get(which)
        if known is not None:
            return known[1]
        more: Any = (self._pairs, self._column) if form is sums else ()
        parameters = self._parameters(after)
        found = kernel(form.NAME, parameters, lambda target: form.text(target, after, *more))
        if len(_KERNELS) >= _MOST_KERNELS:
            _KERNELS.clear()
        _KERNELS[which] = after, found
        return found

    def _parameters(self, after: After) -> tuple[str | int, ...]:
        shape = (shown(after.expression), after.places) if after.expression.steps else ()
        return (self._pairs, self._column, *shape)

    def fill(self, after: After = PLAIN, operands: Any = ()) -> None:
        """Compute: threads take items of the work, each with a slot of memory."""
        _, numbers, begun, items, slot, padded, _, _ = self.settled
        x, *others = self._given
        if padded is not None:
            x = padded_planes(x, *padded)
        slots = min(items, get_threads())
        memory = np.empty(slots * slot, F)
        least = 2 if slots == 1 else 1
        turn, offsets, out = np.zeros(1, np.uint64), numbers[begun:], self.out[...]
        words = turn, numbers, offsets, x, *others, out, memory, *operands
        run(self._kernel(after), slots, least, *words)


_KERNELS: Final[dict[tuple[str, str, int, int], tuple[After, int]]] = {}
"""Addresses by the identity of what comes after the sums, which lives as long as it is known."""

_MOST_KERNELS: Final = 500


def _numbers(form: Any, sizes: dict[str, int], steps: Any, shape: Any) -> Any:
    """Sizes as the kernel wants them, and behind them how far in bytes weights' partners lie."""
    places = np.indices(shape, np.int64).reshape(len(shape), -1)
    offsets = (np.array(steps, np.int64)[:, None] * places).sum(0)
    return np.concatenate([np.array([sizes[name] for name in form.SIZES], np.int64), offsets])


class _Windows(NamedTuple):
    """A convolution over three dimensions; its channels may be words of two, its `weights` are not."""

    shape: tuple[int, ...]
    weight: tuple[int, ...]
    weights: int
    output: tuple[int, ...]
    stride: tuple[int, ...]
    pads: Any
    dilation: tuple[int, ...]
    groups: int

    def sums(self, steps: Sequence[int]) -> tuple[Sums, list[int]]:
        """What is summed of numbers that lie so many bytes apart, and how far a window's lie."""
        windows: Any = tuple(s * step for s, step in zip(steps, self.stride, strict=True))
        output = self.output
        if windows[:2] == (windows[1] * output[1], windows[2] * output[2]):
            output = 1, 1, prod(output)  # windows follow each other at equal distances
        far = [step * d for step, d in zip(steps, self.dilation, strict=True)]
        channels = self.shape[0], self.groups, self.weight[0] // self.groups
        window = prod(self.weight[2:])
        return Sums(channels, output, windows, self.weights, window), far


def _sums_plan(what: _Windows, is_padded: bool) -> Any:
    """The numbers of a kernel that reads arrays as they lie, or have been padded."""
    seen, steps = what.shape, steps_of(what.shape)
    if is_padded:
        seen, steps = padded_lying(seen, what.pads)
    sums_of, far = what.sums(steps[2:])
    inside = what.weight[1]
    return planned(sums_of, steps[0], steps[1] * inside, [steps[1], *far], what.weight[1:])


def _filled_plan(what: _Windows) -> Any:
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
        few = min(fitting[-1] if fitting else 1, -(-lines // max(1, min(_EVEN, work // _ITEM))))
        lines = -(-lines // -(-lines // few))
    made = local(lines)
    pitch = (-(-prod(made) // LANES) | 1) * LANES
    if 4 * inside * pitch > _FARTHEST:
        return None
    steps = [4 * made[1] * made[2], 4 * made[2], 4]
    sums_of, far = what.sums(steps)
    on = [lines * s if place == along else 0 for place, s in enumerate(what.stride)]
    more = {
        "is_filled": 1,
        "channels": inside,
        "pitch": pitch,
        **_named(("planes", "rows", "columns"), "seen", what.shape[2:]),
        **_named(("planes", "rows", "columns"), "made", made),
        **_named(("planes", "rows", "columns"), "on", on),
        **dict(zip(("front", "top", "left"), (pad[0] for pad in what.pads), strict=True)),
    }
    channel = 4 * prod(what.shape[2:])
    chunk = pixels // output[along] * lines
    return planned(
        *(sums_of, channel * what.shape[1], channel * inside, [4 * pitch, *far]),
        *(what.weight[1:], (chunk, more)),
    )


def _named(names: Sequence[str], which: str, numbers: Sequence[int]) -> dict[str, int]:
    return {f"{name}_{which}": number for name, number in zip(names, numbers, strict=True)}


def _are_points(shape: Any, weight: Any, output: Any) -> bool:
    """Whether windows are single numbers, each in its place, and so many that they fill vectors."""
    is_one = prod(weight[2:]) == 1 and shape[2:] == tuple(output)
    return bool(is_one and prod(output) >= _POINTS)


def _points_plan(shape: Any, weight: Any, groups: int) -> Any:
    """The numbers of `convolution_points` for arrays in one piece."""
    made, depth, pixels = weight[0] // groups, weight[1], prod(shape[2:])
    wide = points.pixels_of_tile(host())
    most = max(1, pixels * depth * made // _LEAST)
    chunks = min(most, -(-pixels // points.WIDE))
    count = shape[0] * groups * chunks
    blocks = min(most // chunks, -(-_SHARES // count), -(-made // _BLOCK))
    block = -(-made // max(1, blocks))
    block = -(-block // _ROWS) * _ROWS
    blocks = -(-made // block)
    deep = points.depth_of_piece(depth)
    sizes = {
        "items": count * blocks,
        "chunks": chunks,
        "tiles": -(-pixels // wide),
        "blocks": blocks,
        "block": block,
        "groups": groups,
        "made": made,
        "depth": depth,
        "deep": deep,
        "pieces": -(-depth // deep),
        "slot": LANES + points.slot_size(deep),
        "pixels": pixels,
        "x_plane": 4 * pixels,
        "x_sample": 4 * pixels * shape[1],
        "x_group": 4 * pixels * depth,
    }
    return np.array([sizes[name] for name in points.SIZES], np.int64)


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
) -> Any:
    """The numbers of a kernel for it: steps to the next sample and group, in bytes, and those in a
    window, whose numbers have a shape.

    Where slots are `filled` it is told for how many pixels, and what else the kernel has to know.
    """
    samples, groups, made = what.channels
    pixels, depth = prod(what.space), prod(shape)
    wide = sums.channels_of_panel(host())
    panels = -(-made // wide)
    is_large, is_alone = pixels >= _MANY, samples == 1
    if filled:
        chunk, more = filled
    else:
        chunk, more = _plain_chunk(pixels, depth, groups * panels * samples), {}
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
    if filled and is_large:
        order = teams * chunks, teams, 1
    else:
        order = (teams * chunks, 1, chunks) if is_large else (chunks, 1, samples * chunks)
    plane, row, column = what.windows
    last_row, last_column = (what.space[1] - 1) * row, (what.space[2] - 1) * column
    sizes = {
        **dict.fromkeys(sums.SIZES, 0),
        "items": samples * chunks * teams,
        "slot": LANES + room + block * panel + more.get("channels", 0) * more.get("pitch", 0),
        **dict(zip(("sample_step", "chunk_step", "team_step"), order, strict=True)),
        "samples": samples,
        "chunks": chunks,
        "teams": teams,
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
        "width": what.space[2],
        "height": what.space[1],
        "next_column": column,
        "next_row": row - last_column,
        "next_plane": plane - last_row - last_column,
        "x_row": row,
        "x_plane": plane,
        "x_sample": sample,
        "x_group": group,
        **more,
    }
    return _numbers(sums, sizes, steps, shape)


def _plain_chunk(pixels: int, depth: int, others: int) -> int:
    """Pixels of an item, whole tiles; `others` are the items that all pixels would make."""
    tall = sums.pixels_of_tile(host())
    chunks = -(-pixels // max(tall, _ITEM // (depth * sums.channels_of_panel(host()))))
    if pixels < _MANY and others >= _SHARES:
        chunks = 1  # no two threads turn the weights of a panel around then
    return -(-pixels // (chunks * tall)) * tall


def _strips_plan(
    x: Any, weight: Any, output: Any, stride: Any, before: Any, dilation: Any, groups: int
) -> Any:
    inside, depth, made = weight[1], prod(weight[1:]), weight[0] // groups
    down, across = stride[1:]
    reach = [d * (k - 1) for d, k in zip(dilation[1:], weight[3:], strict=True)]
    pitch = -(-(output[2] + reach[1] // across) // LANES) * LANES
    line = inside * across * pitch
    rows = max(1, (_STRIP // line - reach[0] - 1) // (down * _STEP)) * _STEP
    rows = min(rows, output[1])
    seen = (rows - 1) * down + reach[0] + 1
    chunks = -(-output[1] // rows)
    count = x[0] * groups * chunks
    block = max(1, _ITEM // 4 // (depth * made * rows * output[2]))
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
        "top": before[0],
        "left": before[1],
        "made_height": output[1],
        "made_width": output[2],
        "seen": seen,
        "pitch": pitch,
    }
    # the columns of a window lie in rows by their place in a stride
    places = np.arange(weight[4]) * dilation[2]
    columns = (places % across) * pitch + places // across
    rows_of = np.arange(weight[3])[:, None] * (dilation[1] * across * pitch)
    channels = np.arange(inside)[:, None, None] * (seen * across * pitch)
    offsets = (channels + rows_of + columns).reshape(-1) * 4
    return np.concatenate([np.array([sizes[name] for name in strips.SIZES]), offsets])

"""Convolutions of float32 over up to three dimensions.

`convolution_sums` does most of them; `convolution_strips` those over planes whose groups make too
few channels to fill a vector.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from ...memory.remembered import remembered
from ..threads import get_threads
from . import convolution_strips as strips
from . import convolution_sums as sums
from .padded_planes import padded_planes
from .run import run
from .target import host

__all__ = ["convolve"]

F: Final = np.float32
_ITEM: Final = 1 << 21
"""Products of numbers in a piece of work."""
_STEP: Final = 8
"""Pixels of a piece of work are a multiple of it, and rows of a strip."""
_STRIP: Final = 1 << 14
"""Numbers of a strip, unless a few rows have more."""
_FEW: Final = 8
"""With fewer channels a group, strips are quicker."""


def convolve(
    x: Any, weight: Any, bias: Any, output: Any, stride: Any, pads: Any, dilation: Any, groups: int
) -> Any:
    """The convolution of (batch, channels, depth, height, width); None if it is not to be had so.

    The input lies in one piece, and `output` are the sizes of the result.
    """
    x, weight, bias = x[...], weight[...], None if bias is None else bias[...]  # ours alone
    made = weight.shape[0]
    if x.shape[1] != weight.shape[1] * groups or made % groups:
        return None
    if bias is not None and bias.shape != (made,):
        return None
    weight = np.ascontiguousarray(weight)
    terms = np.zeros(made, F) if bias is None else np.ascontiguousarray(bias)
    out = np.empty((x.shape[0], made, *output), F)
    if made // groups < _FEW and x.shape[2] == output[0] == weight.shape[2] == 1:
        before = pads[1][0], pads[2][0]
        plan = _strips_plan(
            *(x.shape, weight.shape, tuple(output), tuple(stride)),
            *(before, tuple(dilation), groups),
        )
        _share(strips, strips.strips_kernel(), plan, x, weight, terms, out)
        return out
    if any(map(any, pads)):
        x = padded_planes(x, pads)
    plan = _sums_plan(
        *(x.shape, x.strides, weight.shape, tuple(output)),
        *(tuple(stride), tuple(dilation), groups),
    )
    _share(sums, sums.sums_kernel(), plan, x, weight, terms, out)
    return out


def _share(form: Any, kernel: int, plan: Any, *arrays: Any) -> None:
    """Run a kernel by a plan: threads take items of the work, each with a slot of memory."""
    count = len(form.SIZES)
    slots = min(int(plan[0]), get_threads())
    memory = np.empty(slots * int(plan[form.SIZES.index("slot")]), F)
    least = 2 if slots == 1 else 1
    run(kernel, slots, least, np.zeros(1, np.int64), plan, plan[count:], *arrays, memory)


def _numbers(form: Any, sizes: dict[str, int], steps: Any, shape: Any) -> Any:
    """Sizes as the kernel wants them, and behind them how far in bytes weights' partners lie."""
    places = np.indices(shape, np.int64).reshape(len(shape), -1)
    offsets = (np.array(steps, np.int64)[:, None] * places).sum(0)
    return np.concatenate([np.array([sizes[name] for name in form.SIZES], np.int64), offsets])


@remembered(8 << 20)
def _sums_plan(
    seen: Any, steps: Any, weight: Any, output: Any, stride: Any, dilation: Any, groups: int
) -> Any:
    made, pixels, depth = weight[0] // groups, prod(output), prod(weight[1:])
    wide = sums.channels_of_panel(host())
    panels = -(-made // wide)
    chunks = -(-pixels // max(_STEP, _ITEM // (depth * wide)))
    chunk = -(-pixels // (chunks * _STEP)) * _STEP
    chunks = -(-pixels // chunk)
    plane, row, column = (s * step for s, step in zip(steps[2:], stride, strict=True))
    if (plane, row) == (row * output[1], column * output[2]):
        output = 1, 1, pixels  # windows follow each other at equal distances
    last_row, last_column = (output[1] - 1) * row, (output[2] - 1) * column
    sizes = {
        "items": groups * panels * seen[0] * chunks,
        "chunks": chunks,
        "chunk": chunk,
        "samples": seen[0],
        "panels": panels,
        "made": made,
        "depth": depth,
        "slot": sums.slot_size(depth, host()),
        "pixels": pixels,
        "width": output[2],
        "height": output[1],
        "next_column": column,
        "next_row": row - last_column,
        "next_plane": plane - last_row - last_column,
        "x_row": row,
        "x_plane": plane,
        "x_sample": steps[0],
        "x_group": steps[1] * weight[1],
    }
    far = [step * d for step, d in zip(steps[2:], dilation, strict=True)]
    return _numbers(sums, sizes, [steps[1], *far], weight[1:])


@remembered(4 << 20)
def _strips_plan(
    x: Any, weight: Any, output: Any, stride: Any, before: Any, dilation: Any, groups: int
) -> Any:
    inside, depth, made = weight[1], prod(weight[1:]), weight[0] // groups
    down, across = stride[1:]
    reach = [d * (k - 1) for d, k in zip(dilation[1:], weight[3:], strict=True)]
    pitch = output[2] + reach[1] // across
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
        "slot": seen * line + strips.SLACK,
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

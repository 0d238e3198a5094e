"""Convolutions of float32 over two dimensions, of any stride, dilation and number of groups.

The input is copied into padded planes, one for each phase of the strides; there all windows move by
one element a step, and an output row is a run of neighbouring columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...memory.remembered import remembered
from ..threads import get_threads, share
from .compile import compiled, inlined
from .copies import copy_even_8, copy_run
from .tiles import LANES, TALL, WIDE, tiles

__all__ = ["convolve"]

F = np.float32
_SPAN = LANES * WIDE
_CHUNK = 1024
_ONE = 1 << 16
_T = tiles()
_T83, _T82, _T81 = _T[8, 3], _T[8, 2], _T[8, 1]
_T43, _T42, _T41 = _T[4, 3], _T[4, 2], _T[4, 1]
_T13, _T12, _T11 = _T[1, 3], _T[1, 2], _T[1, 1]
_LONG = 8
_T18 = _T[1, _LONG]


@inlined
def _tile8(vectors: int, w: int, ws: int, k: int, x: int, o: int, b: int, c: int, cs: int) -> None:
    if vectors == 3:
        _T83(w, ws, k, x, o, b, c, cs)
    elif vectors == 2:
        _T82(w, ws, k, x, o, b, c, cs)
    else:
        _T81(w, ws, k, x, o, b, c, cs)


@inlined
def _tile4(vectors: int, w: int, ws: int, k: int, x: int, o: int, b: int, c: int, cs: int) -> None:
    if vectors == 3:
        _T43(w, ws, k, x, o, b, c, cs)
    elif vectors == 2:
        _T42(w, ws, k, x, o, b, c, cs)
    else:
        _T41(w, ws, k, x, o, b, c, cs)


@inlined
def _tile1(vectors: int, w: int, ws: int, k: int, x: int, o: int, b: int, c: int, cs: int) -> None:
    if vectors == _LONG:
        _T18(w, ws, k, x, o, b, c, cs)
    elif vectors == 3:
        _T13(w, ws, k, x, o, b, c, cs)
    elif vectors == 2:
        _T12(w, ws, k, x, o, b, c, cs)
    else:
        _T11(w, ws, k, x, o, b, c, cs)


@inlined
def _columns(
    first: int, last: int, rows: int, w: int, k: int, x: int, o: int, b: int, c: int, cs: int
) -> None:
    """The sums of some columns for some rows of weights; `c` is where column 0 goes."""
    column = first
    while column < last:
        vectors = (last - column + LANES - 1) // LANES
        vectors = _LONG if rows == 1 and vectors >= _LONG else min(vectors, WIDE)
        # the last tile starts early rather than read past the end
        place = max(min(column, last - vectors * LANES), 0)
        m = 0
        while m < rows:
            here, to = w + m * k * 4, c + m * cs + place * 4
            if TALL == 8 and m + 8 <= rows:
                _tile8(vectors, here, k * 4, k, x + place * 4, o, b + m * 4, to, cs)
                m += 8
            elif m + 4 <= rows:
                _tile4(vectors, here, k * 4, k, x + place * 4, o, b + m * 4, to, cs)
                m += 4
            else:
                _tile1(vectors, here, k * 4, k, x + place * 4, o, b + m * 4, to, cs)
                m += 1
        column += vectors * LANES


@inlined
def _block(
    n: int,
    top: int,
    bottom: int,
    low: int,
    high: int,
    planes: Any,
    weight: Any,
    bias: Any,
    offsets: Any,
    groups: int,
    plane: int,
    width: int,
    out: Any,
    scratch: Any,
) -> None:
    """Output rows `top` to `bottom` of channels `low` to `high` of sample n."""
    k = offsets.size
    each = out.shape[1] // groups
    inside = weight.shape[1]
    first, last = top * width, (bottom - 1) * width + out.shape[3]
    span = scratch.shape[1]
    m = low
    while m < high:
        group = m // each
        rows = min(high, (group + 1) * each, m + scratch.shape[0]) - m
        x = planes[n].ctypes.data + group * inside * plane * 4
        start = scratch.ctypes.data + (_SPAN - first) * 4
        _columns(
            first,
            last,
            rows,
            weight.ctypes.data + m * k * 4,
            k,
            x,
            offsets.ctypes.data,
            bias.ctypes.data + m * 4,
            start,
            span * 4,
        )
        for r in range(rows):
            for h in range(top, bottom):
                made = scratch.ctypes.data + (r * span + _SPAN + h * width - first) * 4
                copy_run(out[n, m + r, h].ctypes.data, made, out.shape[3])
        m += rows


@compiled
def _by_rows(
    start: int,
    stop: int,
    planes: Any,
    weight: Any,
    bias: Any,
    offsets: Any,
    groups: int,
    plane: int,
    width: int,
    out: Any,
) -> None:
    """Rows of the output, counted over all samples."""
    height, channels = out.shape[2], out.shape[1]
    chunk = max(1, min(height, _CHUNK // width))
    scratch = np.empty((min(channels, 128), chunk * width + 3 * _SPAN), F)
    at = start
    while at < stop:
        n, top = at // height, at % height
        bottom = min(height, top + chunk, top + stop - at)
        _block(
            n,
            top,
            bottom,
            0,
            channels,
            planes,
            weight,
            bias,
            offsets,
            groups,
            plane,
            width,
            out,
            scratch,
        )
        at += bottom - top


@compiled
def _by_channels(
    start: int,
    stop: int,
    planes: Any,
    weight: Any,
    bias: Any,
    offsets: Any,
    groups: int,
    plane: int,
    width: int,
    out: Any,
) -> None:
    """Channels of the output, in all samples."""
    height = out.shape[2]
    chunk = max(1, min(height, _CHUNK // width))
    scratch = np.empty((min(stop - start, 128), chunk * width + 3 * _SPAN), F)
    for n in range(out.shape[0]):
        for top in range(0, height, chunk):
            bottom = min(height, top + chunk)
            _block(
                n,
                top,
                bottom,
                start,
                stop,
                planes,
                weight,
                bias,
                offsets,
                groups,
                plane,
                width,
                out,
                scratch,
            )


@inlined
def _take(seen: Any, step: int, row: Any) -> None:
    """Every step-th number; two is written out to be fast."""
    if step == 2:
        done = max(0, (row.size - 1) // 8)  # the last eight would read past the end
        for i in range(done):
            copy_even_8(row.ctypes.data + i * 32, seen.ctypes.data + i * 64)
        for i in range(done * 8, row.size):
            row[i] = seen[2 * i]
    else:
        for i in range(row.size):
            row[i] = seen[step * i]


@compiled
def _fill(
    start: int, stop: int, x: Any, planes: Any, up: int, left: int, down: int, across: int
) -> None:
    """Copy planes of the input, counted over all samples, into its phases."""
    channels, phases = x.shape[1], down * across
    height, width = planes.shape[3], planes.shape[4]
    for at in range(start, stop):
        n, c = at // channels, at % channels
        source = x[n, c]
        for p in range(phases):
            target = planes[n, p, c].reshape(-1)
            shift = p % across - left
            begin = min(width, max(0, (-shift + across - 1) // across))
            end = max(begin, min(width, (source.shape[1] - shift + across - 1) // across))
            for i in range(target.size):
                target[i] = F(0)
            first = p // across - up
            for h in range(max(0, (-first + down - 1) // down), height):
                y = h * down + first
                if y >= source.shape[0]:
                    break
                if across == 1:
                    place = target.ctypes.data + (h * width + begin) * 4
                    copy_run(place, source[y].ctypes.data + (begin + shift) * 4, end - begin)
                else:
                    row = target[h * width + begin : h * width + end]
                    _take(source[y, begin * across + shift :], across, row)


def _planes(x: Any, space: tuple[int, int], pads: Any, stride: Any) -> tuple[Any, int, int]:
    """The phases of the padded input, and height and width of one."""
    down, across = stride
    height, width = -(-space[0] // down), -(-space[1] // across)
    phases = down * across
    count = x.shape[0] * phases * x.shape[1] * height * width
    flat = np.empty(count + 2 * _SPAN, F)
    flat[count:] = 0
    planes = flat[:count].reshape(x.shape[0], phases, x.shape[1], height, width)
    share(
        _fill,
        x.shape[0] * x.shape[1],
        max(1, _ONE // (height * width * phases)),
        x,
        planes,
        pads[0][0],
        pads[1][0],
        down,
        across,
    )
    return planes, height, width


@remembered(8 << 20)
def _offsets(
    inside: int, channels: int, kernel: Any, stride: Any, dilation: Any, height: int, width: int
) -> Any:
    """How far in bytes from a window's first element each of its others lies.

    Remembered: do not write to it.
    """
    c = np.arange(inside)[:, None, None]
    h = (np.arange(kernel[0]) * dilation[0])[None, :, None]
    w = (np.arange(kernel[1]) * dilation[1])[None, None, :]
    phase = (h % stride[0]) * stride[1] + w % stride[1]
    place = ((phase * channels + c) * height + h // stride[0]) * width + w // stride[1]
    return (place * 4).astype(np.int64).reshape(-1)


def convolve(
    x: Any, weight: Any, bias: Any, output: Any, stride: Any, pads: Any, dilation: Any, groups: int
) -> Any:
    """The convolution of (batch, channels, height, width); None if this way is not a good one."""
    x, weight, bias = x[...], weight[...], None if bias is None else bias[...]  # ours alone
    kernel, made = weight.shape[2:], weight.shape[0]
    if x.shape[1] != weight.shape[1] * groups or made % groups:
        return None
    if bias is not None and bias.shape != (made,):
        return None
    space = tuple(
        max(s + sum(p), (o - 1) * t + d * (k - 1) + 1)
        for s, p, o, t, d, k in zip(
            x.shape[2:], pads, output, stride, dilation, kernel, strict=True
        )
    )
    if output[1] * 2 < -(-space[1] // stride[1]):
        return None
    plain = tuple(stride) == (1, 1) and space == tuple(x.shape[2:])
    if plain and (output[0] - 1) * space[1] + output[1] >= _LONG * LANES:
        planes, (height, width) = x[:, None], space
    else:
        planes, height, width = _planes(x, space, pads, stride)
    shape = weight.shape[1], x.shape[1]
    offsets = _offsets(*shape, tuple(kernel), tuple(stride), tuple(dilation), height, width)
    terms = np.zeros(weight.shape[0], F) if bias is None else np.ascontiguousarray(bias)
    out = np.empty((x.shape[0], weight.shape[0], *output), F)
    work = offsets.size * out.size
    seen = planes.reshape(x.shape[0], -1, height, width)
    rest = (seen, np.ascontiguousarray(weight), terms, offsets, groups, height * width, width, out)
    rows = x.shape[0] * output[0]
    if output[0] * width >= 4 * _SPAN * get_threads() or weight.shape[0] < 16:
        share(_by_rows, rows, max(1, rows * (1 << 20) // max(work, 1)), *rest)
    else:
        least = max(8, weight.shape[0] * (1 << 20) // max(work, 1))
        share(_by_channels, weight.shape[0], least, *rest)
    return out

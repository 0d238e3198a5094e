"""How the work of `convolution_points` is cut up, and which convolutions it does."""

from __future__ import annotations

from math import prod
from typing import Final

from ....memory.dtype import Array
from ...threads import get_threads
from ..language.target import host
from ..language.text import LANES
from . import points
from .plans import HALVES, WORDS, Windows, copy_of, numbers_of

__all__ = ["are_gathered", "are_points", "points_plan"]

_STEP: Final = 8
"""Rows of a strip are a multiple of it."""
_NEAREST: Final = 6 << 10
"""Numbers of pixels that are read as they lie by some channels after the other."""
_FEW: Final = 8
"""With fewer channels pixels are not read often enough to be packed."""
_PAGE: Final = 4096
"""Bytes: what lies so far apart, or a multiple of that, pushes each other out of caches."""
_SPREAD: Final = 4
"""Blocks of channels that threads share where many are made of few."""
_TIMES: Final = 4
"""So many times more channels made than pixels are worth gathering these."""
_POINTS: Final = 32
"""Pixels of a sample from which they fill vectors well enough."""
_KEPT: Final = 700 << 10
"""Bytes of panels that stay near, beside what windows see."""
_LEAST: Final = 1 << 18
"""Products of numbers that are worth taking from a thread that has others to do."""
_SHARES: Final = 16
"""Pieces of work that threads share evenly."""
_PACKED: Final = 72
"""Channels that are worth making pixels to words for once more."""
_WORDS: Final = 1 << 19
"""Bytes of weights made to words that stay near."""
_BLOCK: Final = 96
"""Channels that are worth packing pixels for once more."""
_ROWS: Final = 24
"""Channels of pieces are a multiple of it, so that they are whole tiles."""


def are_points(what: Windows) -> bool:
    """Whether windows are single numbers, each in its place, and so many that they fill vectors."""
    is_one = prod(what.weight[2:]) == 1 and what.shape[2:] == tuple(what.output)
    return bool(is_one and not any(map(any, what.pads)) and prod(what.output) >= _POINTS)


def are_gathered(what: Windows) -> bool:
    """Whether pixels are so few, beside the channels made, that it is better to gather them."""
    pixels, made = prod(what.output), what.weight[0] // what.groups
    if what.shape[2] != 1 or what.weight[2] != 1 or what.stride[2] > 2:
        return False
    vectors = -(-(pixels - _odd(pixels)) // LANES)
    is_full = pixels * 8 >= vectors * LANES * 7
    return is_full and LANES < pixels <= min(made // _TIMES, points.MOST_GATHERED)


def _odd(pixels: int) -> int:
    """Pixels beyond whole vectors that are summed by themselves."""
    rest = pixels % LANES
    return rest if rest <= points.ODD and pixels > LANES else 0


def points_plan(what: Windows, short: str) -> Array:
    """The numbers of `convolution_points` for arrays in one piece; what is multiplied may be
    `short`."""
    together, each = 2 if short in WORDS else 1, 2 if short == "halves" else 4
    size, groups, shape = what.weight[1:], what.groups, what.shape
    made, pixels = what.weight[0] // groups, prod(what.output)
    depth = -(-prod(size) // together)
    is_gathered = not are_points(what)
    plane = prod(shape[2:])
    is_far = not (each * plane) % _PAGE and made >= _FEW
    is_packed = is_gathered or together > 1 or is_far
    is_spread = not is_gathered and (not is_packed or together > 1) and made >= 2 * prod(size)
    chunks, block = _shares_of_points(what, is_gathered, is_spread, together)
    blocks = -(-made // block)
    planes = shape[0] * groups
    slot = _slot_of_points(
        *((depth, pixels, block), is_packed, short, planes * chunks > groups),
    )
    sizes = {
        **dict.fromkeys(points.SIZES, 0),
        **_order_of_points((planes, chunks, blocks), is_spread, slot["is_kept"] > 0),
        **slot,
        "items": planes * chunks * blocks,
        "line": 4 * points.pixels_of_tile(host()) if is_packed else each * plane,
        "is_packed": int(is_packed),
        "block": block,
        "groups": groups,
        "made": made,
        "inside": prod(size),
        "depth": depth,
        "pixels": pixels,
        "width": pixels,
        "x_plane": each * plane,
        "x_sample": each * plane * shape[1],
        "x_group": each * plane * size[0],
    }
    if not is_gathered:
        return numbers_of(points, sizes, (0, 0, 0, 0), (0, 0, 0, 0))
    more, steps = _gathered_sizes(what, pixels, slot["deep"] * together, slot["slot"])
    return numbers_of(points, sizes | more, steps, size)


def _slot_of_points(
    sizes: tuple[int, int, int], is_packed: bool, short: str, are_several: bool
) -> dict[str, int]:
    """How the depth is cut into pieces, and what lies where in a slot; `sizes` are the depth, the
    pixels of a sample and the channels of a block, for which there may be `several` such parts."""
    depth, pixels, block = sizes
    wide, odd = points.pixels_of_tile(host()), _odd(pixels)
    deep = points.depth_of_piece(depth)
    pieces = -(-depth // deep)
    most = points.WIDE if is_packed else max(_NEAREST // depth, wide)
    if short in WORDS:  # what is read as it lies where numbers are whole
        most = max(most, _NEAREST // depth)
    most = most // wide * wide
    piece = -(-points.slot_size(deep, most) // LANES) * LANES
    is_cut = 4 * pieces * piece > _KEPT or pixels - odd > wide
    waiting = piece if is_cut else pieces * piece
    words = waiting + (block + _ROWS) * points.ODD * LANES * (odd > 0)
    rounds = short == "numbers"
    is_kept = rounds and (are_several or pixels - odd > most) and 4 * block * depth <= _WORDS
    room = (block if is_kept else points.MOST_ROWS) * depth * rounds
    sums = LANES + words + -(-room // LANES) * LANES
    waits = (block + points.MOST_ROWS) * most if short in HALVES and pieces > 1 else 0
    return {
        "tiles": -(-(pixels - odd) // wide),
        "most": most,
        "deep": deep,
        "pieces": pieces,
        "piece": 0 if is_cut else piece,
        "is_cut": int(is_cut),
        "odd": odd,
        "waiting": waiting,
        "is_kept": int(is_kept),
        "words": words,
        "sums": sums,
        "slot": sums + waits,
    }


def _order_of_points(
    counts: tuple[int, int, int], is_spread: bool, is_kept: bool
) -> dict[str, int]:
    """How many planes, chunks and blocks there are, and how far from one to the next: blocks come
    last where their weights are kept."""
    planes, chunks, blocks = counts
    steps = (chunks * blocks, 1, chunks) if is_spread else (chunks * blocks, blocks, 1)
    if is_kept:
        steps = chunks, 1, planes * chunks
    names = "plane", "chunk", "block"
    found = {f"{name}s": count for name, count in zip(names, counts, strict=True)}
    return found | {f"{name}_step": step for name, step in zip(names, steps, strict=True)}


def _shares_of_points(
    what: Windows, is_gathered: bool, is_spread: bool, together: int
) -> tuple[int, int]:
    """Into how many chunks pixels are cut, and how many channels a thread makes of one."""
    made, pixels = what.weight[0] // what.groups, prod(what.output)
    most = max(1, pixels * prod(what.weight[1:]) * made // _LEAST)
    chunks = 1 if is_gathered else min(most, -(-pixels // points.WIDE))
    count = what.shape[0] * what.groups * chunks
    blocks = min(most // chunks, -(-_SHARES // count), -(-made // _BLOCK))
    blocks = min(max(2, get_threads()), blocks) if is_gathered else max(1, blocks)
    if is_spread:  # threads share channels, as they do in the layer after, which is often depthwise
        least = _ROWS if together == 1 else _PACKED
        blocks = max(1, min(_SPREAD, most // 2, made // least))
        chunks = max(1, min(chunks, -(-_SHARES // blocks)))
    block, step = -(-made // blocks), _STEP if is_gathered else _ROWS
    return chunks, -(-block // step) * step


def _gathered_sizes(
    what: Windows, pixels: int, deep: int, packed: int
) -> tuple[dict[str, int], tuple[int, int, int, int]]:
    """What differs where windows are gathered from a copy of the planes, and a window's steps.

    The copy lies behind the `packed` bytes of a thread's slot.
    """
    size = what.weight[1:]
    reach = [d * (k - 1) + 1 for d, k in zip(what.dilation, size[1:], strict=True)]
    count_of = zip(what.output, what.stride, reach, strict=True)
    copied = copy_of(what, [(n - 1) * s + r for n, s, r in count_of])
    line = 4 * copied["columns_made"]
    gathered = points.line_size(pixels) * deep
    sizes = {
        "is_gathered": 1,
        "width": what.output[2],
        "next_row": line * what.stride[1],
        "is_second": int(what.stride[2] == 2),
        "x_plane": 4 * points.line_size(pixels),
        "gathered": packed,
        "copied": packed + gathered,
        "slot": packed + gathered + copied["pitch"] * size[0] + points.BEYOND,
        **copied,
    }
    return sizes, (4 * copied["pitch"], 0, line * what.dilation[1], 4 * what.dilation[2])

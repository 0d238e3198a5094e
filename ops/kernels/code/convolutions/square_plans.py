"""How the work of `convolution_squares` is cut up, and which convolutions it does."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Final

import numpy as np

from ....memory.dtype import Array
from ..language.target import host
from ..language.text import LANES
from . import squares
from .plans import Windows

__all__ = ["are_squares", "squares_plan"]

_FEWEST: Final = 16
"""Channels, of the input and of the result, from which sums and differences are little work."""
_KEPT: Final = 5 << 20
"""Bytes of a group's weights that are made once, and kept for all samples and rows."""
_WEIGHTS: Final = 3 << 17
"""Bytes of weights that stay near until they are used."""
_NEAR: Final = 1 << 19
"""Bytes of what squares see that stay near."""
_FAR: Final = 1 << 22
"""The same, at most, where weights are made anew for each part."""
_ALONE: Final = 64
"""Squares, at most, that are one part, since weights are more work than these."""
_MOST: Final = 256
"""Squares of a part, from which it matters little how many there are."""


def are_squares(what: Windows, together: int = 1) -> bool:
    """Whether it is less work to make squares of results, of so many channels `together` in a word.

    By the time that 16 channels take: sums and differences of weights are as much as the products
    of 75 numbers, turning them around as much as 50.
    """
    is_plain = (
        tuple(what.weight[2:]) == (1, squares.WINDOW, squares.WINDOW)
        and what.shape[2] == 1
        and all(step == 1 for step in what.stride)
    )
    if not is_plain or min(what.weight[1], what.weight[0] // what.groups) < _FEWEST:
        return False
    down, across = _squares_of(what)
    made = squares.PLACES * down * across // together + 75
    return made * 8 < (9 * prod(what.output) // together + 50) * 7


def _panels(made: int) -> tuple[int, int]:
    """How many panels the weights of some channels are, and how wide each is."""
    vectors = -(-made // LANES)
    panels = -(-vectors // squares.vectors_of_panel(host()))
    return panels, -(-vectors // panels) * LANES


def squares_plan(what: Windows, together: int = 1) -> Array:
    """The numbers of the kernel, for so many channels of the input `together` in a word."""
    samples, groups, inside = what.shape[0], what.groups, what.weight[1]
    made, (high, wide) = what.weight[0] // groups, what.output[1:]
    down, across = _squares_of(what)
    panels, wide_panel = _panels(made)
    lines = -(-inside // together)
    is_kept = 4 * squares.PLACES * panels * _apart(lines * wide_panel) <= _KEPT
    is_kept = is_kept and samples * down * across > _ALONE
    far_down, far_across = what.dilation[1:]
    several, rows = _parts(samples, lines, down, across, is_kept)
    result = (wide if far_down == 1 else wide + far_across) * LANES
    parts, chunks = -(-samples // several), -(-down // rows)
    is_kept = is_kept and parts * chunks > 1
    deep = inside if is_kept else _even_piece(inside, wide_panel // together)
    panel_place = _apart(-(-deep // together) * wide_panel)
    block = panels if is_kept else 1
    line = several * rows * across
    panel = squares.PLACES * panel_place
    seen_place = _apart(lines * line + LANES)
    sum_place = _apart(line * wide_panel)
    sizes = {
        "items": groups * parts * chunks * -(-panels // block),
        "samples": samples,
        "several": several,
        "parts": parts,
        "chunks": chunks,
        "rows": rows,
        "groups": groups,
        "blocks": -(-panels // block),
        "block": block,
        "panels": panels,
        "made": made,
        "inside": inside,
        "deep": deep,
        "is_kept": int(is_kept),
        "height": what.shape[3],
        "width": what.shape[4],
        "top": what.pads[1][0],
        "left": what.pads[2][0],
        "high": high,
        "wide": wide,
        "down": down,
        "across": across,
        "far_down": far_down,
        "far_across": far_across,
        "line": line,
        "seen_place": seen_place,
        "panel": panel,
        "panel_place": panel_place,
        "sum_place": sum_place,
        "result": result,
    }
    rooms = {
        "weights_at": block * panel,
        "sums_at": squares.PLACES * sum_place,
        "results_at": 2 * result + (LANES + far_across) * LANES,
    }
    return _laid_out(sizes, squares.PLACES * seen_place, rooms)


def _laid_out(sizes: dict[str, int], at: int, rooms: Mapping[str, int]) -> Array:
    """The numbers in order, with places for the rooms of a slot of memory, one behind the other."""
    for name, size in rooms.items():
        sizes[name] = at
        at += size
    sizes["slot"] = -(-at // LANES) * LANES + LANES
    return np.array([sizes[name] for name in squares.SIZES], np.int64)


def _squares_of(what: Windows) -> list[int]:
    """How many begin at different rows, and columns: of twice as many as lie between two of a
    square, the first half."""
    found = []
    for size, far in zip(what.output[1:], what.dilation[1:], strict=True):
        whole, rest = divmod(size, 2 * far)
        found.append(whole * far + min(far, rest))
    return found


def _apart(numbers: int) -> int:
    """An odd number of cache lines, so that caches take what lies so far apart."""
    return (-(-numbers // LANES) | 1) * LANES


def _even_piece(inside: int, wide: int) -> int:
    """Channels of pieces whose weights stay near, as even as whole squares of 16 let them be."""
    most = max(LANES, _WEIGHTS // (4 * squares.PLACES * wide))
    return -(-inside // (-(-inside // most) * LANES)) * LANES


def _parts(samples: int, inside: int, down: int, across: int, is_kept: bool) -> tuple[int, int]:
    """How many samples are taken together, and how many rows of squares of them."""
    most = (_NEAR if is_kept else _FAR) // (4 * squares.PLACES * inside)
    most = max(LANES, min(most, _MOST))
    if down * across <= most:
        several = max(1, min(samples, most // (down * across)))
        return -(-samples // -(-samples // several)), down
    fewest = -(-down // max(1, most // across))
    even = (n for n in range(fewest, 2 * fewest + 1) if n % 2 == 0 == down % n)
    return 1, -(-down // next(even, fewest))

"""Where the items of an area stand, by their sizes: the half of the layout that `rows.py` leaves.

`page/layout.js` does the same for boxes that are opened on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

__all__ = ["Item", "Placed", "lines_of", "place", "spread"]

GAP: Final = 18
"""Between neighbours in a row."""

ROW: Final = 36
"""Between rows."""

_SWEEPS: Final = 6

Size = tuple[float, float]
Area = Mapping[str, Any]
"""Boxes and the lines between them, as the page has them."""


@dataclass(frozen=True)
class Item:
    """The place of an item: the middle of its upper side, its size, and where its row ends."""

    x: float
    y: float
    width: float
    height: float
    foot: float


@dataclass(frozen=True)
class Placed:
    """The items of an area at their places."""

    items: dict[int, Item]
    width: float
    height: float


def spread(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to those wanted (least squares) at which items keep order and distance.

    This is isotonic regression, by pooling adjacent violators.
    """
    distance, total = [], 0.0
    for number, width in enumerate(widths):
        total += (widths[number - 1] + width) / 2 + GAP if number else 0
        distance.append(total)
    pools: list[tuple[float, int]] = []
    for x, before in zip(wanted, distance, strict=True):
        pool = (x - before, 1)
        while pools and pools[-1][0] / pools[-1][1] > pool[0] / pool[1]:
            last = pools.pop()
            pool = (pool[0] + last[0], pool[1] + last[1])
        pools.append(pool)
    means = [total / count for total, count in pools for _ in range(count)]
    return [mean + before for mean, before in zip(means, distance, strict=True)]


def place(area: Area, sizes: Mapping[int, Size]) -> Placed:
    """Place the items of an area (as `document.py` describes it); `sizes` has none for bends."""
    rows: list[list[int]] = area["rows"]
    above, below = _neighbours(area)
    x: dict[int, float] = {}

    def settle(row: Sequence[int], neighbours: Mapping[int, Iterable[int]]) -> None:
        wanted = []
        for item in row:
            near = [x[n] for n in neighbours.get(item, ()) if n in x]
            wanted.append(sum(near) / len(near) if near else x.get(item, 0.0))
        widths = [sizes.get(item, (0, 0))[0] for item in row]
        x.update(zip(row, spread(wanted, widths), strict=True))

    for row in rows:
        settle(row, above)
    for sweep in range(1, _SWEEPS):
        for row in reversed(rows) if sweep % 2 else rows:
            settle(row, below if sweep % 2 else above)
    left = min((at - sizes.get(item, (0, 0))[0] / 2 for item, at in x.items()), default=0)
    right = max((at + sizes.get(item, (0, 0))[0] / 2 for item, at in x.items()), default=0)
    items, y = dict[int, Item](), 0.0
    for row in rows:
        height = max((sizes.get(item, (0, 0))[1] for item in row), default=0)
        for item in row:
            width, own = sizes.get(item, (0, height))
            items[item] = Item(x[item] - left, y, width, own, y + height)
        y += height + ROW
    return Placed(items, right - left, max(0, y - ROW))


def _neighbours(area: Area) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Of every item those above and below that edges lead to, each once."""
    above: dict[int, dict[int, None]] = {}
    below: dict[int, dict[int, None]] = {}
    for _, source, target, _, bends in area["edges"]:
        way = [source, *bends, target]
        for one, other in pairwise(way):
            above.setdefault(other, {})[one] = None
            below.setdefault(one, {})[other] = None
    return tuple({key: list(found) for key, found in side.items()} for side in (above, below))  # type: ignore[return-value]


def lines_of(area: Area, placed: Placed) -> list[str]:
    """The paths of the edges in SVG's terms: from the foot of an item, through the bends, to the
    head of another.  Edges of one value share bends, and the second begins where the first has not
    drawn yet."""
    items, heads = placed.items, _heads(area, placed)
    paths = []
    drawn: dict[tuple[int, int], int] = {}
    for number, (value, source, _, _, bends) in enumerate(area["edges"]):
        before = min(drawn.get((value, source), 0), len(bends))
        drawn[value, source] = max(drawn.get((value, source), 0), len(bends))
        first = items[bends[before - 1] if before else source]
        x, y = first.x, first.y + first.height
        path = f"M{x:g} {y:g}"
        if first.foot > y:  # past taller neighbours
            y = first.foot
            path += f"V{y:g}"
        for bend in (*bends[before:], None):
            to, top = heads[number] if bend is None else (items[bend].x, items[bend].y)
            middle = (y + top) / 2
            path += f"C{x:g} {middle:g} {to:g} {middle:g} {to:g} {top:g}"
            x, y = to, top
            if bend is not None and items[bend].height:
                y += items[bend].height
                path += f"V{y:g}"
        paths.append(path)
    return paths


def _heads(area: Area, placed: Placed) -> dict[int, tuple[float, float]]:
    """Where each edge ends: side by side on the upper side of its item, in the order they come."""
    given: dict[int, list[tuple[float, int]]] = {}
    for number, (_, source, target, _, bends) in enumerate(area["edges"]):
        last = placed.items[bends[-1] if bends else source]
        given.setdefault(target, []).append((last.x, number))
    heads = {}
    for target, edges in given.items():
        item = placed.items[target]
        step = min(14, item.width / (len(edges) + 1))
        for place, (_, number) in enumerate(sorted(edges)):
            heads[number] = (item.x + (place - (len(edges) - 1) / 2) * step, item.y)
    return heads

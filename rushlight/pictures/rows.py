"""In which rows and in which order the items of an area stand: what does not depend on their sizes.

This is the first half of the method of Sugiyama, Tagawa and Toda (1981): rows by longest paths,
bends where an edge passes rows, and orders by the means of neighbours, kept where they cross least.
The other half, the places, follows from sizes (`places.py`, and `page.js` for boxes that open).
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from .drawing import Area

__all__ = ["Edge", "Rows", "rows_of"]

_SWEEPS: Final = 6
_MOST_BENDS: Final = 20_000
"""Bends of an area; where there were more, edges are straight lines."""


@dataclass(frozen=True)
class Edge:
    """A value on its way from one item to another, through bends, which are items too."""

    value: int
    source: int
    target: int
    name: str
    bends: tuple[int, ...]


@dataclass(frozen=True)
class Rows:
    """The items of an area by rows, and the edges between them.

    Items are numbered: the values that come in, then the boxes, then the end (if anything goes
    out), then the bends.
    """

    rows: list[list[int]]
    edges: list[Edge]


def rows_of(area: Area) -> Rows:
    """Put the items of an area into rows, the values that come in first."""
    links = _links(area)
    count = len(area.inputs) + len(area.boxes) + bool(area.outputs)
    ranks = _ranks(count, len(area.inputs), links)
    if area.outputs and count > 1:
        ranks[count - 1] = max(max(ranks[:-1]) + 1, ranks[count - 1])
    edges, rows = _with_bends(ranks, links)
    _order(rows, edges)
    return Rows(rows, edges)


def _links(area: Area) -> list[tuple[int, int, int, str]]:
    """Value, giving item, taking item and the parameter's name, each pair once; what a box changes
    is given by that box from there on."""
    givers = {value: number for number, value in enumerate(area.inputs)}
    found: dict[tuple[int, int, int], str] = {}
    for number, box in enumerate(area.boxes, len(area.inputs)):
        for link in box.links:
            if link.value in givers:
                found.setdefault((link.value, givers[link.value], number), link.name)
        givers |= dict.fromkeys((*box.outputs, *box.writes), number)
    end = len(area.inputs) + len(area.boxes)
    for value in area.outputs:
        if value in givers:
            found.setdefault((value, givers[value], end), "")
    return [(*key, name) for key, name in found.items()]


def _ranks(count: int, inputs: int, links: list[tuple[int, int, int, str]]) -> list[int]:
    """The row of every item: below all that it is given; what is given nothing stands right above
    the first that takes from it."""
    ranks = [int(number >= inputs > 0) for number in range(count)]
    takers: list[list[int]] = [[] for _ in range(count)]
    given = [False] * count
    for _, source, target, _ in sorted(links, key=lambda link: link[2]):
        ranks[target] = max(ranks[target], ranks[source] + 1)
        takers[source].append(target)
        given[target] = True
    for number in range(count - 1, inputs - 1, -1):
        if not given[number] and takers[number]:
            ranks[number] = max(ranks[number], min(ranks[t] for t in takers[number]) - 1)
    return ranks


def _with_bends(
    ranks: list[int], links: list[tuple[int, int, int, str]]
) -> tuple[list[Edge], list[list[int]]]:
    """Edges whose bends stand in the rows between; edges of one value share them."""
    rows: list[list[int]] = [[] for _ in range(max(ranks, default=-1) + 1)]
    for item, rank in enumerate(ranks):
        rows[rank].append(item)
    longest: dict[tuple[int, int], int] = {}
    for value, source, target, _ in links:
        longest[value, source] = max(longest.get((value, source), 0), ranks[target] - ranks[source])
    straight = sum(longest.values()) > _MOST_BENDS
    chains: dict[tuple[int, int], list[int]] = {}
    items, edges = len(ranks), []
    for value, source, target, name in links:
        bends = chains.setdefault((value, source), [])
        need = 0 if straight else max(0, ranks[target] - ranks[source] - 1)
        while len(bends) < need:
            rows[ranks[source] + len(bends) + 1].append(items)
            bends.append(items)
            items += 1
        edges.append(Edge(value, source, target, name, tuple(bends[:need])))
    return edges, rows


def _order(rows: list[list[int]], edges: list[Edge]) -> None:
    """Sort each row by the means of the neighbours above and below, in turn; the order that had
    the fewest crossings stays."""
    above: dict[int, set[int]] = {}
    below: dict[int, set[int]] = {}
    for edge in edges:
        way = (edge.source, *edge.bends, edge.target)
        for one, other in pairwise(way):
            above.setdefault(other, set()).add(one)
            below.setdefault(one, set()).add(other)
    best, fewest = [list(row) for row in rows], _crossings(rows, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        neighbours = above if downwards else below
        pairs = list(pairwise(rows))
        for first, second in pairs if downwards else reversed(pairs):
            fixed, free = (first, second) if downwards else (second, first)
            at = {item: place for place, item in enumerate(fixed)}
            old = {item: place for place, item in enumerate(free)}

            def key(item: int, at: dict[int, int] = at, old: dict[int, int] = old) -> float:
                found = [at[n] for n in neighbours.get(item, ()) if n in at]  # noqa: B023
                return sum(found) / len(found) if found else old[item]

            free.sort(key=key)
        crossings = _crossings(rows, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best


def _crossings(rows: list[list[int]], below: dict[int, set[int]]) -> int:
    """How often lines between neighbouring rows cross."""
    count = 0
    for first, second in pairwise(rows):
        at = {item: place for place, item in enumerate(second)}
        ends: list[int] = []
        for item in first:
            reached = sorted(at[n] for n in below.get(item, ()) if n in at)
            count += sum(len(ends) - bisect_right(ends, end) for end in reached)
            for end in reached:
                insort(ends, end)
    return count

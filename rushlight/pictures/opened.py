"""Which boxes of a still picture are open, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .document import Document

__all__ = ["Opened", "Where", "opened_to"]

SMALL: Final = 60
"""A graph of at most this many boxes, those in calls counted, is drawn with all of them open."""

_DEEPEST: Final = 40

Where = tuple[Document, str]
"""A drawing, and the call that leads to it (see `shapes.Contexts`)."""


class Opened:
    """The boxes that are open: blocks are, and calls that lie less than `depth` deep."""

    def __init__(self, document: Document, depth: int) -> None:
        self.document = document
        self.depth = depth

    def inside(self, where: Where, box: Document) -> list[tuple[Where, Document]]:
        """The areas that are drawn in a box; none in one that is closed."""
        _, context = where
        if box["call"] is None:
            return [(where, area) for area in box["areas"]]
        if context.count("/") >= self.depth:
            return []
        inner = self.document["drawings"][box["call"]]
        return [((inner, f"{context}/{box['number']}"), inner["area"])]

    def told(self, where: Where, value: int) -> str:
        """What the run told of a value; empty if nothing."""
        found: str = self.document["contexts"].get(where[1], {}).get(value, "")
        return found.replace("float32 ", "")


def opened_to(document: Document, root: Document, depth: int | None) -> Opened:
    """Calls open to a depth; without one all are if the graph is small, and none if not."""
    if depth is not None:
        return Opened(document, depth)
    everything = Opened(document, _DEEPEST)
    count = sum(1 for _ in zip(_boxes(everything, root), range(SMALL + 1), strict=False))
    return everything if count <= SMALL else Opened(document, 0)


def _boxes(opened: Opened, root: Document) -> Iterator[object]:
    waiting: list[tuple[Where, Document]] = [((root, ""), root["area"])]
    while waiting:
        where, area = waiting.pop()
        for box in area["boxes"]:
            yield box
            waiting.extend(opened.inside(where, box))

"""A graph in Graphviz's language, for those who have their own way of laying it out."""

from __future__ import annotations

from collections.abc import Iterator

from .document import Document
from .opened import Opened, Where, opened_to

__all__ = ["dot_of"]


def dot_of(document: Document, method: str, depth: int | None = None) -> str:
    """The text of a method's graph; calls are open to `depth`, or all if it is small.

    Open boxes are clusters; edges to them end at their border (`compound`).
    """
    root = document["drawings"][document["methods"][method]]
    lines = [
        f"digraph {_quoted(document['name'])} {{",
        "  compound=true; node [shape=box, style=rounded, fontname=monospace];",
        *_Text(opened_to(document, root, depth)).area((root, ""), root["area"], "r", 1),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Text:
    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._clusters: dict[str, tuple[str, str]] = {}
        """Of an open box the first and the last of what is in it."""

    def area(self, where: Where, area: Document, name: str, level: int) -> Iterator[str]:
        """The items of an area and its edges."""
        indent, items = "  " * level, self._items(area, name)
        ports = [where[0]["values"][value][0] for value in area["inputs"]]
        for item, port in zip(items, ports, strict=False):
            yield f"{indent}{item} [label={_quoted(port)}, shape=oval];"
        for item, box in zip(items[len(ports) :], area["boxes"], strict=False):
            yield from self._box(where, box, item, level)
        if area["outputs"]:
            word = "result" if area["title"] else "return"
            yield f"{indent}{items[-1]} [label={word}, shape=oval];"
        for value, source, target, _, _ in area["edges"]:
            yield f"{indent}{self._edge(where, value, items[source], items[target])};"

    def _items(self, area: Document, name: str) -> list[str]:
        count = len(area["inputs"]) + len(area["boxes"]) + bool(area["outputs"])
        return [f"{name}_{number}" for number in range(count)]

    def _box(self, where: Where, box: Document, item: str, level: int) -> Iterator[str]:
        indent = "  " * level
        inside = self._opened.inside(where, box)
        if not inside:
            label = "\\l".join(_quoted(line)[1:-1] for line in box["lines"]) + "\\l"
            yield f'{indent}{item} [label="{label}"];'
            return
        ends: list[str] = []
        yield f"{indent}subgraph cluster_{item} {{ label={_quoted(box['lines'][0])};"
        for number, (there, area) in enumerate(inside):
            inner, name = "  " * (level + 1), f"{item}_{number}"
            yield f"{inner}subgraph cluster_{name} {{ label={_quoted(area['title'])};"
            yield from self.area(there, area, name, level + 2)
            ends.extend(self._items(area, name))
            if not self._items(area, name):
                yield f'{inner}  {name}_empty [label="", shape=point];'
                ends.append(f"{name}_empty")
            yield f"{inner}}}"
        yield f"{indent}}}"
        first, last = (self._clusters.get(end, (end, end)) for end in (ends[0], ends[-1]))
        self._clusters[item] = (first[0], last[1])

    def _edge(self, where: Where, value: int, source: str, target: str) -> str:
        marks = []
        if (told := self._opened.told(where, value)) != "":
            marks.append(f"label={_quoted(told)}")
        if source in self._clusters:
            marks.append(f"ltail=cluster_{source}")
        if target in self._clusters:
            marks.append(f"lhead=cluster_{target}")
        ends = self._clusters.get(source, ("", source))[1], self._clusters.get(target, (target,))[0]
        return " -> ".join(ends) + (f" [{', '.join(marks)}]" if marks else "")

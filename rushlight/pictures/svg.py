"""A graph as an SVG file.  Texts of the program are escaped, whatever they hold."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from .document import LETTER, LINE, Document
from .opened import Opened, Where, opened_to
from .places import lines_of, place

__all__ = ["svg_of"]

_PAD, _HEAD, _EDGE = 12, 24, 16
_NOT_XML: Final = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE: Final = """
text {{ font: 11.6px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: {text}; }}
.name {{ font-weight: bold; }} .operand, .title, .sizes {{ fill: {faint}; }}
.title {{ font-style: italic; }} .sizes {{ font-size: 10.4px; }}
rect {{ stroke: {line}; }} .edge {{ fill: none; stroke: {edge}; }}
"""


def svg_of(document: Document, method: str, depth: int | None = None) -> str:
    """The picture of a method; calls are open to `depth`, or all if it is small."""
    root = document["drawings"][document["methods"][method]]
    colors = _colors()
    text, size = _Picture(opened_to(document, root, depth), colors).area((root, ""), root["area"])
    width, height = size[0] + 2 * _EDGE, size[1] + 2 * _EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}">\n<title>{_clean(document["name"])}</title>\n'
        f"<style>{_STYLE.format(**colors)}</style>\n"
        f'<rect width="100%" height="100%" fill="{colors["back"]}" stroke="none"/>\n'
        f'<g transform="translate({_EDGE} {_EDGE})">{text}</g>\n</svg>\n'
    )


def _colors() -> dict[str, str]:
    """The page's own colours, those of its light form."""
    style = (files(__package__) / "page" / "page.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", style.partition("}")[0]))


def _clean(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class={quoteattr(kind)}>{_clean(words)}</text>'


Drawn = tuple[str, tuple[float, float]]


class _Picture:
    def __init__(self, opened: Opened, colors: dict[str, str]) -> None:
        self._opened = opened
        self._colors = colors

    def area(self, where: Where, area: Document) -> Drawn:
        """An area and its size."""
        drawing, _ = where
        drawn = [self._port(drawing["values"][value][0]) for value in area["inputs"]]
        drawn += [self._box(where, box) for box in area["boxes"]]
        if area["outputs"]:
            drawn.append(self._port("result" if area["title"] else "return"))
        placed = place(area, {item: size for item, (_, size) in enumerate(drawn)})
        parts = [f'<path class="edge" d="{line}"/>' for line in lines_of(area, placed)]
        told: dict[int, list[int]] = {}
        for value, source, *_ in area["edges"]:
            text, known = self._opened.told(where, value), told.setdefault(source, [])
            if text and value not in known:
                item = placed.items[source]
                known.append(value)
                y = item.y + item.height + 1 + 11 * len(known)
                parts.append(_text(item.x + 5, y, text, "sizes"))
        for number, (text, (width, _)) in enumerate(drawn):
            if number in placed.items:
                item = placed.items[number]
                parts.append(
                    f'<g transform="translate({item.x - width / 2:g} {item.y:g})">{text}</g>'
                )
        return "\n".join(parts), (placed.width, placed.height)

    def _port(self, name: str) -> Drawn:
        words = name if len(name) <= 24 else name[:23] + "…"
        width = len(words) * LETTER + 18
        return self._frame(width, 20, 10, "back") + _text(9, 14, words), (width, 20)

    def _box(self, where: Where, box: Document) -> Drawn:
        inner = [(area, *self.area(there, area)) for there, area in self._opened.inside(where, box)]
        if not inner:
            width, height = box["size"]
            parts = [self._frame(width, height, 4, box["family"])]
            for number, line in enumerate(box["lines"]):
                kind = "operand" if number else "name"
                parts.append(_text(10, 17 + number * LINE, line, kind))
            return "".join(parts), (width, height)
        titled = 16 if any(area["title"] for area, _, _ in inner) else 0
        content = sum(max(size[0], 40) + _PAD for _, _, size in inner) + _PAD
        width = max(len(box["lines"][0]) * LETTER + 20, content)
        height = _HEAD + titled + max(8, *(size[1] for _, _, size in inner)) + _PAD
        parts = [self._frame(width, height, 6, box["family"], 0.35)]
        parts.append(_text(10, 17, box["lines"][0], "name"))
        x = float(_PAD)
        for area, text, size in inner:
            if area["title"]:
                parts.append(_text(x, _HEAD + 10, area["title"], "title"))
            left = x + max(0, 40 - size[0]) / 2
            parts.append(f'<g transform="translate({left:g} {_HEAD + titled})">{text}</g>')
            x += max(size[0], 40) + _PAD
        return "".join(parts), (width, height)

    def _frame(self, width: float, height: float, round: int, kind: str, opacity: float = 1) -> str:
        fill = self._colors.get(kind, self._colors["other"])
        size = f'width="{width:g}" height="{height:g}" rx="{round}"'
        return f'<rect {size} fill="{fill}" fill-opacity="{opacity:g}"/>'

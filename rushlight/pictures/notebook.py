"""What graphs and modules show of themselves in a notebook."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import Protocol

from ..frontend.diagnostics.cells import clean, clean_lines
from ..ir.graphs.graph import Graph
from .document import drawn_graph
from .opened import SMALL
from .svg import svg_of

__all__ = ["graph_html", "module_html"]


class _Sized(Protocol):
    def numel(self) -> int: ...


class _Layers(Protocol):
    """What is asked of an `nn.Module`."""

    def named_children(self) -> Iterable[tuple[str, _Layers]]: ...
    def parameters(self) -> Iterator[_Sized]: ...
    def extra_repr(self) -> str: ...


def graph_html(graph: Graph, text: str) -> str:
    """A small graph as a picture, with its text folded away; a large one as its text."""
    shown = f"<pre>{html.escape(clean_lines(text))}</pre>"
    if sum(1 for _ in graph.all_nodes) > 4 * SMALL:
        return shown
    picture = svg_of(drawn_graph(graph), "graph", 0)
    return f"{picture}<details><summary>text</summary>{shown}</details>"


def module_html(module: _Layers, name: str = "", level: int = 0) -> str:
    """The layers of a module with their parameters; inner ones are folded away."""
    children = list(module.named_children())
    own = sum(p.numel() for p in module.parameters())
    words = html.escape(clean(module.extra_repr()))
    kind = html.escape(clean(str(getattr(module, "original_name", type(module).__name__))))
    head = f"{html.escape(clean(name))}: <b>{kind}</b>" if name else f"<b>{kind}</b>"
    line = f"{head} <code>{words}</code> <small>{own:,} parameters</small>"
    if not children:
        return f"<div style='margin-left: {20 * bool(level)}px'>{line}</div>"
    inner = "".join(module_html(child, key, level + 1) for key, child in children)
    opened = " open" if level < 1 else ""
    indent = 20 * bool(level)
    return (
        f"<details{opened} style='margin-left: {indent}px'><summary>{line}</summary>{inner}"
        "</details>"
    )

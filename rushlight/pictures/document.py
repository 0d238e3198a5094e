"""What a picture shows of an archive as plain data: modules, graphs, code and what a run told.

All texts are clean: nothing in them moves a cursor or turns the direction of writing.  They are
data all the same, and whoever writes them into a page or a picture escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from ..frontend.diagnostics.cells import clean, clean_lines
from ..frontend.sources.source import Source
from ..interpreter.values.objects import ScriptObject
from ..ir.graphs.graph import Graph, Value
from ..ops.tensors.tensor import Tensor
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from .drawing import Area, Box, Drawing, Picture
from .rows import rows_of
from .shapes import Contexts, noted_run
from .weights import fill_in, module_tree

__all__ = ["LINE", "Document", "box_size", "describe", "drawn_graph"]

Document = dict[str, Any]
"""What a page shows, or a part of it (a drawing, an area, a box, a module), as JSON has it."""

LETTER: Final = 7.0
"""The width of a letter of boxes, in pixels: pages and pictures use a font of equal widths."""

LINE: Final = 15
_MARGIN: Final = 10
_TEXTS: Final = 4
"""The operands that a box shows; the others are told of the box that is chosen."""

Entry = tuple[Document, Tensor]
Progress = Callable[[Iterable[Entry], str], Iterator[Entry]]


def _silent(items: Iterable[Entry], what: str) -> Iterator[Entry]:
    yield from items


def describe(
    target: ScriptObject,
    name: str,
    *,
    method: str = "forward",
    inputs: Sequence[Tensor] | None = None,
    bare: ScriptObject | None = None,
    weights: bool = True,
    progress: Progress = _silent,
) -> tuple[Document, Exception | None]:
    """Everything a page shows of a module.

    With `inputs` (tensors on `meta`) the method runs on `bare`, the same module without data, which
    tells what stands on the edges; the exception is what that run ended with.  Without `weights` no
    tensor is read.
    """
    picture = Picture()
    methods = {name: picture.draw(function) for name, function in _methods(target.cls)}
    tree, tensors = module_tree(target)
    by_path = _methods_of_all(target, picture)
    failure: Exception | None = None
    contexts: Contexts = {}
    if inputs is not None and bare is not None:
        function = target.cls.method(method)
        if function is None:
            raise RuntimeError(f"`{target.cls.name}` has no method `{method}`")
        contexts, failure = noted_run(picture, function, bare, inputs)
    if weights:
        for entry, tensor in progress(tensors, "reading weights"):
            fill_in(entry, tensor)
    drawings = [_drawing(each, picture) for each in picture.drawings]
    document = {
        "name": clean(name),
        "modules": tree,
        "methods": {clean(key): number for key, number in methods.items()},
        "methods of": by_path,
        "drawings": drawings,
        "sources": [_source(source) for source in picture.sources],
        "ran": clean(method) if contexts else None,
        "contexts": contexts,
        "failure": None if failure is None else clean_lines(_line(failure)),
    }
    return document, failure


def drawn_graph(graph: Graph) -> Document:
    """What a still picture shows of a graph by itself, as its method `graph`."""
    picture = Picture()
    number = picture.draw_graph(graph)
    drawings = [_drawing(each, picture) for each in picture.drawings]
    return {"name": "graph", "methods": {"graph": number}, "drawings": drawings, "contexts": {}}


def _line(error: Exception) -> str:
    lines = [line for line in str(error).strip().split("\n") if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _methods(cls: ClassType) -> list[tuple[str, Function]]:
    """The methods of a class, `forward` first."""
    found = [(name, cls.method(name)) for name in sorted(cls.methods, key=lambda n: n != "forward")]
    return [(name, function) for name, function in found if function is not None]


def _methods_of_all(target: ScriptObject, picture: Picture) -> dict[str, dict[str, int]]:
    """Of every module by its path, the drawings of its methods."""
    found: dict[str, dict[str, int]] = {}
    waiting, met = [("", target)], {id(target)}
    while waiting:
        path, module = waiting.pop()
        found[clean(path)] = {clean(n): picture.draw(f) for n, f in _methods(module.cls)}
        for name, slot in zip(module.cls.attributes, module.slots, strict=True):
            if isinstance(slot, ScriptObject) and slot.cls.is_module and id(slot) not in met:
                met.add(id(slot))
                waiting.append((f"{path}.{name}" if path else name, slot))
    return found


def _source(source: Source) -> dict[str, object]:
    return {
        "name": clean((source.filename or "").removeprefix("code/")),
        "first": source.first_line,
        "lines": [clean(line) for line in source.lines],
    }


def _drawing(drawing: Drawing, picture: Picture) -> dict[str, object]:
    spans = list(drawing.sources)
    function = drawing.function
    tree = None if function is None else function.tree
    place = tree.name_span if tree is not None else spans[0] if spans else None
    owner = drawing.owner
    return {
        "name": "" if function is None else clean(function.name),
        "class": "" if owner is None else clean(getattr(owner, "name", "")),
        "values": [_value(value) for value in drawing.values],
        "source": None if place is None else picture.source(place.source),
        "line": 0 if place is None else place.line,
        "last": max((span.end_line for span in spans), default=0),
        "area": _area(drawing.area, picture),
    }


def _value(value: Value) -> list[str]:
    """What a value is called (by its type, if the program has no name for it), its number in the
    graph's text and its type."""
    type = clean(str(value.type))
    return [clean(value.base_name or type), clean(value.debug_name), type]


def _area(area: Area, picture: Picture) -> dict[str, object]:
    found = rows_of(area)
    return {
        "title": area.title,
        "inputs": area.inputs,
        "outputs": area.outputs,
        "boxes": [_box(box, picture) for box in area.boxes],
        "rows": found.rows,
        "edges": [[e.value, e.source, e.target, e.name, list(e.bends)] for e in found.edges],
    }


def _box(box: Box, picture: Picture) -> dict[str, object]:
    span, lines = box.node.span, box_lines(box)
    known = bool(span.source.text)
    return {
        "number": box.number,
        "kind": clean(box.node.kind),
        "family": _family(box),
        "lines": lines,
        "size": box_size(lines),
        "texts": [[clean(key), clean(text)] for key, text in box.texts],
        "outputs": box.outputs,
        "areas": [_area(area, picture) for area in box.areas],
        "call": None if box.call is None else picture.draw(box.call),
        "owner": None if box.owner is None else clean(box.owner),
        "at": [picture.source(span.source), span.line] if known else None,
        "origin": clean(str(span.original)) if known and span.original is not None else "",
    }


def box_lines(box: Box) -> list[str]:
    """What stands in a box."""
    told = [f"{key} = {text}" if key else text for key, text in box.texts]
    lines = [clean(box.label), *map(clean, told[:_TEXTS])]
    if len(told) > _TEXTS:
        lines[-1] = "…"
    return [line if len(line) <= 36 else line[:35] + "…" for line in lines]


def box_size(lines: Sequence[str]) -> list[float]:
    """Width and height of a box that is closed."""
    return [max(map(len, lines)) * LETTER + 2 * _MARGIN, len(lines) * LINE + _MARGIN]


def _family(box: Box) -> str:
    """What kind of thing a box is, for its colour; of an operator its signature tells: a `layer`
    takes weights, a `write` changes what it is given, a `view` gives a part of it, a `number` gives
    no tensor."""
    if box.areas:
        return "block"
    if box.call is not None:
        return "call"
    signature = box.node.signature
    if signature is None:
        return "other"
    if not {"weight", "params"}.isdisjoint(a.name for a in signature.arguments):
        return "layer"
    if signature.is_mutable:
        return "write"
    if any(result.alias is not None for result in signature.returns):
        return "view"
    tensors = any("Tensor" in str(result.type) for result in signature.returns)
    return "operator" if tensors else "number"

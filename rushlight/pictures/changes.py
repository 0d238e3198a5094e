"""What differs between two archives, marked in what is drawn of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

import numpy as np

from ..ops.memory.errors import Elsewhere
from ..ops.tensors.tensor import Tensor
from .document import Document
from .weights import Tree

__all__ = ["mark_changes", "tensor_change"]


def mark_changes(one: Document, two: Document) -> Document:
    """Mark boxes, modules and tensors of both that differ (`"change": "added"`, `"removed"` or
    `"changed"`), and give the differences of their code by file.

    Tensors must have been compared before (`tensor_change`); a module is changed where a tensor of
    its own or a method is.
    """
    changed = _mark_drawings(one, two)
    first, second = dict(_walk(one["modules"])), dict(_walk(two["modules"]))
    for path, module in first.items():
        other = second.get(path)
        if other is None:
            module["change"] = "removed"
        elif path in changed or module["class"] != other["class"] or _differs(module, other):
            module["change"] = other["change"] = "changed"
    for path, module in second.items():
        if path not in first:
            module["change"] = "added"
    return {"code": list(_code(one, two))}


def _walk(module: Tree) -> Iterator[tuple[str, Tree]]:
    yield module["path"], module
    for child in module["modules"]:
        yield from _walk(child)


def _differs(one: Tree, two: Tree) -> bool:
    """Whether own tensors differ; those on one side alone are marked."""
    for side, other, word in ((one, two, "removed"), (two, one, "added")):
        names = {entry["name"] for entry in other["tensors"]}
        for entry in side["tensors"]:
            if entry["name"] not in names:
                entry["change"] = word
    return any("change" in entry for side in (one, two) for entry in side["tensors"])


# --------------------------------------------------------------------------- graphs


def _mark_drawings(one: Document, two: Document) -> set[str]:
    """Mark the boxes, and give the paths of the modules whose methods differ."""
    changed: set[str] = set()
    done: dict[tuple[int, int], bool] = {}
    for path, methods in one["methods of"].items():
        for name, number in methods.items():
            other = two["methods of"].get(path, {}).get(name)
            if other is None:
                continue
            if _mark_pair(one, two, number, other, done):
                changed.add(path)
    return changed


def _mark_pair(
    one: Document, two: Document, first: int, second: int, done: dict[tuple[int, int], bool]
) -> bool:
    """Mark two drawings and those of functions that both call; whether they themselves differ."""
    differ = False
    waiting = [(first, second)]
    while waiting:
        pair = waiting.pop()
        if pair not in done:
            areas = one["drawings"][pair[0]]["area"], two["drawings"][pair[1]]["area"]
            matched: list[tuple[Document, Document]] = []
            done[pair] = _mark_areas(*areas, matched)
            calls = [(a["call"], b["call"]) for a, b in matched if a["owner"] is None]
            waiting.extend((a, b) for a, b in calls if a is not None and b is not None)
        differ = differ or done[pair]
    return differ


def _mark_areas(one: Document, two: Document, matched: list[tuple[Document, Document]]) -> bool:
    first, second = one["boxes"], two["boxes"]
    matcher = difflib.SequenceMatcher(None, _keys(first), _keys(second), autojunk=False)
    differ = False
    for word, a, b, c, d in matcher.get_opcodes():
        pairs = list(zip(first[a:b], second[c:d], strict=False))
        if word != "equal":
            differ = True
            pairs = [(x, y) for x, y in pairs if x["kind"] == y["kind"]]
            paired = {id(box) for pair in pairs for box in pair}
            for box in first[a:b]:
                box["change"] = "changed" if id(box) in paired else "removed"
            for box in second[c:d]:
                box["change"] = "changed" if id(box) in paired else "added"
        for x, y in pairs:
            matched.append((x, y))
            for inner, other in zip(x["areas"], y["areas"], strict=False):
                differ = _mark_areas(inner, other, matched) or differ
    return differ


def _keys(boxes: Sequence[Document]) -> list[tuple[object, ...]]:
    return [
        (box["kind"], box["lines"][0], *map(tuple, box["texts"]), box["owner"]) for box in boxes
    ]


# --------------------------------------------------------------------------- tensors and code


def tensor_change(one: tuple[Tree, Tensor], two: tuple[Tree, Tensor]) -> None:
    """Compare two tensors of one name, and mark their entries if they differ."""
    (first, a), (second, b) = one, two
    if (first["dtype"], first["shape"]) != (second["dtype"], second["shape"]):
        first["change"] = second["change"] = "changed"
        return
    try:
        x, y = ((t.dequantize() if t.is_quantized else t)._array for t in (a, b))
    except Elsewhere:
        return  # without numbers of their own
    if x.tobytes() == y.tobytes():
        return
    first["change"] = second["change"] = "changed"
    kind = np.complex128 if x.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        away = np.abs(x.astype(kind) - y.astype(kind))
        first["largest difference"] = second["largest difference"] = float(np.nanmax(away))
        first["differ"] = second["differ"] = int(np.count_nonzero(away))


def _code(one: Document, two: Document) -> Iterator[dict[str, object]]:
    texts = [{s["name"]: s["lines"] for s in side["sources"]} for side in (one, two)]
    for name in sorted({*texts[0], *texts[1]}):
        found = difflib.unified_diff(
            texts[0].get(name, []),
            texts[1].get(name, []),
            one["name"],
            two["name"],
            lineterm="",
        )
        lines = list(found)
        if lines:
            yield {"name": name, "lines": lines}

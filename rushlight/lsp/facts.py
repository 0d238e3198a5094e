"""What is known of a file, as plain values that go from one process to another.

A place is `[line, column, end line, end column]`, lines and columns counted from 0, columns in
characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TypedDict

from ..cli.checked_file import Checked
from ..frontend.diagnostics.diagnostics import Diagnostic, Help
from ..frontend.sources.source import UNKNOWN, Span
from ..frontend.syntax.tree import Function as Tree
from ..ir.graphs.graph import Graph
from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ..typecheck.trees import typed
from .kept import Fix, FunctionFacts, Place, Told

__all__ = ["Facts", "facts_of", "no_facts", "stopped"]


class Facts(TypedDict):
    """What is known: `types` are those of expressions, with the file and place that defines them if
    that is known; `inlays` stand after parameters without annotation; `functions` are the names of
    compiled functions with their graphs."""

    diagnostics: list[Told]
    types: list[tuple[Place, str, tuple[str, Place] | None]]
    inlays: list[tuple[int, int, str]]
    functions: list[tuple[Place, str, str]]


def no_facts(*told: Told) -> Facts:
    """Nothing but diagnostics."""
    return {"diagnostics": list(told), "types": [], "inlays": [], "functions": []}


def facts_of(
    checked: Checked, path: str, known: Mapping[int, FunctionFacts] | None = None
) -> tuple[Facts, list[FunctionFacts]]:
    """What a check of a file found out about it, with what was known of functions by the lines of
    their `def`; and what there is of each function."""
    facts = no_facts(*(_diagnostic(each, path) for each in checked.diagnostics))
    if checked.stopped:
        text = f"the file stopped at {checked.stopped}"
        line = max(int(checked.stopped.rpartition(":")[2] or 1) - 1, 0)
        if not facts["diagnostics"]:
            facts["diagnostics"].append(stopped(text, [line, 0, line, 0]))
    found = dict(known or {})
    others: list[FunctionFacts] = []
    for function in checked.functions:
        if function.tree is None or not _is_in(function.tree.span, path):
            continue
        one = _of_function(function, path)
        if one is not None and one["line"] in found and function.owner is not None:
            others.append(one)  # a method of several modules
        elif one is not None:
            found[one["line"]] = one
    for one in (*found.values(), *others):
        facts["types"] += one["types"]
        facts["inlays"] += [each for each in one["inlays"] if each not in facts["inlays"]]
        facts["functions"] += one["functions"]
    return facts, list(found.values())


def _is_in(span: Span, path: str) -> bool:
    return span.source is not UNKNOWN.source and span.filename == path


def _place(span: Span) -> Place:
    whole = span.whole
    text, line = whole.text, whole.line - 1
    last = text.rpartition("\n")[2]
    end_line = line + text.count("\n")
    end = len(last) if end_line > line else whole.column + len(text)
    return [line, whole.column, end_line, end]


# ------------------------------------------------------------------------------- diagnostics


def stopped(text: str, place: Place) -> Told:
    """That a file could not be gone through."""
    return {
        "code": "file-stopped",
        "severity": "error",
        "message": text,
        "notes": [],
        "place": place,
        "related": [],
        "fixes": [],
    }


def _diagnostic(diagnostic: Diagnostic, path: str) -> Told:
    label = diagnostic.primary
    here = label is not None and _is_in(label.span, path)
    notes = [*diagnostic.notes, *(help.text for help in diagnostic.helps)]
    if label is not None and not here:
        notes.insert(0, f"at {label.span.filename}:{label.span.line}")
    said = diagnostic.message + (f"\n{label.text}" if label is not None and label.text else "")
    labels = [each for each in diagnostic.secondary if each.span.filename]
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": said,
        "notes": notes,
        "place": _place(label.span) if label is not None and here else [0, 0, 0, 0],
        "related": [(str(e.span.filename), _place(e.span), e.text) for e in labels],
        "fixes": [_fix(help) for help in diagnostic.helps if help.edits],
    }


def _fix(help: Help) -> Fix:
    edits = [(str(e.span.filename), _place(e.span), e.text) for e in help.edits]
    return {"title": help.text, "edits": edits, "sure": help.applicability == "machine"}


# ------------------------------------------------------------------------------------- types


def _of_function(function: Function, path: str) -> FunctionFacts | None:
    tree, body = function.tree, function.typed
    assert tree is not None
    if not isinstance(body, typed.TypedFunction) or not isinstance(function.graph, Graph):
        return None
    line = tree.name_span.line
    facts: FunctionFacts = {"line": line, "types": [], "inlays": [], "functions": [], "calls": []}
    facts["functions"].append((_place(tree.name_span), tree.name, str(function.graph)))
    definitions = _add_parameters(facts, tree, body)
    seen: set[tuple[int, ...]] = set()
    for part in _parts(body.body):
        if isinstance(part, typed.Assign):
            definitions[part.name] = part.span
            place = _place_of_target(part, path)
            if place is not None and (*place, id(part.type)) not in seen:
                seen.add((*place, id(part.type)))
                facts["types"].append((place, part.type.python, None))
        elif isinstance(part, typed.Temporary):  # stands for a statement, not for what is written
            continue
        elif isinstance(part, typed.Expr) and _is_in(part.span, path) and not part.type.is_live:
            place = _place(part.span)
            if (*place, id(part.type)) not in seen:
                seen.add((*place, id(part.type)))
                target = _definition(part, definitions, path)
                facts["types"].append((place, part.type.python, target))
        called = part.function.tree if isinstance(part, typed.FunctionCall) else None
        if called is not None and _is_in(called.span, path):
            facts["calls"].append(called.name_span.line)
    return facts


def _place_of_target(part: typed.Assign, path: str) -> Place | None:
    """Where the variable of an assignment is written; None if that is not for sure."""
    if not _is_in(part.span, path) or part.type.is_live:
        return None
    text, before = part.span.text, 0
    if text.startswith("for "):
        before = len("for ")
    if not re.match(rf"{re.escape(part.name)}\b", text[before:]):
        return None
    line, column, *_ = _place(part.span)
    return [line, column + before, line, column + before + len(part.name)]


def _add_parameters(facts: FunctionFacts, tree: Tree, body: typed.TypedFunction) -> dict[str, Span]:
    """Put in the types of parameters; gives where they are defined."""
    known = {parameter.name: parameter for parameter in body.parameters}
    definitions: dict[str, Span] = {}
    for parameter in tree.parameters:
        found = known.get(parameter.name)
        if found is None:
            continue
        definitions[parameter.name] = parameter.span
        place = _place(parameter.span)
        end = place[1] + len(parameter.name)
        facts["types"].append(([place[0], place[1], place[0], end], found.type.python, None))
        if parameter.annotation is None and not found.type.is_live:
            facts["inlays"].append((place[0], end, found.type.python))
    return definitions


def _parts(value: object) -> Iterator[object]:
    """The statements and expressions of a typed tree, in order."""
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
    elif isinstance(value, (typed.Statement, typed.Expr)) or _is_of_tree(value):
        inner = fields(value)  # type: ignore[arg-type]
        parts: Iterable[object] = (getattr(value, field.name) for field in inner)
        if isinstance(value, typed.Assign):  # what is assigned is read before
            yield from _parts(tuple(parts))
            yield value
        else:
            yield value
            yield from _parts(tuple(parts))


def _is_of_tree(value: object) -> bool:
    return is_dataclass(value) and type(value).__module__ == typed.__name__


def _definition(
    part: typed.Expr, variables: dict[str, Span], path: str
) -> tuple[str, Place] | None:
    """Where what an expression names is defined."""
    span: Span | None = None
    if isinstance(part, typed.Local):
        span = variables.get(part.name)
    elif isinstance(part, typed.FunctionCall):
        span = part.function.tree.name_span if part.function.tree is not None else None
    elif isinstance(part, (typed.MethodCall, typed.GetAttribute)):
        owner = part.object.type
        if isinstance(owner, ClassType):
            method = owner.methods.get(part.name)
            place = owner.place(part.name)
            span = method.tree.name_span if method is not None and method.tree else None
            span = span or (place.target if place is not None else None)
    if span is None or not span.filename:
        return None
    if span.filename != path and not Path(span.filename).is_file():
        return None
    return span.filename, _place(span)

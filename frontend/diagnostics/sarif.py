"""Diagnostics in SARIF 2.1.0, the form that code-scanning services read."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..sources.source import UNKNOWN, Span
from .codes import CODES
from .diagnostics import Diagnostic, Help, Label, sorted_by_place
from .edits import Edit
from .paths import shown

__all__ = ["render_sarif"]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(diagnostics: Iterable[Diagnostic]) -> str:
    """One SARIF log with one run; labels are related locations, edits fixes."""
    found = sorted_by_place(diagnostics)
    rules = list(dict.fromkeys(d.code for d in found))
    driver = {
        "name": "rushlight",
        "rules": [
            {"id": code, "shortDescription": {"text": CODES[code].line}}
            for code in rules
            if code in CODES
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each) for each in found],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1) + "\n"


def _result(diagnostic: Diagnostic) -> dict[str, object]:
    notes = [f"note: {note}" for note in diagnostic.notes]
    helps = [f"help: {help.text}" for help in diagnostic.helps]
    result: dict[str, object] = {
        "ruleId": diagnostic.code,
        "level": "warning" if diagnostic.severity == "warning" else "error",
        "message": {"text": "\n".join([diagnostic.message, *notes, *helps])},
    }
    if diagnostic.primary is not None and diagnostic.primary.span.source is not UNKNOWN.source:
        result["locations"] = [_location(diagnostic.primary)]
    related = [label for label in diagnostic.secondary if label.span.source is not UNKNOWN.source]
    if related:
        result["relatedLocations"] = [_location(label) for label in related]
    fixes = [_fix(help) for help in diagnostic.helps if help.edits]
    if fixes:
        result["fixes"] = fixes
    return result


def _location(label: Label) -> dict[str, object]:
    place = {"artifactLocation": _artifact(label.span), "region": _region(label.span)}
    location: dict[str, object] = {"physicalLocation": place}
    if label.text:
        location["message"] = {"text": label.text}
    return location


def _artifact(span: Span) -> dict[str, str]:
    return {"uri": shown(span.filename).replace("\\", "/")}


def _region(span: Span) -> dict[str, int]:
    whole = span.whole
    return {
        "startLine": whole.line,
        "startColumn": whole.column + 1,
        "endLine": whole.end_line,
        "endColumn": whole.end_column + 1,
    }


def _fix(help: Help) -> dict[str, object]:
    """All edits of one help; SARIF groups them by file."""
    by_file: dict[str, list[Edit]] = {}
    for edit in help.edits:
        by_file.setdefault(_artifact(edit.span)["uri"], []).append(edit)
    changes = [
        {
            "artifactLocation": {"uri": uri},
            "replacements": [
                {"deletedRegion": _region(e.span), "insertedContent": {"text": e.text}}
                for e in edits
            ],
        }
        for uri, edits in by_file.items()
    ]
    return {"description": {"text": help.text}, "artifactChanges": changes}

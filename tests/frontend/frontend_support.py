"""What the tests of this folder share: case files, and diagnostics read back from JSON."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

from rushlight.frontend.diagnostics.diagnostics import (
    Diagnostic,
    Edit,
    Frame,
    Help,
    Label,
    ValueNote,
)
from rushlight.frontend.sources.source import Source, Span

CASES = Path(__file__).parent / "cases"


def load_module(path: Path) -> ModuleType:
    """The module in a file, made without touching sys.modules or sys.path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sections(path: Path) -> dict[str, str]:
    """The parts of a case file, by their headings."""
    parts: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("=== "):
            name = line[4:].strip()
            parts[name] = ""
        else:
            parts[name] += line
    return parts


def marked(text: str, part: str, *, filename: str | None = "m.py", nth: int = 0) -> Span:
    """The span of the nth occurrence of `part` in `text`."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(part, at + 1)
    return Span(Source(text, filename), at, at + len(part))


class Reader:
    """Makes diagnostics of their JSON form, with the program's text as their source."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.sources: dict[str, Source] = {}

    def source(self, file: str) -> Source:
        return self.sources.setdefault(file, Source(self.program, file))

    def diagnostic(self, data: dict[str, Any]) -> Diagnostic:
        labels = [(self.label(span), span["primary"]) for span in data["spans"]]
        (primary,) = (label for label, is_primary in labels if is_primary)
        return Diagnostic(
            data["code"],
            data["message"],
            primary,
            data["function"],
            tuple(label for label, is_primary in labels if not is_primary),
            tuple(data["notes"]),
            tuple(ValueNote(v["expression"], v["value"]) for v in data["values"]),
            tuple(self.frame(frame) for frame in data["stack"]),
            tuple(
                Help(h["message"], tuple(map(self.edit, h["edits"])), h["applicability"])
                for h in data["helps"]
            ),
            data["torch_message"],
            severity=data["severity"],
        )

    def label(self, data: dict[str, Any]) -> Label:
        source = self.source(data["file"])
        start, end = (
            source.offset(data[at]["line"] - 1, data[at]["column"] - 1) for at in ("start", "end")
        )
        return Label(Span(source, start, end), data["label"])

    def frame(self, data: dict[str, Any]) -> Frame:
        source = self.source(data["file"])
        if data["text"] not in self.program:  # a library's line
            source = Source(data["text"], data["file"], data["line"])
            return Frame(data["function"], Span(source, 0, len(data["text"])))
        start = source.text.index(data["text"], source.line_starts[data["line"] - 1])
        return Frame(data["function"], Span(source, start, start + len(data["text"])))

    def edit(self, data: dict[str, Any]) -> Edit:
        source, line = self.source(data["file"]), data["line"] - 1
        start = source.line_starts[line]
        if not data["remove"]:
            return Edit(Span(source, start, start), "\n".join(data["insert"]) + "\n")
        last = line + len(data["remove"]) - 1
        end = source.offset(last, len(source.lines[last]))
        assert source.text[start:end] == "\n".join(data["remove"])
        return Edit(Span(source, start, end), "\n".join(data["insert"]))


def read_diagnostics(program: str, lines: str) -> list[Diagnostic]:
    """The diagnostics of a case file's JSON section."""
    reader = Reader(program)
    return [reader.diagnostic(json.loads(line)) for line in lines.splitlines()]

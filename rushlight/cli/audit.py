"""`rushlight audit`: what an archive could do, before it is trusted."""

from __future__ import annotations

import argparse

from ..serialization.archives.audit import Audit, audit
from ..serialization.loading.operator_kinds import KINDS
from .failure import BAD_INPUT
from .json_lines import tell_data
from .several import ARCHIVES, each_file
from .speech import tell_lines

__all__ = ["STATUS", "execute"]

STATUS = {"": 0, "note": 0, "odd": 1, "unreadable": BAD_INPUT, "danger": 3}
"""Exit status by the worst finding."""


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    return each_file(arguments.files, lambda path: _tell(path, arguments.json), ARCHIVES)


def _tell(path: str, as_json: bool) -> int:
    found = audit(path, path)
    if as_json:
        tell_data(_as_json(found))
    else:
        tell_lines(_as_lines(found))
    return STATUS[found.severity]


def _as_json(found: Audit) -> dict[str, object]:
    return {
        "file": found.title,
        "kind": found.kind,
        "severity": found.severity or "none",
        "findings": [
            {"severity": f.severity, "code": f.code, "text": f.text} for f in found.findings
        ],
        "operators": {kind: found.operators[kind] for kind in KINDS if kind in found.operators},
        "classes": found.classes,
        "records": found.records,
    }


def _operators(count: int) -> str:
    return f"{count} operator" if count == 1 else f"{count} operators"


def _as_lines(found: Audit) -> list[str]:
    lines = [f"{found.title}: {found.kind or 'unreadable'}, {found.records} records"]
    for kind in KINDS:
        names = found.operators.get(kind)
        if not names:
            continue
        shown = ", ".join(names) if kind != "computing" else _operators(len(names))
        lines.append(f"  {kind + ':':11} {shown}")
    lines.extend(f"  {f.severity + ':':11} {f.text}" for f in found.findings)
    if not found.findings:
        lines.append("  nothing found")
    return lines

"""`rushlight what`: say what kind of file something is."""

from __future__ import annotations

import argparse

from ..serialization.files.identify import identify
from .json_lines import tell_data
from .several import each_file
from .speech import tell_lines

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    return each_file(arguments.files, lambda path: _tell(path, arguments.json))


def _tell(path: str, as_json: bool) -> int:
    kind = identify(path)
    if as_json:
        tell_data({"file": path, "kind": kind.name, "is": kind.description, "hint": kind.hint})
    else:
        tell_lines([f"{path}: {kind.description}" + (f"; {kind.hint}" if kind.hint else "")])
    return 0

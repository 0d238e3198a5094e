"""`rushlight what`: say what kind of file something is."""

from __future__ import annotations

import argparse

from ..serialization.files.identify import identify
from .json_lines import add_json, tell_data
from .several import each_file
from .speech import tell_lines

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Say of each file what it is and what can be done with it; nothing is loaded."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, or a folder of files")
    add_json(parser)
    parser.set_defaults(execute=execute)


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

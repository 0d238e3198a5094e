"""`rushlight what`: say what kind of file something is."""

from __future__ import annotations

import argparse
import json

from ..serialization.files.identify import identify
from .failure import BAD_INPUT
from .speech import complain, tell, tell_lines

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Say of each file what it is and what can be done with it; nothing is loaded."
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print JSON, an object a file")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    status = 0
    for path in arguments.files:
        try:
            kind = identify(path)
        except OSError as error:
            complain(f"{path}: {error.strerror or error}")
            status = BAD_INPUT
            continue
        if arguments.json:
            told = {"file": path, "kind": kind.name, "is": kind.description, "hint": kind.hint}
            tell(json.dumps(told))
        else:
            hint = f"; {kind.hint}" if kind.hint else ""
            tell_lines([f"{path}: {kind.description}{hint}"])
    return status

"""`rushlight lsp`: a language server for editors."""

from __future__ import annotations

import argparse

from .failure import CommandError

__all__ = ["add", "execute"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Answer an editor in the language server protocol over standard input and output: "
        "diagnostics as one types, types under the cursor, definitions, quick fixes, types of "
        "parameters without annotation, graphs.  A file is checked as `rushlight check` does, "
        "by running it."
    )
    parser.add_argument("--stdio", action="store_true", help="taken; there is no other way")
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        CommandError: pygls is not installed.
    """
    try:
        from ..lsp.server import serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise CommandError("lsp needs pygls: pip install rushlight[lsp]") from None
    serve()
    return 0

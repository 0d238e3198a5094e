"""`rushlight lsp`: a language server for editors."""

from __future__ import annotations

import argparse

from .failure import CommandError

__all__ = ["execute"]


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

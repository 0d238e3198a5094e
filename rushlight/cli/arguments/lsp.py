"""The arguments of `rushlight lsp`."""

from __future__ import annotations

import argparse

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Answer an editor in the language server protocol over standard input and output: "
        "diagnostics as one types, types under the cursor, definitions, quick fixes, types of "
        "parameters without annotation, graphs.  A file is checked as `rushlight check` does, "
        "by running it."
    )
    parser.add_argument("--stdio", action="store_true", help="taken; there is no other way")

"""The arguments of `rushlight audit`."""

from __future__ import annotations

import argparse

from .options import add_json

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "List the operators an archive uses by kind, the limits it hits and the oddities of "
        "its container. Exit status 0: nothing; 1: oddities; 2: it cannot be read; 3: it would "
        "reach outside of the program or go beyond the limits."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="an archive, or a folder of them")
    add_json(parser)

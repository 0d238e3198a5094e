"""The arguments of `rushlight diff`."""

from __future__ import annotations

import argparse

from .options import add_json, add_trust

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Compare the code, constants and weights of two archives, or of those of the same names in "
        "two folders. Exit status 1 if they differ."
    )
    parser.add_argument("first", metavar="A")
    parser.add_argument("second", metavar="B")
    add_json(parser)
    add_trust(parser)

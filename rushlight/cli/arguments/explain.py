"""The arguments of `rushlight explain`."""

from __future__ import annotations

import argparse

from .options import add_json

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Explain an error code such as undefined-name, also found by torch's sentence; "
        "without one, list all codes."
    )
    parser.add_argument("code", nargs="?", metavar="CODE")
    parser.add_argument(
        "--op", metavar="NAME", help="the signatures of an operator, such as torch.add"
    )
    add_json(parser)

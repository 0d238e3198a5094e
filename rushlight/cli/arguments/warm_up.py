"""The arguments of `rushlight warm-up`."""

from __future__ import annotations

import argparse

from .options import add_json

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Compile the kernels of common operators and keep them for later processes; "
        "what is kept already is not made again."
    )
    add_json(parser)

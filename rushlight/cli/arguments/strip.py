"""The arguments of `rushlight strip`."""

from __future__ import annotations

import argparse

from .options import add_force

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "List the operators that some archives need, and with --output write a bundle: one file "
        "that runs these archives by `python BUNDLE.pyz run ARCHIVE INPUT...` where only Python "
        "and NumPy are. The archives are run here to see what they need, and are trusted."
    )
    parser.add_argument(
        "archives", nargs="+", metavar="ARCHIVE", help="a TorchScript archive (.pt)"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="WORDS",
        help="inputs as `rushlight run` takes them, in one word: --input '[[1.0, 2.0]]'; the first "
        "for the first archive, and so on",
    )
    parser.add_argument("-o", "--output", metavar="BUNDLE.pyz", help="write a bundle there")
    add_force(parser)

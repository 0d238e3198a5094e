"""The arguments of `rushlight compile`."""

from __future__ import annotations

import argparse

from .options import add_archive, add_force

__all__ = ["add"]


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Compile the `forward` of an archive, frozen and in evaluation mode, to one C function "
        "over plain buffers: NAME.o, NAME.h and NAME_example.c, which need neither Python nor this "
        "library. Sizes of arguments are fixed, or numbers between bounds that the function takes. "
        "The code is for the machine at hand."
    )
    add_archive(parser)
    parser.add_argument("-o", "--output", required=True, metavar="NAME", help="path without ending")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SIZES[:DTYPE]",
        help="the sizes of an argument, such as 1,3,224,224 or 8:int64; batch=1..8,3,32,32 for a "
        "size between bounds, which others may name (batch,10); or an .npy file, whose elements "
        "are the example then; one for each argument, in order",
    )
    add_force(parser)

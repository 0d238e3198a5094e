"""Inputs without data, on the command line: their sizes and dtypes."""

from __future__ import annotations

import argparse

from .dtypes import named_dtype

__all__ = ["add_sizes"]


def add_sizes(parser: argparse.ArgumentParser) -> None:
    """Options for the sizes and dtypes of the inputs that a model is to run on."""
    parser.add_argument(
        "--input",
        action="append",
        type=_sizes,
        metavar="SIZES",
        help="the sizes of an input, such as 1,3,224,224; once for each input",
    )
    parser.add_argument(
        "--dtype",
        action="append",
        type=named_dtype,
        metavar="DTYPE",
        help="the dtype of all inputs, or once for each; float32 if none is given",
    )


def _sizes(text: str) -> list[int]:
    """`1,3,224,224` as numbers."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"sizes are numbers divided by commas, not {text!r}")
    return [int(part) for part in parts]

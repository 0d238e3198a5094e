"""Options that several commands have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...ops.memory.dtype import DType

__all__ = [
    *("add_archive", "add_force", "add_json", "add_method", "add_sizes", "add_trust"),
    "named_dtype",
]


def add_archive(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names an archive."""
    parser.add_argument("archive", help="a TorchScript archive (.pt)")


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses a method."""
    parser.add_argument(
        "--method", default="forward", help="the method, also of a submodule: encoder.forward"
    )


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the option that says whether an archive's code is trusted."""
    parser.add_argument(
        "--trust",
        choices=("none", "full"),
        default="none",
        help="none (the default): refuse code that reaches files, processes or networks, and bound "
        "its instructions, memory and time; full: run it as it is, faster",
    )


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option that lets files be replaced."""
    parser.add_argument(
        "--force", action="store_true", help="replace files that are there; else nothing is written"
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option for programs that read what a command prints; `schemas.py` describes it."""
    parser.add_argument("--json", action="store_true", help="print JSON, an object a line")


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


def named_dtype(text: str) -> DType:
    """The dtype of a word of the command line."""
    from ...ops.memory.dtype import DTYPES  # with the option: all operators come with it

    found = DTYPES.get(text.removeprefix("torch."))
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no dtype {text}")
    return found

"""Options that several commands have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ...ops.memory.dtype import DType

__all__ = [
    "Sized",
    *("add_archive", "add_force", "add_json", "add_method", "add_sizes", "add_trust"),
    *("named_dtype", "parted"),
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


class Sized(NamedTuple):
    """An input by its sizes; `dtype` is None where none is written."""

    sizes: list[int | str]
    dtype: DType | None

    @property
    def numbers(self) -> list[int]:
        """The sizes; 1 for one that has a name."""
        return [1 if isinstance(size, str) else size for size in self.sizes]


def add_sizes(parser: argparse.ArgumentParser, what: str = "", *, named: bool = False) -> None:
    """Options for the sizes and dtypes of the inputs that a model is to run on; sizes may be
    `named`, which leaves them open."""
    example = "batch,3,224,224 (a name is a size that varies)" if named else "1,3,224,224"
    parser.add_argument(
        "--input",
        action="append",
        type=_named if named else _sized,
        metavar="SIZES[:DTYPE]",
        help=f"{what}the sizes of an input, such as {example} or 8:int64; once for each input",
    )
    parser.add_argument(
        "--dtype",
        action="append",
        type=named_dtype,
        metavar="DTYPE",
        help=f"{what}the dtype of inputs that name none, of all or once for each; else float32",
    )


def parted(text: str) -> tuple[list[str], str | None]:
    """`8,n:int64` as the words of its sizes and that of its dtype, None if there is none."""
    sizes, colon, dtype = text.partition(":")
    return [each.strip() for each in sizes.split(",") if each.strip()], dtype if colon else None


def _sized(text: str) -> Sized:
    """`1,3,224,224` as numbers, with a dtype or without."""
    words, dtype = parted(text)
    if not all(word.isdecimal() for word in words):
        sizes = text.partition(":")[0]
        raise argparse.ArgumentTypeError(f"sizes are numbers divided by commas, not {sizes!r}")
    return _made(words, dtype)


def _named(text: str) -> Sized:
    """`batch,3,224,224`: sizes are numbers or names."""
    words, dtype = parted(text)
    for word in words:
        if not (word.isidentifier() or word.isdecimal()):
            raise argparse.ArgumentTypeError(f"a size is a number or a name: {word}")
    return _made(words, dtype)


def _made(words: list[str], dtype: str | None) -> Sized:
    sizes = [int(word) if word.isdecimal() else word for word in words]
    return Sized(sizes, None if dtype is None else named_dtype(dtype))


def named_dtype(text: str) -> DType:
    """The dtype of a word of the command line."""
    from ...ops.memory.dtype import DTYPES  # with the option: all operators come with it

    found = DTYPES.get(text.removeprefix("torch."))
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no dtype {text}")
    return found

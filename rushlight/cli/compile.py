"""`rushlight compile`: an object file and a C header of an archive's `forward`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

import numpy as np

from ..ahead.c_files import c_name
from ..ahead.compiled import compile_module
from ..ahead.known import CannotCompile
from ..ops.memory.dtype import Array
from .archive import open_archive
from .atomic import add_force, refuse_existing, replacing
from .failure import CommandError
from .inputs import read_array
from .speech import tell

__all__ = ["add", "execute"]

_DTYPES: Final = "float32 float64 int64 int32 int16 int8 uint8 bool".split()


def add(parser: argparse.ArgumentParser) -> None:
    """Describe the command to argparse."""
    parser.description = (
        "Compile the `forward` of an archive, frozen and in evaluation mode, to one C function "
        "over plain buffers: NAME.o, NAME.h and NAME_example.c, which need neither Python nor this "
        "library. The sizes of the arguments are fixed. The code is for the machine at hand."
    )
    parser.add_argument("archive", help="a TorchScript archive (.pt)")
    parser.add_argument("-o", "--output", required=True, metavar="NAME", help="path without ending")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="SIZES[:DTYPE]",
        help="the sizes of an argument, such as 1,3,224,224 or 8:int64; or an .npy file, whose "
        "elements are the example then; one for each argument, in order",
    )
    add_force(parser)
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    target = Path(arguments.output)
    name = c_name(target.name)
    paths = [target.with_name(target.name + ending) for ending in (".o", ".h", "_example.c")]
    refuse_existing(paths, arguments.force)
    examples = [_example(word) for word in arguments.input]
    module = open_archive(arguments.archive)
    try:
        made = compile_module(module, examples, name, Path(arguments.archive).name)
    except CannotCompile as error:
        raise CommandError(f"{arguments.archive}: {error}") from None
    contents = (made.object, made.header.encode(), made.example.encode())
    for path, content in zip(paths, contents, strict=True):
        with replacing(path) as file:
            file.write(content)
    sizes = f"{len(made.object) / 1e6:.2f} MB, of which {made.constants / 1e6:.2f} MB constants"
    tell(f"{paths[0]}: {sizes}; a call needs {made.workspace / 1e6:.2f} MB")
    tell(f"cc {paths[2]} {paths[0]} -lm -o {target}_example")
    return 0


def _example(word: str) -> object:
    """An array of some sizes, or of a file."""
    if word.endswith(".npy"):
        return _checked(word, read_array(word))
    sizes, _, dtype = word.partition(":")
    try:
        shape = tuple(int(size) for size in sizes.split(",") if size.strip())
    except ValueError:
        shape = (-1,)
    if dtype and dtype not in _DTYPES:
        raise CommandError(f"--input {word}: the dtype is one of {', '.join(_DTYPES)}")
    if any(size < 1 for size in shape):
        raise CommandError(f"--input {word}: sizes are numbers from 1 on, such as 1,3,224,224")
    kind = np.dtype(dtype or "float32")
    if kind.kind != "f":
        return np.zeros(shape, kind)
    return np.random.default_rng(0).standard_normal(shape).astype(kind)


def _checked(word: str, array: Array) -> Array:
    if str(array.dtype) not in _DTYPES or not array.size:
        raise CommandError(f"--input {word}: elements of {array.dtype} cannot be compiled")
    return array

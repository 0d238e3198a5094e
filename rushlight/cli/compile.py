"""`rushlight compile`: an object file and a C header of an archive's `forward`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import Final

from ..ahead.c_files import c_name
from ..ahead.compiled import compile_module
from ..ahead.known import CannotCompile
from ..ahead.sizes import Described, Size
from ..ops.memory.dtype import Array
from .archive import open_archive
from .arguments.options import parted
from .atomic import refuse_existing, replacing
from .failure import CommandError
from .inputs import read_array
from .speech import tell

__all__ = ["execute"]

_DTYPES: Final = "float32 float64 int64 int32 int16 int8 uint8 bool".split()


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    target = Path(arguments.output)
    name = c_name(target.name)
    paths = [target.with_name(target.name + ending) for ending in (".o", ".h", "_example.c")]
    refuse_existing(paths, arguments.force)
    named: dict[str, Size] = {}
    described = [_argument(word, named) for word in arguments.input]
    module = open_archive(arguments.archive)
    try:
        made = compile_module(module, described, name, Path(arguments.archive).name)
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


def _argument(word: str, named: dict[str, Size]) -> object:
    """What an argument is: an array of a file, or sizes, some of which may have names."""
    if word.endswith(".npy"):
        return _checked(word, read_array(word))
    given, dtype = parted(word)
    if dtype and dtype not in _DTYPES:
        raise CommandError(f"--input {word}: the dtype is one of {', '.join(_DTYPES)}")
    return Described(tuple(_size(word, each, named) for each in given), dtype or "float32")


_BOUNDED: Final = re.compile(r"(?:([a-z]\w*)=)?([0-9]+)\.\.([0-9]+)", re.ASCII | re.IGNORECASE)


def _size(word: str, text: str, named: dict[str, Size]) -> int | Size:
    """A size: a number, bounds, or the name of what has bounds."""
    if text in named:
        return named[text]
    if text.isascii() and text.isdecimal() and int(text) > 0:
        return int(text)
    found = _BOUNDED.fullmatch(text)
    if found is None:
        raise CommandError(
            f"--input {word}: sizes are numbers from 1 on, such as 1,3,224,224, "
            "or bounds, such as batch=1..8"
        )
    name = found[1] or f"size_{len(named) + 1}"
    size = Size(name, int(found[2]), int(found[3]))
    if not 1 <= size.low <= size.high:
        raise CommandError(f"--input {word}: {text} are no bounds from 1 on")
    if named.setdefault(name, size) != size:
        raise CommandError(f"--input {word}: `{name}` has other bounds before")
    return size


def _checked(word: str, array: Array) -> Array:
    if str(array.dtype) not in _DTYPES or not array.size:
        raise CommandError(f"--input {word}: elements of {array.dtype} cannot be compiled")
    return array

"""`save` and `load`, also of flatbuffers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from ..frontend.diagnostics.exceptions import trimmed
from ..interpreter.values.objects import ScriptObject
from ..map_location import check_location, means_meta
from ..serialization.archives.load import load_archive
from ..serialization.files.limits import DEFAULT_LIMITS, Limits
from ..serialization.mobile.info import flatbuffer_info
from .function import ScriptFunction, ScriptMethod
from .module import ScriptModule, wrap

__all__ = [
    "get_flatbuffer_module_info",
    "jit_module_from_flatbuffer",
    "load",
    "save",
    "save_jit_module_to_flatbuffer",
]

File = str | Path | IO[bytes]

_NO_SHAPES = "Cannot restore shapes as no traced inputs were stored"


def save(
    m: ScriptModule | ScriptFunction, f: File, _extra_files: Mapping[str, str | bytes] | None = None
) -> None:
    """Write a scripted module or function as a TorchScript archive.

    A file that is there is replaced when all is written, or stays as it was.

    Raises:
        OSError: the file cannot be written.
    """
    with trimmed():
        m.save(f, _extra_files)


def load(
    f: File,
    map_location: object = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
    *,
    trust: str = "full",
    limits: Limits = DEFAULT_LIMITS,
    mmap: bool = False,
) -> ScriptModule:
    """Open a TorchScript archive: a path, or a file object opened for reading bytes.

    Nothing in the file is executed or imported.  `_extra_files` names extra records to read; their
    contents are put into it.

    With `_restore_shapes` the graphs of methods that were traced tell the sizes and dtypes of what
    they were traced with, as far as the file does.

    With `trust="none"` all code is compiled at once, operators that reach files, processes or
    networks are refused, and every call is bounded (`limits.running`: instructions, memory,
    seconds).  `limits` bounds what the file may ask for in any case.

    The file is read, and may be changed or removed as soon as `load` is done.  With `mmap` the
    weights stay in the file at a path, where processes share them; their checksums are compared
    now.  As long as the module lives nobody may write into that file then, and the system kills
    this process if somebody cuts it off (replacing it by another file does no harm).

    `map_location="meta"` reads no weights: the module's tensors have sizes and dtypes alone.  With
    any `map_location` what code and attributes name of devices that are not here, as in traces made
    on a card, moves with the weights; without, the weights alone are moved to the CPU.

    Raises:
        RuntimeError: it is no TorchScript archive (the message says what it is), is damaged, or
            uses operators that do not exist here (all are named).
        ValueError: there is no such file, or it is to be mapped and not at a path.
    """
    if trust not in ("full", "none"):
        raise ValueError(f'trust is "full" or "none", not {trust!r}')
    check_location(map_location, "meta")
    with trimmed():
        if isinstance(f, str | Path) and not Path(f).exists():
            raise ValueError(f"The provided filename {f} does not exist")
        examples: dict[str, list[object]] | None = {} if _restore_shapes else None
        without_data, trusted = means_meta(map_location), trust != "none"
        made = load_archive(
            f, _extra_files, limits, trusted, mmap, without_data=without_data,
            only_here=map_location is not None, examples=examples,
        )  # fmt: skip
        if examples is not None:
            _restore_shapes_of(made, examples)
        return wrap(made)


def _restore_shapes_of(target: ScriptObject, examples: Mapping[str, list[object]]) -> None:
    """Have the graphs of methods tell what follows from the arguments of their traces."""
    if not examples:
        warnings.warn(_NO_SHAPES, stacklevel=3)
    note = import_module("rushlight._C.propagation").PROPAGATIONS[
        "_jit_pass_complete_shape_analysis"
    ]
    for name, values in examples.items():
        method = target.cls.methods.get(name)
        if method is None:
            raise RuntimeError(
                f"the file tells what `{name}` was traced with, and has no such method"
            )
        note(ScriptMethod(target, method).graph, values, False)


def jit_module_from_flatbuffer(f: File) -> ScriptModule:
    """The module of a flatbuffer: a path, or a file object opened for reading bytes.

    Raises: as `load`.
    """
    return load(f)


def save_jit_module_to_flatbuffer(
    m: ScriptModule, f: File, _extra_files: Mapping[str, object] | None = None
) -> None:
    """Write a scripted module as a flatbuffer, which `load` and the lite interpreter open.

    Raises:
        RuntimeError: the module does what the lite interpreter cannot.
        OSError: the file cannot be written.
    """
    m._save_for_lite_interpreter(f, _extra_files, _use_flatbuffer=True)


def get_flatbuffer_module_info(path_or_file: File) -> dict[str, object]:
    """What a flatbuffer says of itself: the versions of its bytecode and operators, the names of
    its functions and types, and how many arguments each operator gets.

    Raises:
        RuntimeError: it is damaged.
    """
    with trimmed():
        return flatbuffer_info(path_or_file)

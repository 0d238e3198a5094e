"""`rushlight convert`: an archive in another form."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..serialization.atomic_file import atomic_file
from ..serialization.container import ArchiveReader
from .archive import add_trust, open_archive
from .failure import CommandError
from .progress import progress

__all__ = ["add", "execute"]


def add(commands: Any) -> None:
    """Describe the command to argparse."""
    parser = commands.add_parser(
        "convert",
        help="write an archive in another form",
        description=(
            "Write an archive in the form the name of the target asks for: .ptl for the lite "
            "interpreter, .ff for the same in a flatbuffer, .pt for an ordinary archive, .npz for "
            "the weights as NumPy arrays, .safetensors for the weights with the model's code "
            "beside them as Python source, .py for that source alone. A file that is there is "
            "replaced when all is written."
        ),
    )
    parser.add_argument("source", metavar="ARCHIVE")
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_trust(parser)
    parser.set_defaults(execute=execute)


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    target = Path(arguments.target)
    make = _FORMS.get(target.suffix)
    if make is None:
        known = ", ".join(_FORMS)
        raise CommandError(f"{target}: the name must end with one of {known}")
    module = open_archive(arguments.source, arguments.trust)
    try:
        written = make(module, arguments.source, target)
    except OSError as error:
        raise CommandError(f"{target}: {error.strerror or error}") from None
    if arguments.json:
        print(json.dumps({"source": arguments.source, "written": list(map(str, written))}))
    else:
        print("\n".join(f"wrote {path}" for path in written))
    return 0


def _lite(module: Any, source: str, target: Path) -> list[Path]:
    module._save_for_lite_interpreter(str(target), _use_flatbuffer=target.suffix == ".ff")
    return [target]


def _archive(module: Any, source: str, target: Path) -> list[Path]:
    module.save(str(target))
    return [target]


def _arrays(module: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The weights by name; a quantized tensor as its numbers, with scale and zero point."""
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for name, tensor in module.state_dict().items():
        if tensor.is_quantized:
            arrays[f"{name}.int_repr"] = tensor.int_repr()._array
            scale, zero_point = tensor._array.quantizer.numbers
            arrays[f"{name}.scale"] = np.asarray(scale)
            arrays[f"{name}.zero_point"] = np.asarray(zero_point)
        else:
            arrays[name] = tensor._array
    return arrays


def _npz(module: Any, source: str, target: Path) -> list[Path]:
    arrays = {}
    for name, array in progress(_arrays(module).items(), "reading"):
        arrays[name] = array.astype(np.float32) if array.dtype.isbuiltin != 1 else array
    if not arrays:
        raise CommandError(f"{source}: there are no weights")
    with atomic_file(target) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    return [target]


_SAFE_DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "bool": "BOOL",
    "complex64": "C64",
}
"""The names that safetensors gives to the types of elements."""


def _safetensors(module: Any, source: str, target: Path) -> list[Path]:
    arrays = {name: np.array(a, order="C", copy=None) for name, a in _arrays(module).items()}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, array in arrays.items():
        kind = _SAFE_DTYPES.get(array.dtype.name)
        if kind is None:
            raise CommandError(f"{target}: safetensors has no elements of {array.dtype.name}")
        ends = [place, place + array.nbytes]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": ends}
        place = ends[1]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with atomic_file(target) as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in progress(arrays.values(), "writing"):
            file.write(array.tobytes())
    return [target, *_source(module, source, target.with_suffix(".py"))]


def _source(module: Any, source: str, target: Path) -> list[Path]:
    """The code files of the archive one after the other, the root's class named first."""
    with ArchiveReader(source) as archive:
        records = [r for r in archive.records("code/") if r.endswith(".py")]
        parts = [
            f"# The code of {Path(source).name}; its root is {module._c.cls.qualified_name}.\n"
        ]
        for record in sorted(records):
            text = archive.read(record).decode("utf-8", "replace")
            parts.append(f"\n\n# {record}\n\n{text}")
    with atomic_file(target) as file:
        file.write("".join(parts).encode())
    return [target]


_FORMS: dict[str, Callable[[Any, str, Path], list[Path]]] = {
    ".ptl": _lite,
    ".ff": _lite,
    ".pt": _archive,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".py": _source,
}

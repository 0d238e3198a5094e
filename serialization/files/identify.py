"""What kind of file is this?

`identify` looks at a file's first and last bytes and, for a zip, at the names in its directory.  It
never unpickles anything and never fails on content: what it does not know is `unknown`.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from .file_bytes import OpenedFile

__all__ = ["FileKind", "MOBILE", "MOBILE_FLATBUFFER", "TORCHSCRIPT", "identify"]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file: a slug, a phrase that completes "it is …", and what to do with it."""

    name: str
    description: str
    hint: str = ""


_CONVERT = "open it where PyTorch is installed, script the model and save it with `torch.jit.save`"
_WEIGHTS = (
    "it holds tensors without a program: build the module, then give it what `load` reads of the "
    "file, with `load_state_dict`; `torch.jit.save` writes programs"
)

TORCHSCRIPT = FileKind("torchscript", "a TorchScript archive", "load it with `jit.load`")
MOBILE = FileKind(
    "mobile",
    "a TorchScript archive for the lite interpreter (`.ptl`)",
    "load it with `jit.load` if it has code files",
)
MOBILE_FLATBUFFER = FileKind(
    "mobile-flatbuffer",
    "a TorchScript module for the lite interpreter in a flatbuffer (`.ff`)",
    "load it with `jit.load` if it has code files",
)
STATE_DICT = FileKind("state-dict", "a `torch.save` file that holds tensors only", _WEIGHTS)
PICKLED_MODULE = FileKind(
    "pickled-module",
    "a `torch.save` file that holds a pickled Python object, such as a whole `nn.Module`",
    f"its program is Python source elsewhere; {_CONVERT}",
)
LEGACY_PICKLE = FileKind(
    "legacy-pickle", "a `torch.save` file in the format before PyTorch 1.6", _WEIGHTS
)
LEGACY_TAR = FileKind(
    "legacy-tar", "a `torch.save` file in the tar format before PyTorch 0.1.10", _CONVERT
)
LEGACY_TORCHSCRIPT = FileKind(
    "legacy-torchscript",
    "a TorchScript archive in the `model.json` format before PyTorch 1.3",
    "load it with `jit.load`",
)
EXPORTED = FileKind(
    "exported-program",
    "an exported program (`torch.export.save`, `.pt2`)",
    "it holds an exported graph, not TorchScript; script the model and save that",
)
_IMPORT = "`torch.package.PackageImporter` opens it if you trust it, for its Python runs then"
PACKAGE = FileKind("torch-package", "a `torch.package` archive", _IMPORT)
SCRIPT_PACKAGE = FileKind(
    "torch-package-scripted",
    "a `torch.package` archive that holds TorchScript",
    f"load it with `jit.load`, if it holds one scripted module; {_IMPORT}",
)
SAFETENSORS = FileKind("safetensors", "a safetensors file: tensors without a program", _WEIGHTS)
ONNX = FileKind("onnx", "an ONNX model", "run it with an ONNX runtime")
NPY = FileKind("npy", "a NumPy array (`.npy`)", "load it with `numpy.load`")
NPZ = FileKind("npz", "NumPy arrays (`.npz`)", "load it with `numpy.load`")
GIT_LFS = FileKind(
    "git-lfs", "a git-lfs pointer, not the file itself", "fetch the file with `git lfs pull`"
)
HTML = FileKind(
    "html",
    "a web page, probably an error or login page saved in place of the file",
    "download the file again and look at what the server sent",
)
XML = FileKind(
    "xml",
    "an XML document, probably a server's error message saved in place of the file",
    "download the file again and look at what the server sent",
)
JSON = FileKind("json", "a JSON document", "")
GZIP = FileKind("gzip", "a gzip-compressed file", "unpack it first, for example with `gunzip`")
HDF5 = FileKind("hdf5", "an HDF5 file", "")
EMPTY = FileKind("empty", "an empty file", "download or write it again")
TRUNCATED = FileKind(
    "truncated-zip",
    "the beginning of a zip file, cut off before its end",
    "copy or download it again, and compare the sizes",
)
PICKLE = FileKind("pickle", "a Python pickle", _CONVERT)
SERVED = FileKind(
    "torchserve",
    "a model archive of TorchServe (`.mar`), a zip around a model and its handler",
    "unzip it, and open the model that lies in it",
)
ZIP = FileKind("zip", "a zip file, but not one that PyTorch wrote", "")
TEXT = FileKind("text", "a text file", "")
NO_FILE = FileKind(
    "no-file", "a pipe, a socket or a device", "read it, and load what was read as `io.BytesIO`"
)
UNKNOWN = FileKind("unknown", "of no kind that is known here", "")

_HEAD = 4096
_DIRECTORY = 1 << 24
_LEGACY_MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
_OPEN_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def identify(
    file: str | os.PathLike[str] | bytes | bytearray | memoryview | OpenedFile,
) -> FileKind:
    """The kind of a file, given its path, its bytes or the opened file.

    Raises:
        OSError: the path cannot be read.
        ArchiveError: the file was cut off while it was read.
    """
    if not isinstance(file, OpenedFile):
        with closing(OpenedFile(file)) as data:
            return identify(data)
    if not file.is_regular:
        return NO_FILE
    head = bytes(file[:_HEAD])
    tests = (_by_signature, _by_zip, _by_structure, _by_text)
    found = (test(head, file) for test in tests) if head else iter((EMPTY,))
    return next((kind for kind in found if kind is not None), UNKNOWN)


def _by_signature(head: bytes, data: OpenedFile) -> FileKind | None:
    signatures: tuple[tuple[bytes, FileKind], ...] = (
        (b"\x93NUMPY", NPY),
        (b"\x1f\x8b", GZIP),
        (b"\x89HDF\r\n\x1a\n", HDF5),
        (b"version https://git-lfs", GIT_LFS),
        (_LEGACY_MAGIC, LEGACY_PICKLE),
    )
    for start, kind in signatures:
        if head.startswith(start):
            return kind
    if head[4:8] == b"PTMF":
        return MOBILE_FLATBUFFER
    if head[257:262] == b"ustar":
        return LEGACY_TAR
    return None


# -- zip files


def _by_zip(head: bytes, data: OpenedFile) -> FileKind | None:
    names = _zip_names(data)
    if names is None:
        return TRUNCATED if head.startswith(b"PK\x03\x04") else None
    records = {name.partition("/")[2] for name in names}
    for is_kind, kind in _ZIP_KINDS:
        if is_kind(records, names):
            return kind
    if "data.pkl" in records:
        return _saved_object(data)
    return ZIP


_ZIP_KINDS: tuple[tuple[Callable[[set[str], list[str]], bool], FileKind], ...] = (
    (lambda records, names: "model.json" in records, LEGACY_TORCHSCRIPT),
    (
        lambda records, names: any(r.startswith(".data/ts_code/") for r in records),
        SCRIPT_PACKAGE,
    ),
    (
        lambda records, names: any(r.startswith(".data/extern_modules") for r in records),
        PACKAGE,
    ),
    (
        lambda records, names: (
            "archive_format" in records
            or any(r.startswith("models/") and r.endswith(".json") for r in records)
            or {"serialized_exported_program.json", "serialized_state_dict.pt"} & set(names)
            != set()
        ),
        EXPORTED,
    ),
    (
        lambda records, names: "bytecode.pkl" in records,
        MOBILE,
    ),
    (
        lambda records, names: "data.pkl" in records and "constants.pkl" in records,
        TORCHSCRIPT,
    ),
    (lambda records, names: "MAR-INF/MANIFEST.json" in names, SERVED),
    (lambda records, names: all(n.endswith(".npy") for n in names) and bool(names), NPZ),
)


def _zip_names(data: OpenedFile) -> list[str] | None:
    """The names in a zip's directory; None if there is no directory."""
    tail = max(0, len(data) - 22 - 0xFFFF)
    end = bytes(data[tail:]).rfind(b"PK\x05\x06")
    if end < 0 or tail + end + 22 > len(data):
        return None
    count, _, offset = struct.unpack("<HII", data[tail + end + 10 : tail + end + 20])
    names, directory, at = [], bytes(data[offset : offset + _DIRECTORY]), 0
    for _ in range(count):
        if directory[at : at + 4] != b"PK\x01\x02" or at + 46 > len(directory):
            break
        sizes = struct.unpack_from("<HHH", directory, at + 28)
        names.append(directory[at + 46 : at + 46 + sizes[0]].decode("utf-8", "replace"))
        at += 46 + sum(sizes)
    return names


_GLOBAL = re.compile(rb"c([A-Za-z_][\w.]*)\n[A-Za-z_]\w*\n")
_PLAIN_MODULES = frozenset(
    """builtins __builtin__ collections numpy torch torch._utils torch._tensor torch.nn.parameter
    torch.serialization torch.storage torch.torch_version""".split()
)


def _saved_object(data: OpenedFile) -> FileKind:
    """A `torch.save` file: tensors only, or an object of some Python class."""
    place = bytes(data[: 1 << 24]).find(b"data.pkl")
    pickle = bytes(data[place : place + (1 << 20)])
    modules = {match[1].decode("ascii") for match in _GLOBAL.finditer(pickle)}
    foreign = {m for m in modules - _PLAIN_MODULES if not m.startswith("numpy.")}
    return PICKLED_MODULE if foreign else STATE_DICT


# -- formats without a signature


def _by_structure(head: bytes, data: OpenedFile) -> FileKind | None:
    if _is_safetensors(head, len(data)):
        return SAFETENSORS
    if head.startswith(_OPEN_PICKLES) and bytes(data[-1:]) == b".":
        return PICKLE
    if head.startswith(_OPEN_PICKLES):
        return LEGACY_PICKLE if b"torch" in head else PICKLE
    if _is_onnx(head):
        return ONNX
    return None


def _is_safetensors(head: bytes, size: int) -> bool:
    """An eight-byte length, then that many bytes of a JSON object."""
    if len(head) < 10:
        return False
    length = int.from_bytes(head[:8], "little")
    return 2 <= length <= size - 8 and head[8:9] == b"{"


def _is_onnx(head: bytes) -> bool:
    """A protobuf message that begins with a small `ir_version` and goes on with names or a graph.

    Fields of ModelProto: 1 ir_version, 2 producer_name, 3 producer_version, 4 domain,
    5 model_version, 6 doc_string, 7 graph, 8 opset_import.
    """
    if len(head) < 8 or head[0] != 0x08 or not 1 <= head[1] <= 20:
        return False
    tag, length = head[2], head[3]
    if tag == 0x12:  # producer_name: a short printable text
        text = head[4 : 4 + length]
        return length < 128 and all(32 <= c < 127 for c in text)
    return tag in (0x1A, 0x22, 0x32, 0x3A, 0x42)


def _by_text(head: bytes, data: OpenedFile) -> FileKind | None:
    text = head.decode("latin-1").lstrip("\xef\xbb\xbf \t\r\n")
    lower = text[:256].lower()
    if lower.startswith(("<!doctype html", "<html", "<head", "<body")):
        return HTML
    if lower.startswith("<?xml"):
        return HTML if "<html" in lower else XML
    if text[:1] in ("{", "[") and _is_printable(head):
        return JSON
    return TEXT if _is_printable(head) else None


def _is_printable(head: bytes) -> bool:
    return all(c >= 32 or c in b"\t\r\n\f" for c in head)

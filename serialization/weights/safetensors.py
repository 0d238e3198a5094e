"""The safetensors format: eight bytes of length, a JSON object about the tensors, their bytes.

The object gives every tensor its `dtype`, `shape` and `data_offsets`; `__metadata__` holds texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...ops.memory.dtype import DTYPES
from ...ops.tensors.tensor import Tensor
from ..files.errors import archive_error
from ..files.file_bytes import OpenedFile

__all__ = ["read_safetensors", "write_safetensors"]

_NAMES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I8": "int8",
    "I16": "int16",
    "U16": "uint16",
    "F16": "float16",
    "BF16": "bfloat16",
    "I32": "int32",
    "U32": "uint32",
    "F32": "float32",
    "F64": "float64",
    "I64": "int64",
    "U64": "uint64",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "C64": "complex64",
}
_LONGEST_HEADER = 100_000_000
_CODES = {name: code for code, name in _NAMES.items()}


def read_safetensors(file: OpenedFile) -> dict[str, Tensor]:
    """The tensors by name, in the order of the file.

    Raises:
        ArchiveError: the file is damaged or has a dtype that does not exist here.
    """
    length = int.from_bytes(file[:8], "little")
    if length > _LONGEST_HEADER:
        message = f"{file.title} has a header of {length} bytes (the limit is {_LONGEST_HEADER})"
        raise archive_error("limit-exceeded", message)
    start = 8 + length
    try:
        header = json.loads(bytes(file[8:start]).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise archive_error(
            "damaged-archive", f"{file.title} has a damaged header: {error}"
        ) from None
    if not isinstance(header, dict):
        raise archive_error("damaged-archive", f"{file.title} has no names in its header")
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            found[name] = _tensor(file, start, name, entry)
    return found


def _tensor(file: OpenedFile, start: int, name: str, entry: Any) -> Tensor:
    title = file.title
    try:
        code, shape = str(entry["dtype"]), [int(n) for n in entry["shape"]]
        first, last = (int(n) for n in entry["data_offsets"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise archive_error("damaged-archive", f"{title} does not describe `{name}`") from None
    if code not in _NAMES:
        raise archive_error("unsupported-value", f"`{name}` of {title} is of dtype {code}")
    dtype = DTYPES[_NAMES[code]].numpy
    fits = first >= 0 and start + last <= len(file) and all(n >= 0 for n in shape)
    if not fits or last - first != math.prod(shape) * dtype.itemsize or len(shape) > 64:
        raise archive_error("damaged-archive", f"`{name}` of {title} lies outside the file")
    content = np.empty(last - first, np.uint8)
    file.read_into(start + first, content.data)
    return Tensor._of(content.view(dtype).reshape(shape))


def write_safetensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    """The bytes of a file of these tensors, in the order of their dtypes' sizes and names.

    Raises:
        ArchiveError: a value is no tensor, or the format has no such dtype.
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    parts: list[bytes] = []
    at = 0
    for name, tensor in sorted(tensors.items(), key=lambda pair: (-_size(*pair), pair[0])):
        content = np.ascontiguousarray(tensor._array).tobytes()
        header[name] = {
            "dtype": _CODES[_dtype_name(tensor)],
            "shape": list(tensor.shape),
            "data_offsets": [at, at + len(content)],
        }
        parts.append(content)
        at += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that tensors begin at a multiple of eight
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def _size(name: str, tensor: object) -> int:
    if not isinstance(tensor, Tensor) or _dtype_name(tensor) not in _CODES:
        what = f"of dtype {tensor.dtype}" if isinstance(tensor, Tensor) else "no tensor"
        raise archive_error(
            "unsupported-value", f"`{name}` is {what}: safetensors has no form of it"
        )
    return tensor.itemsize


def _dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")

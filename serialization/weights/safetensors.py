"""The safetensors format: eight bytes of length, a JSON object about the tensors, their bytes.

The object gives every tensor its `dtype`, `shape` and `data_offsets`; `__metadata__` holds texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...ops.memory.dtype import DTYPES, Dtype
from ...ops.memory.reserved import reserved
from ...ops.meta.tensors import on_meta
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
_MOST_LISTS = 3_000_000
"""Of a header: each tensor has three."""
_CODES = {name: code for code, name in _NAMES.items()}


def read_safetensors(file: OpenedFile, *, without_data: bool = False) -> dict[str, Tensor]:
    """The tensors by name, in the order of the file; on the device `meta` if `without_data`.

    As the format has it, the tensors lie one behind the other and fill the file.

    Raises:
        ArchiveError: the file is damaged or has a dtype that does not exist here.
    """
    length = int.from_bytes(file[:8], "little")
    start = 8 + length
    places = [
        _place(file.title, name, entry)
        for name, entry in _header(file, length).items()
        if name != "__metadata__"
    ]
    at = 0
    for place in sorted(places, key=lambda place: (place.first, place.last)):
        if place.first != at or start + place.last > len(file):
            raise _outside(file.title, place.name)
        at = place.last
    if start + at != len(file):
        raise archive_error("damaged-archive", f"{file.title} is not as long as its tensors")
    if without_data:
        return {place.name: _without_data(place) for place in places}
    return {place.name: _tensor(file, start, place) for place in places}


def _header(file: OpenedFile, length: int) -> dict[str, object]:
    if length > _LONGEST_HEADER:
        message = f"{file.title} has a header of {length} bytes (the limit is {_LONGEST_HEADER})"
        raise archive_error("limit-exceeded", message)
    text = bytes(file[8 : 8 + length])
    if text.count(b"[") + text.count(b"{") > _MOST_LISTS:
        message = f"{file.title} has a header of more than {_MOST_LISTS} lists and objects"
        raise archive_error("limit-exceeded", message)
    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=_once)
        json.dumps(list(header), ensure_ascii=False).encode()  # names are whole characters
    except (ValueError, RecursionError) as error:
        raise archive_error(
            "damaged-archive", f"{file.title} has a damaged header: {error}"
        ) from None
    if not isinstance(header, dict):
        raise archive_error("damaged-archive", f"{file.title} has no names in its header")
    told = header.get("__metadata__", {})
    if not isinstance(told, dict) or not all(isinstance(value, str) for value in told.values()):
        raise archive_error("damaged-archive", f"{file.title} has metadata that are no texts")
    return header


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name is there twice")
    return made


class _Place(NamedTuple):
    """Where a tensor lies: its bytes count from the end of the header."""

    name: str
    dtype: Dtype
    shape: list[int]
    first: int
    last: int


def _place(title: str, name: str, entry: Any) -> _Place:
    try:
        code, shape, (first, last) = entry["dtype"], entry["shape"], entry["data_offsets"]
        numbers = [first, last, *shape]
    except (KeyError, TypeError, ValueError):
        numbers = [-1]
    if not all(type(n) is int and 0 <= n < 1 << 63 for n in numbers):
        raise archive_error("damaged-archive", f"{title} does not describe `{name}`")
    if not isinstance(code, str) or code not in _NAMES:
        raise archive_error("unsupported-value", f"`{name}` of {title} is of dtype {code}")
    dtype = DTYPES[_NAMES[code]].numpy
    if len(shape) > 64 or last - first != math.prod(shape) * dtype.itemsize:
        raise _outside(title, name)
    return _Place(name, dtype, shape, first, last)


def _outside(title: str, name: str) -> Exception:
    return archive_error("damaged-archive", f"`{name}` of {title} lies outside the file")


def _tensor(file: OpenedFile, start: int, place: _Place) -> Tensor:
    content = np.empty(place.last - place.first, np.uint8)
    file.read_into(start + place.first, content.data)
    return Tensor._of(content.view(place.dtype).reshape(place.shape))


def _without_data(place: _Place) -> Tensor:
    made: Tensor = on_meta(Tensor._of(reserved(place.shape, place.dtype)))
    return made


def write_safetensors(tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None) -> bytes:
    """The bytes of a file of these tensors, in the order of their dtypes' sizes and names.

    Raises:
        ArchiveError: a value is no tensor, or the format has no such dtype.
    """
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
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

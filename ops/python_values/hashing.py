"""`hash` in script: the numbers that torch gives.

Strings and floats are hashed by their bytes with MurmurHash2 (64 bits), as libstdc++'s `std::hash`
does; the hashes of a tuple's parts are combined as Boost's `hash_combine` does.
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

from ..arithmetic.scalar import wrap64
from ..memory.dtype import Device
from ..memory.errors import OperatorError
from ..table.table import operator

__all__ = ["hash_of", "type_in_graphs", "type_name"]

_MASK: Final = (1 << 64) - 1
_MULTIPLIER: Final = 0xC6A4A7935BD1E995
_SEED: Final = 0xC70F6907
_GOLDEN: Final = 0x9E3779B9
_SHIFT: Final = 47
_CUDA: Final = 1


def _bytes_hash(data: bytes) -> int:
    """MurmurHash2 of 64 bits, unsigned."""
    found = _SEED ^ (len(data) * _MULTIPLIER & _MASK)
    whole = len(data) & ~7
    for (word,) in struct.iter_unpack("<Q", data[:whole]):
        mixed = word * _MULTIPLIER & _MASK
        mixed = (mixed ^ mixed >> _SHIFT) * _MULTIPLIER & _MASK
        found = (found ^ mixed) * _MULTIPLIER & _MASK
    if rest := data[whole:]:
        found = (found ^ int.from_bytes(rest, "little")) * _MULTIPLIER & _MASK
    found = (found ^ found >> _SHIFT) * _MULTIPLIER & _MASK
    return found ^ found >> _SHIFT


def _tuple_hash(value: tuple[object, ...]) -> int:
    seed = 0
    for part in value:
        seed ^= (_unsigned(part) + _GOLDEN + (seed << 6) + (seed >> 2)) & _MASK
    return seed


def _device_hash(value: Device) -> int:
    """The numbers of kind and index as two bytes; no index is -1, and shows in the low byte."""
    kind = 0 if value.type == "cpu" else _CUDA
    index = -1 if value.index is None else value.index
    return kind << 16 | (index & 0xFF)


def _unsigned(value: object) -> int:
    if value is None:
        return 0
    if isinstance(value, bool | int):
        return int(value) & _MASK
    if isinstance(value, float):
        return _bytes_hash(struct.pack("<d", value)) if value else 0
    if isinstance(value, str):
        return _bytes_hash(value.encode("utf-8", "surrogateescape"))
    if isinstance(value, tuple):
        return _tuple_hash(value)
    if isinstance(value, Device):
        return _device_hash(value)
    if isinstance(value, np.ndarray):
        return id(value)
    raise OperatorError(f"unhashable type: '{type_name(value)}'")


def type_name(value: object) -> str:
    """The type of a value as torch writes it."""
    if isinstance(value, list):
        return f"List[{type_name(value[0])}]" if value else "List[Tensor]"
    if isinstance(value, dict):
        parts = next(iter(value.items()), ("", ""))
        return f"Dict[{', '.join(map(type_name, parts))}]"
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(type_name, value))}]"
    return "Tensor" if isinstance(value, np.ndarray) else type(value).__name__


def type_in_graphs(value: object) -> str:
    """The same as graphs have it."""
    if isinstance(value, list):
        return f"{type_in_graphs(value[0])}[]" if value else "Tensor[]"
    if isinstance(value, dict):
        parts = next(iter(value.items()), ("", ""))
        return f"Dict({', '.join(map(type_in_graphs, parts))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(type_in_graphs, value))})"
    return type_name(value)


@operator("aten::hash.generic(t value) -> int")
def hash_of(value: object) -> int:
    """The hash; of a tensor its identity.

    Raises:
        OperatorError: the value cannot be hashed (lists, dicts, complex numbers).
    """
    return wrap64(_unsigned(value))

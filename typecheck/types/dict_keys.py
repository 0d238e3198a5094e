"""Which types the keys of a dict may have."""

from __future__ import annotations

from .types import (
    ANY,
    BOOL,
    COMPLEX,
    DEVICE,
    FLOAT,
    INT,
    STRING,
    TENSOR,
    UNKNOWN,
    DictType,
    Type,
)

__all__ = ["DICT_KEYS", "DictKeyError", "dict_type", "key_refusal"]

DICT_KEYS = (INT, FLOAT, COMPLEX, BOOL, STRING, TENSOR, DEVICE, UNKNOWN)


class DictKeyError(RuntimeError):
    """A live annotation or value needs keys that no dict has."""


def dict_type(key: Type, value: Type) -> DictType:
    """The dict that a live annotation or value stands for.

    Raises:
        DictKeyError: no dict has such keys.
    """
    if key not in DICT_KEYS and key is not ANY:
        raise DictKeyError(key_refusal(key))
    return DictType(key, value)


def key_refusal(key: Type) -> str:
    """torch's sentence on a key."""
    return (
        f"Cannot create dict for key type '{key}', only int, float, complex, Tensor, "
        "device and string keys are supported"
    )

"""`torch.jit._pickle`: what pickles of archives call for their lists where Python reads them.

Archives are read without it.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = [
    *("build_boollist", "build_doublelist", "build_intlist", "build_tensor_from_id"),
    *("build_tensorlist", "restore_type_tag"),
]

Value = TypeVar("Value")


def _as_it_is(data: Value) -> Value:
    """The list itself: Python's lists say nothing of their elements."""
    return data


build_boollist = build_doublelist = build_intlist = build_tensorlist = _as_it_is


def build_tensor_from_id(data: int) -> int | None:
    """The number of a tensor in an archive's table."""
    return data if isinstance(data, int) else None


def restore_type_tag(value: Value, type_str: str) -> Value:
    """The value itself: the type is for those that need it."""
    return value

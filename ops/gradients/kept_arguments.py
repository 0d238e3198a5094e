"""What nodes keep of arguments: tensors, lists of them, or what is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tensors.tensor import Tensor
from .autograd import FREED, Saved, saved
from .rules import Meta, is_by_columns

__all__ = ["about", "kept_list"]


def kept_list(values: Sequence[Any], keep: bool) -> object:
    """The elements of an argument that is a list, its tensors kept or only described."""
    made: list[Any] = []
    is_plain = True
    for value in values:
        if isinstance(value, Tensor):
            is_plain = False
            value = saved(value) if keep else Meta(value._array)
        made.append(value)
    return values if is_plain else made


def about(value: Any, word: str) -> object:
    """The sizes or the dtype of what is kept of a tensor."""
    if isinstance(value, Saved):
        if value.array is None:
            raise RuntimeError(FREED)
        if word == "columns":
            return is_by_columns(value.array)
        return value.array.shape if word == "sizes" else value.tensor_dtype()
    return None if value is None or not isinstance(value, Meta) else getattr(value, word)

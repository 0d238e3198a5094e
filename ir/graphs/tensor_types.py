"""Tensor types that say what there is to say of an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ops.memory.dtype import Array, dtype_of
from ...ops.memory.storage import strides_of
from ...typecheck.types.tensor_facts import RefinedTensor

__all__ = ["contiguous_strides", "refined_type", "type_of_array"]


def contiguous_strides(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of a contiguous tensor."""
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides[: len(sizes)]))


def type_of_array(array: Array, requires_grad: bool = False) -> RefinedTensor:
    """The complete type of an array."""
    return RefinedTensor(
        scalar=dtype_of(array).scalar_name,
        sizes=tuple(array.shape),
        strides=tuple(strides_of(array)),
        requires_grad=requires_grad,
        device="cpu",
    )


def refined_type(known: RefinedTensor, **changes: Any) -> RefinedTensor:
    """The same type with other facts."""
    facts = {
        "scalar": known.scalar,
        "sizes": known.sizes,
        "strides": known.strides,
        "requires_grad": known.requires_grad,
        "device": known.device,
    }
    return RefinedTensor(**{**facts, **changes})

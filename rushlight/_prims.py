"""`torch._prims`: the operators of `torch.ops.prims` by their names alone, and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from . import _prims_common as utils
from .ops.eager.aten import aten
from .ops.eager.packets import Namespace
from .ops.memory.dtype import Device, DType
from .ops.table.table import TABLE
from .ops.tensors.tensor import Tensor

__all__ = ["ELEMENTWISE_PRIM_TYPE_PROMOTION_KIND", "TensorMeta", "expand_dims"]

RETURN_TYPE = utils.RETURN_TYPE
_PRIMS = Namespace("prims")
_OTHER_NAMES = {"view_element_type": "view_of_dtype", "_uniform_helper": "uniform"}


class ELEMENTWISE_PRIM_TYPE_PROMOTION_KIND(Enum):
    """What the results of an operator are, by what its operands are."""

    DEFAULT = (0,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)


def __getattr__(name: str) -> Any:
    """An operator."""
    known = _OTHER_NAMES.get(name, name)
    if TABLE.operator(f"prims::{known}") is None:
        raise AttributeError(f"module 'torch._prims' has no attribute '{name}'")
    found = globals()[name] = getattr(_PRIMS, known).default
    return found


def TensorMeta(
    tensorlike: Tensor | complex | None = None,
    *,
    shape: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    dtype: DType | None = None,
    device: Device | str | None = None,
) -> Tensor:
    """An empty tensor that is like another one, or a number, but for what is said.

    Raises:
        AssertionError: there is neither, and something is not said.
    """
    if isinstance(tensorlike, Tensor):
        known: list[Any] = [tensorlike.shape, tensorlike.stride()]
        known += [tensorlike.dtype, tensorlike.device]
    elif tensorlike is not None:
        known = [(), (), utils.type_to_dtype(utils.number_type(tensorlike)), "cpu"]
    else:
        given = {"shape": shape, "strides": strides, "dtype": dtype, "device": device}
        for name, value in given.items():
            if value is None:
                raise AssertionError(f"{name} must be provided when tensorlike is None")
        known = list(given.values())
    chosen: Any = [
        old if new is None else new
        for old, new in zip(known, (shape, strides, dtype, device), strict=True)
    ]
    return aten.empty_strided(chosen[0], chosen[1], dtype=chosen[2], device=chosen[3])


def expand_dims(a: Tensor, dimensions: Sequence[int], ndim: int | None = None) -> Tensor:
    """A view with more dimensions, of size 1, at these places.

    Raises:
        ValueError: a place is named twice.
    """
    rank = a.dim() if ndim is None else ndim
    places: Any = utils.canonicalize_dims(rank, tuple(dimensions))
    if len(set(places)) != len(places):
        raise ValueError(f"Received duplicate dimensions to expand in {dimensions}")
    shape = list(a.shape)
    for place in sorted(places):
        shape.insert(place, 1)
    kept = [place for place in range(len(shape)) if place not in dimensions]
    made: Tensor = _PRIMS.broadcast_in_dim.default(a, shape, kept)
    return made

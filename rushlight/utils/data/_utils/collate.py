"""How samples become batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from ....ops.eager.dispatch import eager_function
from ....ops.memory.dtype import DTYPES, Array, Dtype
from ....ops.tensors.construct import as_tensor, tensor
from ....ops.tensors.tensor import Tensor

__all__ = [
    *("collate", "collate_float_fn", "collate_int_fn", "collate_numpy_array_fn"),
    *("collate_numpy_scalar_fn", "collate_str_fn", "collate_tensor_fn", "default_collate"),
    *("default_collate_err_msg_format", "default_collate_fn_map", "default_convert"),
]

_Table: TypeAlias = dict[type | tuple[type, ...], Callable[..., object]]
default_collate_err_msg_format: Final = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)

np_str_obj_array_pattern: Final = re.compile(r"[SaUO]")
"""Found in what NumPy calls dtypes that no tensor has."""


def _is_for_no_tensor(dtype: Dtype) -> bool:
    return np_str_obj_array_pattern.search(dtype.kind) is not None


def default_convert(data: object) -> Any:
    """Arrays as tensors, also inside of containers."""
    if isinstance(data, (np.ndarray, np.generic)) and not _is_for_no_tensor(data.dtype):
        return as_tensor(data)
    return inside(data, default_convert)


def inside(data: object, convert: Callable[[object], object]) -> object:
    """What a function makes of what is in a container; anything else as it is."""
    if isinstance(data, Mapping):
        return {key: convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        kind: Callable[..., object] = type(data)
        return kind(*map(convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [convert(value) for value in data]
    return data


def collate(batch: Sequence[Any], *, collate_fn_map: _Table | None = None) -> Any:
    """One batch of samples: by a table of types, containers are entered.

    Args:
        batch: the samples.
        collate_fn_map: for types, or tuples of them, functions of a batch and of this table. The
            type itself is looked for first, then the first entry that it is a subclass of.

    Raises:
        RuntimeError: sequences of different lengths.
        TypeError: a sample of another type.
    """
    first = batch[0]
    found = _entry(first, collate_fn_map or {})
    if found is not None:
        return found(batch, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return {
            key: collate([each[key] for each in batch], collate_fn_map=collate_fn_map)
            for key in first
        }
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [
            collate(column, collate_fn_map=collate_fn_map) for column in zip(*batch, strict=True)
        ]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def default_collate(batch: Sequence[object]) -> Any:
    """One batch of samples: tensors are stacked, numbers become a tensor, containers are entered.

    Raises:
        RuntimeError: sequences of different lengths.
        TypeError: a sample of another type.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def _entry(first: object, table: _Table) -> Callable[..., object] | None:
    kind = type(first)
    if kind in table:
        return table[kind]
    return next((function for key, function in table.items() if isinstance(first, key)), None)


def collate_tensor_fn(batch: Sequence[object], *, collate_fn_map: object = None) -> object:
    """Tensors of one size, stacked."""
    return eager_function("aten::stack")(list(batch), 0)


def collate_numpy_array_fn(
    batch: Sequence[Array], *, collate_fn_map: _Table | None = None
) -> object:
    """Arrays, as a batch of tensors.

    Raises:
        TypeError: tensors have no such dtype.
    """
    if _is_for_no_tensor(batch[0].dtype):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    first = batch[0]
    stacks = (collate_fn_map or {}).get(Tensor) is collate_tensor_fn and first.flags.writeable
    if stacks and all(
        type(each) is np.ndarray and each.shape == first.shape and each.dtype is first.dtype
        for each in batch
    ):
        return as_tensor(np.stack(batch))
    tensors = [as_tensor(each) for each in batch]
    return collate(tensors, collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[object], *, collate_fn_map: object = None) -> object:
    """NumPy's numbers, as one tensor."""
    return as_tensor(batch)


def collate_float_fn(batch: Sequence[object], *, collate_fn_map: object = None) -> object:
    """Floats, as one tensor of float64."""
    return tensor(batch, dtype=DTYPES["float64"])


def collate_int_fn(batch: Sequence[object], *, collate_fn_map: object = None) -> object:
    """Integers, as one tensor."""
    return tensor(batch)


def collate_str_fn(batch: Sequence[object], *, collate_fn_map: object = None) -> object:
    """Texts, as they are."""
    return batch


default_collate_fn_map: _Table = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}

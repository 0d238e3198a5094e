"""How samples become batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ops.eager.namespace import public_names
from ....ops.tensors.tensor import Tensor

__all__ = ["default_collate", "default_convert"]


def default_convert(data: Any) -> Any:
    """Arrays as tensors, also inside of containers."""
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind not in "SaUO":
        return public_names()["as_tensor"](data)
    return _inside(data, default_convert)


def _inside(data: Any, convert: Callable[[Any], Any]) -> Any:
    if isinstance(data, Mapping):
        return {key: convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [convert(value) for value in data]
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch of samples: tensors are stacked, numbers become a tensor, containers are entered.

    Raises:
        RuntimeError: sequences of different lengths.
        TypeError: a sample of another type.
    """
    first, names = batch[0], public_names()
    if isinstance(first, Tensor):
        return names["stack"](list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "SaUO":
        return default_collate([names["as_tensor"](each) for each in batch])
    if isinstance(first, float):
        return names["tensor"](batch, dtype=names["float64"])
    if isinstance(first, int):
        return names["tensor"](batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        return type(first)(*columns) if hasattr(first, "_fields") else columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )

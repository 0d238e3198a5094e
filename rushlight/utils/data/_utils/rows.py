"""Batches of rows of tensors, gathered at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ....ops.memory.dtype import Array
from ....ops.memory.errors import Elsewhere
from ....ops.table.grad_mode import is_grad_enabled
from ....ops.tensors.overriding import STATE
from ....ops.tensors.tensor import Parameter, Tensor
from ....ops.tensors.tracing import ACTIVE
from ..dataset import Subset, TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map

__all__ = ["rows_at_once"]

_ROW: Final = TensorDataset.__getitem__


def rows_at_once(dataset: object, keys: Sequence[int], collate: object) -> list[Tensor] | None:
    """The batch that `default_collate` makes of rows of a `TensorDataset`, or of a `Subset` of one;
    None for what is to be loaded row by row: other sets and keys, gradients, who listens."""
    if type(dataset) not in (TensorDataset, Subset):
        return None
    if collate is not default_collate or default_collate_fn_map[Tensor] is not collate_tensor_fn:
        return None
    if type(keys) not in (list, tuple) or set(map(type, keys)) != {int}:
        return None
    if ACTIVE or STATE.modes:
        return None
    if type(dataset) is Subset:
        indices = dataset.indices
        if type(indices) is not list or not _are_within(keys, len(indices)):
            return None
        dataset, keys = dataset.dataset, [indices[key] for key in keys]
        if set(map(type, keys)) != {int}:
            return None
    if type(dataset) is not TensorDataset or TensorDataset.__getitem__ is not _ROW:
        return None
    if not _are_within(keys, len(dataset)):
        return None
    try:
        arrays = [_plain(each) for each in dataset.tensors]
    except Elsewhere:
        return None
    places = np.array(keys)
    rows = [Tensor._of(each[places]) for each in arrays if each is not None]
    return rows if len(rows) == len(arrays) else None


def _are_within(keys: Sequence[int], size: int) -> bool:
    return -size <= min(keys) and max(keys) < size


def _plain(tensor: Tensor) -> Array | None:
    """The array of a tensor that nobody follows; None of others."""
    if type(tensor) not in (Tensor, Parameter) or (tensor.requires_grad and is_grad_enabled()):
        return None
    return tensor._array if type(tensor._array) is np.ndarray else None

"""Gradients of images that are read at the places of a grid, where they need no gradients
themselves: one kernel for both."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...kernels import family, in_order
from ...tensors.tensor import Tensor
from ..table.rows import Wanted, direct

_LINEAR: Final = 0
_PADDINGS: Final = {0: "zeros", 1: "border"}
_FLOAT32: Final = np.dtype(np.float32)


@direct("aten::grid_sampler", "aten::grid_sampler_2d", "aten::grid_sampler_3d", of="input grid")
def grid_sampler(
    g: Tensor, wanted: Wanted, input: Tensor, grid: Tensor, interpolation_mode: int,
    padding_mode: int, align_corners: bool,
) -> tuple[Tensor | None, ...] | None:  # fmt: skip
    """Those of the mean of corners by their shares, for float32; others are left to operators."""
    kernels = family("windows.grid_samples")
    if kernels is None or interpolation_mode != _LINEAR or padding_mode not in _PADDINGS:
        return None
    arrays = [in_order(each._array[...]) for each in (g, input, grid)]
    if any(each.dtype is not _FLOAT32 or not each.size for each in arrays):
        return None
    asked = wanted["input"], wanted["grid"]
    found = kernels.sample_back(*arrays, _PADDINGS[padding_mode], bool(align_corners), asked)
    if found is None:
        return None
    return tuple(None if each is None else Tensor._of(each) for each in found)

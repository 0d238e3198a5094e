"""Batches whose rows end at different places, as far as encoders use them.

A nested tensor is kept padded, with the lengths of its rows beside it.  Only the operators that
`TransformerEncoder` applies to one know it: making it, an encoder layer, and padding it again.
"""

from __future__ import annotations

import numpy as np

from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.table import operator
from ..table.without_data import always

__all__ = ["NestedArray", "nested"]


class NestedArray(Array):
    """(B, T, E) with `lengths` (B): what lies behind a row's end means nothing."""

    lengths: Array


def nested(padded: Array, lengths: Array) -> NestedArray:
    """The padded array as a nested one."""
    result = padded.view(NestedArray)
    result.lengths = lengths
    return result


def _left_aligned(mask: Array) -> bool:
    """Whether in every row all that is True comes first."""
    return bool((mask[:, :-1] >= mask[:, 1:]).all())


def _check(t: Array, mask: Array) -> None:
    """Raises: OperatorError: no batch (B, T, E), or no mask (B, T) for it."""
    if mask.dtype != np.bool_:
        given = dtype_of(mask).scalar_name
        raise OperatorError(
            f"Expected mask to be of ScalarType Bool, but got {given} instead.",
            code="dtype-mismatch",
        )
    if mask.ndim != 2:
        raise OperatorError("Padding mask should be 2D")
    if t.ndim != 3:
        raise OperatorError("Input should be a 3D tensor, N * L * D")
    if t.shape[:2] != mask.shape:
        raise OperatorError("Mask size should match input size", code="shape-mismatch")


@operator(
    "aten::_nested_tensor_from_mask_left_aligned(Tensor t, Tensor mask) -> bool",
    data_dependent=always,
)
def fits_nested(t: Array, mask: Array) -> bool:
    """Whether every row is kept up to some place, and nothing after it."""
    _check(t, mask)
    return _left_aligned(mask)


@operator("aten::_nested_tensor_from_mask(Tensor t, Tensor mask, bool mask_check=True) -> Tensor")
def nested_from_mask(t: Array, mask: Array, mask_check: bool) -> Array:
    """Of (B, T, E) the rows as far as the mask (B, T) is True."""
    _check(t, mask)
    if mask_check and not _left_aligned(mask):
        raise OperatorError("Mask must be left-aligned without gaps")
    return nested(t, mask.sum(1))


@operator(
    "aten::nested_to_padded_tensor(Tensor self, float padding, int[]? output_size=None) -> Tensor",
    out="",
    face="operator",
)
@operator(
    "aten::to_padded_tensor(Tensor self, float padding, SymInt[]? output_size=None) -> Tensor",
    face="method",
    order="out -",
)
def padded(self: Array, padding: float, output_size: list[int] | None) -> Array:
    """All rows made as long as the longest one, or as `output_size` says.

    Raises:
        OperatorError: the tensor is not nested, or `output_size` is too small.
    """
    if not isinstance(self, NestedArray):
        raise OperatorError("to_padded_tensor: the input is not a nested tensor")
    batch, _, width = self.shape
    longest = int(self.lengths.max(initial=0))
    shape = (batch, longest, width) if output_size is None else tuple(output_size)
    if len(shape) != 3 or any(a < b for a, b in zip(shape, (batch, longest, width), strict=True)):
        raise OperatorError(
            "Value in output_size is less than NestedTensor padded size. Truncation is not "
            "supported.",
            code="shape-mismatch",
        )
    result = np.full(shape, padding, self.dtype)
    plain = self.view(np.ndarray)
    for row, length in enumerate(self.lengths):
        result[row, :length, :width] = plain[row, :length]
    return result

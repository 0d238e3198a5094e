"""Sequences of different lengths, packed one after the other or padded to one length.

Packed data holds the first steps of all sequences, then the second steps of those that have one,
and so on; sequences stand in the order of falling length.
"""

from __future__ import annotations

import numpy as np

from ..memory.dims import size_at
from ..memory.dtype import Array, Scalar
from ..memory.errors import OperatorError
from ..table.pointwise import number_as
from ..table.table import operator


@operator(
    "aten::_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) "
    "-> (Tensor, Tensor)"
)
def pack_padded_sequence(input: Array, lengths: Array, batch_first: bool) -> tuple[Array, Array]:
    """The packed data, and how many sequences have each step."""
    steps = np.swapaxes(input, 0, 1) if batch_first else input
    if not steps.size:
        raise OperatorError("Cannot pack empty tensors.")
    if lengths.size != steps.shape[1]:
        raise OperatorError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size} "
            f"(batch_size={steps.shape[1]})",
            code="shape-mismatch",
        )
    if lengths[-1] <= 0:
        raise OperatorError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if (lengths[:-1] < lengths[1:]).any():
        raise OperatorError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    longest = int(lengths[0])
    if longest > len(steps):
        raise OperatorError(
            f"Expected lengths of at most {len(steps)}, but the longest is {longest}",
            code="shape-mismatch",
        )
    present = np.arange(longest)[:, None] < lengths[None, :]
    return steps[:longest][present], present.sum(1)


@operator(
    "aten::_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, "
    "Scalar padding_value, int total_length) -> (Tensor, Tensor)",
    out="",
)
def pad_packed_sequence(
    data: Array, batch_sizes: Array, batch_first: bool, padding_value: Scalar, total_length: int
) -> tuple[Array, Array]:
    """The sequences padded to one length, and their lengths."""
    longest = len(batch_sizes)
    if 0 < total_length < longest:
        raise OperatorError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {longest}"
        )
    count = int(batch_sizes[0])
    shape = (max(longest, total_length), count, *data.shape[1:])
    padded = np.full(shape, number_as(padding_value, data.dtype), data.dtype)
    present = np.arange(count)[None, :] < batch_sizes[:, None]
    padded[:longest][present] = data
    return np.swapaxes(padded, 0, 1) if batch_first else padded, present.sum(0)


@operator(
    "aten::pad_sequence(Tensor[] sequences, bool batch_first=False, float padding_value=0., "
    'str padding_side="right") -> Tensor',
    out="",
    face="layer",
)
def pad_sequence(
    sequences: list[Array], batch_first: bool, padding_value: float, padding_side: str
) -> Array:
    """Tensors [L, *] of different lengths side by side, as [L, B, *] or [B, L, *]."""
    if not sequences:
        raise OperatorError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise OperatorError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    first = sequences[0]
    if not first.ndim:
        raise OperatorError("ArrayRef: invalid slice, N = 1; size = 0", code="shape-mismatch")
    longest = max(size_at(each.shape, 0) for each in sequences)
    shape = (len(sequences), longest, *first.shape[1:])
    padded = np.full(shape, number_as(padding_value, first.dtype), first.dtype)
    for row, each in zip(padded, sequences, strict=True):
        start = longest - len(each) if padding_side == "left" else 0
        row[start : start + len(each)] = each
    return padded if batch_first else np.ascontiguousarray(np.swapaxes(padded, 0, 1))


@operator(
    "aten::_pack_sequence(Tensor output, Tensor batch_sizes, Tensor? sorted_indices, "
    "Tensor? unsorted_indices) -> (Tensor, Tensor, Tensor?, Tensor?)",
    face="operator",
)
def pack_sequence(
    output: Array,
    batch_sizes: Array,
    sorted_indices: Array | None,
    unsorted_indices: Array | None,
) -> tuple[Array, Array, Array | None, Array | None]:
    """The four parts of packed sequences, as they are."""
    return output, batch_sizes, sorted_indices, unsorted_indices

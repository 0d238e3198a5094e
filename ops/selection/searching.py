"""Binary search in sorted elements, and membership."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import family, in_order
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError, UnsupportedDtype
from ..memory.storage import settled
from ..memory.warned import warn_caller_once
from ..table.formula import Part
from ..table.out_dtypes import SAME, OutDtype
from ..table.pointwise import cast
from ..table.promotion import common_dtype, kind
from ..table.refusals import Refusal, check_kernel
from ..table.table import operator
from .sorting import is_nan, sortable

__all__ = ["search"]

_OUT_OF_BUCKETIZE: Final = OutDtype(
    "same",
    "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or "
    "Long(int64) depending on whether out_int32 flag is True, but we got output tensor's "
    "dtype {out} and out_int32 flag is {result_is_int32}",
)

_NO_ISIN: Final = Refusal(
    "", fails=("bqc", "Unsupported input type encountered for isin(): {word}")
)

_INT64: Final = np.dtype(np.int64)


# --------------------------------------------------------------------------- binary search


def _shape_text(array: Array) -> str:
    return str(list(array.shape))


def _check_search(sequence: Array, values: Array, sorter: Array | None) -> None:
    lead = "torch.searchsorted(): "
    if sorter is not None:
        if sorter.shape != sequence.shape:
            raise OperatorError(
                f"{lead}boundary and sorter must have the same size, but got boundary tensor "
                f"{_shape_text(sequence)}and got sorter tensor {_shape_text(sorter)}",
                code="shape-mismatch",
            )
        if sorter.dtype != _INT64:
            raise OperatorError(
                f"{lead}sorter must be a tensor of long dtype but got dtype "
                f"{dtype_of(sorter).scalar_name}",
                code="dtype-mismatch",
            )
        if sorter.size and (sorter.min() < 0 or sorter.max() >= sorter.shape[-1]):
            raise OperatorError(f"{lead}sorter index out of range")
    if not sequence.ndim and values.ndim:
        raise OperatorError(
            f"{lead}boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if not sequence.ndim:
        raise OperatorError(
            f"{lead}input value can be a scalar only when boundaries tensor dimension is 1, but "
            "we got boundaries tensor dim(0) and input value's dim(0) numel(1)"
        )
    if not values.ndim and sequence.ndim != 1:
        raise OperatorError(
            f"{lead}input value can be a scalar only when boundaries tensor dimension is 1, but "
            f"we got boundaries tensor dim({sequence.ndim}) and input value's dim(0) numel(1)"
        )
    if sequence.ndim != 1 and sequence.shape[:-1] != values.shape[:-1]:
        raise OperatorError(
            f"{lead}boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            "boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{_shape_text(sequence)} and input value tensor {_shape_text(values)}",
            code="shape-mismatch",
        )


def _warn_of_copies(values: Array, sequence: Array, sorter: Array | None) -> None:
    for array, name in ((values, "input value"), (sequence, "boundary"), (sorter, "sorter")):
        if array is not None and not array.flags.c_contiguous:
            warn_caller_once(
                f"torch.searchsorted(): {name} tensor is non-contiguous, this will lower the "
                "performance due to extra data copy when converting non-contiguous tensor to "
                f"contiguous, please use contiguous {name} tensor if possible. This message will "
                "only appear once per program."
            )


def search(sequence: Array, values: Array, right: bool) -> Array:
    """For each value the first place it can be put in without breaking the order of its row."""
    native = family("ordering.searches") if values.size else None
    if native is not None:
        places: Array | None = native.searched(sequence, values, behind=right)
        if places is not None:
            return places
    is_sorted = sequence.ndim == 1 and sequence.size and not is_nan(sequence).any()
    if is_sorted and (sequence[1:] >= sequence[:-1]).all():
        return np.asarray(np.searchsorted(sequence, values, "right" if right else "left"))
    low = np.zeros(values.shape, _INT64)
    high = np.full(values.shape, sequence.shape[-1], _INT64)
    for _ in range(sequence.shape[-1].bit_length()):  # halving: as many steps as bits
        middle = (low + high) >> 1
        inside = np.minimum(middle, max(sequence.shape[-1] - 1, 0))
        found = sequence[inside] if sequence.ndim == 1 else np.take_along_axis(sequence, inside, -1)
        after = ~(found > values if right else found >= values) & (low < high)
        low = np.where(after, middle + 1, low)
        high = np.where(after, high, middle)
    return low


def _searchsorted(
    sequence: Array,
    values: Array,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Array | None,
) -> Array:
    if side is not None and side not in ("left", "right"):
        raise OperatorError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise OperatorError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    _check_search(sequence, values, sorter)
    _warn_of_copies(values, sequence, sorter)
    check_kernel("searchsorted_out_cpu", sequence, "bc")
    if sorter is not None:
        sequence = np.take_along_axis(sequence, settled(sorter), -1)
    sequence, values = (in_order(sortable(each)) for each in (sequence, values))
    places = search(sequence, values, right or side == "right")
    return places.astype(np.int32 if out_int32 else np.int64, copy=False)


_SEARCH: Final = (
    "*, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"
)


@operator(
    f"aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, {_SEARCH}",
    prepared=True,
    order="Tensor_out Scalar",
    out_dtype=_OUT_OF_BUCKETIZE,
    out_overlap="read-first",
)
def searchsorted(
    sorted_sequence: Array,
    self: Array,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Array | None,
) -> Array:
    dtype = common_dtype(sorted_sequence, self)
    sorted_sequence, self = cast(sorted_sequence, dtype), cast(self, dtype)
    return _searchsorted(sorted_sequence, self, out_int32, right, side, sorter)


@operator(
    f"aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, {_SEARCH}",
    out_dtype=_OUT_OF_BUCKETIZE,
    out_overlap="read-first",
)
def searchsorted_number(
    sorted_sequence: Array,
    self: Scalar,
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: Array | None,
) -> Array:
    return _searchsorted(sorted_sequence, np.asarray(self), out_int32, right, side, sorter)


@operator(
    "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor",
    face="function",
    prepared=True,
    out_dtype=_OUT_OF_BUCKETIZE,
    out_overlap="read-first",
)
def bucketize(self: Array, boundaries: Array, out_int32: bool, right: bool) -> Array:
    if boundaries.ndim != 1:
        raise OperatorError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})",
            code="shape-mismatch",
        )
    dtype = common_dtype(self, boundaries)
    return _searchsorted(cast(boundaries, dtype), cast(self, dtype), out_int32, right, None, None)


@operator(
    "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, "
    "bool right=False) -> Tensor",
    face="function",
    out_dtype=_OUT_OF_BUCKETIZE,
    out_overlap="read-first",
)
def bucketize_number(self: Scalar, boundaries: Array, out_int32: bool, right: bool) -> Array:
    if boundaries.ndim != 1:
        raise OperatorError(
            f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})",
            code="shape-mismatch",
        )
    return _searchsorted(boundaries, np.asarray(self), out_int32, right, None, None)


# --------------------------------------------------------------------------- membership


_ISIN: Final = "*, bool assume_unique=False, bool invert=False) -> Tensor"


_FEW_TESTED: Final = 8
"""Elements that others are compared with one by one."""


def _parts_of_isin(
    result: Array, elements: Array, test_elements: Array, assume_unique: bool, invert: bool
) -> list[Part]:
    """Comparisons with few elements, joined."""
    arrays, count = family("elementwise.arrays"), test_elements.size
    is_alike = elements.dtype == test_elements.dtype and test_elements.flags.c_contiguous
    if arrays is None or not (is_alike and 0 < count <= _FEW_TESTED):
        return []
    tested, first = test_elements.reshape(-1), 1 + count
    letter = arrays.LETTERS[elements.dtype]
    steps: list[tuple[str, str, tuple[int, ...]]] = [
        ("equal", letter, (0, 1 + place)) for place in range(count)
    ]
    for place in range(1, count):
        before = first if place == 1 else first + len(steps) - 1
        steps.append(("either", "?", (before, first + place)))
    if invert:
        steps.append(("is_zero", "?", (first + len(steps) - 1,)))
    return [Part(steps, [elements, *(tested[place, ...] for place in range(count))], result)]


@operator(
    f"aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, {_ISIN}",
    parts=_parts_of_isin,
    refuses=_NO_ISIN,
    order="Tensor_Tensor_out Tensor_Scalar Tensor_Scalar_out Scalar_Tensor",
    out_dtype=SAME,
)
def isin(elements: Array, test_elements: Array, assume_unique: bool, invert: bool) -> Array:
    for each in (elements, test_elements):
        if kind(each.dtype) == 3 or each.dtype.kind == "b":
            raise UnsupportedDtype(
                f"Unsupported input type encountered for isin(): {dtype_of(each).scalar_name}"
            )
    dtype = common_dtype(elements, test_elements)
    first, second = (sortable(each.astype(dtype)) for each in (elements, test_elements))
    return np.asarray(np.isin(first, second, invert=invert))


@operator(
    f"aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, {_ISIN}",
    refuses=_NO_ISIN,
    out_dtype=SAME,
)
def isin_number(elements: Array, test_element: Scalar, assume_unique: bool, invert: bool) -> Array:
    return isin(elements, np.asarray(test_element), assume_unique, invert)


@operator(
    f"aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, {_ISIN}",
    refuses=_NO_ISIN,
    out_dtype=SAME,
)
def number_isin(element: Scalar, test_elements: Array, assume_unique: bool, invert: bool) -> Array:
    return isin(np.asarray(element), test_elements, assume_unique, invert)

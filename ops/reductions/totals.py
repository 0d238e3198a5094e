"""Further reductions: means without NaN, hashes, segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ..kernels import cast_by_kernel, family
from ..memory.dims import wrap_dim, wrap_dims
from ..memory.dtype import Array, Scalar, dtype_of, numpy_dtype
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..table.out_dtypes import OutDtype
from ..table.pointwise import as_array, cast
from ..table.promotion import kind
from ..table.refusals import Refusal
from ..table.table import operator
from .folding import folded
from .reduce import refuse_complex_nansum, sum_over

Dims = Sequence[int] | None
_INT64: Final = np.dtype(np.int64)
_FLOAT64: Final = np.dtype(np.float64)
_combine_bits: Final[Callable[..., object]] = np.bitwise_xor.reduce


@operator(
    "aten::nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    prepared=True,
    layout="C",
    on_slices="dims",
)
def nanmean(self: Array, dim: Dims, keepdim: bool, dtype: int | None) -> Array:
    self = self[...]  # which no other thread can change
    if kind(self.dtype) < 2:
        raise OperatorError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )
    refuse_complex_nansum(self)
    found = _mean_by_kernels(self, dim, keepdim) if dtype is None else None
    if found is not None:
        return found
    missing = np.isnan(self)
    wanted = self.dtype if dtype is None else numpy_dtype(dtype)
    wide = np.where(missing, self.dtype.type(0), self)
    wide = cast(wide, np.dtype(np.float32)) if wanted.itemsize < 4 else cast(wide, wanted)
    sums = sum_over(wide, dim, keepdim, None)
    axes = wrap_dims(dim, self.ndim)
    counts = np.count_nonzero(~missing, axes, keepdims=keepdim)
    sums = as_array(sums).astype(wanted, copy=False)  # the sum and the mean are rounded
    return as_array(np.true_divide(sums, counts.astype(wanted))).astype(wanted, copy=False)


def _mean_by_kernels(self: Array, dim: Dims, keepdim: bool) -> Array | None:
    """The same by kernels; None where there are none for such tensors."""
    arrays = family("elementwise.arrays") if self.size else None
    letter = "" if arrays is None else arrays.LETTERS[self.dtype]
    if arrays is None or not letter:
        return None
    axes = wrap_dims(dim, self.ndim)
    is_there: Array = arrays.evaluate([("equal", letter, (0, 0))], "?", self)
    sums = folded(self, axes, keepdim, "present")
    counts = folded(is_there, axes, keepdim, "sum")
    if sums is None or counts is None:
        return None
    counts = cast_by_kernel(counts, self.dtype, of_any_size=True)
    made: Array = arrays.evaluate([("divide", letter, (0, 1))], letter, sums, counts)
    return made


@operator(
    "aten::hash_tensor(Tensor self, int[1] dim=[], *, bool keepdim=False, int mode=0) -> Tensor",
    refuses=Refusal("qc", "xor_sum_cpu"),
    out_dtype=OutDtype("same", "Expected result to be of dtype uint64, but got {out}"),
    layout="C",
)
def hash_tensor(self: Array, dim: Dims, keepdim: bool, mode: int) -> Array:
    """The elements' 64-bit patterns (floats as doubles), combined by exclusive or."""
    if mode:
        raise OperatorError(f"Unknown hash_tensor mode: {mode}")
    if not self.size and not dim:
        raise OperatorError(
            "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    wide = self.astype(_FLOAT64 if kind(self.dtype) == 2 else _INT64)
    bits = wide.view(np.uint64) if wide.ndim else wide.reshape(1).view(np.uint64).reshape(())
    axes = wrap_dims(dim, self.ndim)
    for axis in axes:
        if not self.shape[axis] and self.ndim:
            raise IndexOutOfRange(
                f"hash_tensor: Expected reduction dim {axis} to have non-zero size."
            )
    return as_array(_combine_bits(bits, axes, np.uint64, None, keepdim))


# --------------------------------------------------------------------------- segments


_SEGMENTS: Final[dict[str, tuple[np.ufunc, float]]] = {
    "sum": (np.add, 0.0),
    "mean": (np.add, 0.0),
    "prod": (np.multiply, 1.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
    "amax": (np.maximum, -np.inf),
    "amin": (np.minimum, np.inf),
}
"""How a segment is reduced, and from which number on."""


def segment_lengths(
    data: Array, lengths: Array | None, offsets: Array | None, axis: int, unsafe: bool
) -> Array:
    if lengths is None and offsets is None:
        raise OperatorError(
            "segment_reduce(): Either lengths or offsets must be defined, not both."
        )
    if lengths is None:
        assert offsets is not None
        lengths = np.diff(offsets, axis=-1)
    lengths = settled(lengths)
    if lengths.dtype.kind != "i":
        raise OperatorError("segment_reduce(): Expected lengths and offsets of integers.")
    if lengths.size and lengths.min() < 0:
        raise OperatorError("lengths contains negative value!")
    size = data.shape[axis]
    sums = lengths.sum(-1, where=lengths <= size)  # no sum of these leaves 64 bits
    if np.any(lengths > size) or np.any(sums > size if unsafe else sums != size):
        raise OperatorError(
            "segment_reduce(): Expected all rows of lengths along axis "
            "to sum to data.size(lengths.dim()-1) when !unsafe."
        )
    return lengths


@operator(
    "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, "
    "Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    refuses=Refusal("biuqc", "_segment_reduce_cpu"),
)
def segment_reduce(
    data: Array,
    reduce: str,
    lengths: Array | None,
    indices: Array | None,
    offsets: Array | None,
    axis: int,
    unsafe: bool,
    initial: Scalar | None,
) -> Array:
    """Runs of a dimension, of given lengths, each reduced to one element."""
    if reduce not in _SEGMENTS:
        raise OperatorError(f"Unsupported reduction {reduce}")
    if indices is not None:
        raise OperatorError("segment_reduce(): indices based reduction is not supported yet.")
    place = wrap_dim(axis, data.ndim)
    counts = segment_lengths(data, lengths, offsets, place, unsafe)
    rest = data.shape[place + 1 :]
    rows = cast(data, np.dtype(np.float32)) if data.itemsize < 4 else data
    rows = rows.reshape(-1, *rest)[: int(counts.sum())]
    combine, start = _SEGMENTS[reduce]
    if isinstance(initial, (int, float)):
        start = float(initial)
    result = np.full((counts.size, *rest), start, rows.dtype)
    combine.at(result, np.repeat(np.arange(counts.size), counts.reshape(-1)), rows)
    if reduce == "mean":
        sizes = counts.reshape(-1, *[1] * len(rest))
        means = np.true_divide(result, np.maximum(sizes, 1))
        empty = np.nan if initial is None else start
        result = np.where(sizes > 0, means, empty)
    shape = (*data.shape[:place], counts.shape[-1], *rest)
    return as_array(result).reshape(shape).astype(data.dtype)

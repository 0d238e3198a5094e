"""Rows looked up in tables: embeddings, bags of them, one-hot vectors, bilinear forms."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import Prepared, blas, family, in_order, is_ready, is_real, is_whole
from ..linear_algebra.distance import vector_length
from ..memory.counts import check_storage
from ..memory.dims import size_at, wrap_dims
from ..memory.dtype import Array, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.storage import settled
from ..reductions.loss_reduction import widened
from ..selection.along import is_within
from ..selection.places import combined_natively, span
from ..table.pointwise import as_array, cast
from ..table.promotion import common_dtype
from ..table.refusals import class_name, cpp_name, letter, not_held
from ..table.table import operator
from ..table.without_data import rows_of

_INT64: Final = np.dtype(np.int64)
Bags = tuple[Array, Array, Array, Array]
_SUM, _MEAN, _MAX = range(3)
_FORMS: Final = {_SUM: "sums", _MEAN: "means", _MAX: "maxima"}
"""What native code calls them."""


def _check_indices(indices: Array, place: int, function: str) -> None:
    if indices.dtype is not _INT64 and indices.dtype != np.int32:
        raise OperatorError(
            f"Expected tensor for argument #{place} 'indices' to have one of the following scalar "
            f"types: Long, Int; but got {class_name(dtype_of(indices))} instead "
            f"(while checking arguments for {function})",
            code="dtype-mismatch",
            headline=f"`indices` must be whole numbers, not `{dtype_of(indices)}`",
            roles={"indices": "must be int64 or int32"},
        )


def _check_table(self: Array, function: str) -> None:
    if self.ndim != 2:
        raise OperatorError(
            f"Expected 2-dimensional tensor, but got {self.ndim}-dimensional tensor for argument "
            f"#1 'self' (while checking arguments for {function})",
            code="shape-mismatch",
        )


def _no_norm(self: Array) -> OperatorError:
    return OperatorError(
        "norm(): input dtype should be either floating point or complex. "
        f"Got {dtype_of(self).scalar_name} instead.",
        code="dtype-mismatch",
    )


@operator(
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
    "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    prepared=True,
    rows=rows_of("indices"),
    on_slices="lookups",
)
def embedding(
    weight: Array, indices: Array, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Array:
    """The rows of `weight` that `indices` name."""
    return _known_embedding.call(weight, indices)  # type: ignore[no-any-return]


def _embedding(weight: Array, indices: Array) -> Array:
    weight, indices = weight[...], indices[...]  # which no other thread can change
    if weight.ndim != 2:
        raise OperatorError("'weight' must be 2-D", code="shape-mismatch")
    _check_indices(indices, 1, "embedding")
    if indices.size and is_ready(weight):
        lookups = family("indexing.lookups")
        if lookups is not None:
            rows = lookups.rows(weight, in_order(cast(indices, _INT64)).reshape(-1))
            if rows is not None:
                return as_array(rows.reshape(*indices.shape, -1))
    if indices.size and not is_within(indices, len(weight)):
        raise IndexOutOfRange(
            "index out of range in self", headline=f"the table has {len(weight)} rows"
        )
    return as_array(weight.take(indices, 0) if weight.size else weight[indices])


_known_embedding: Final = Prepared(_embedding)


@operator(
    "aten::embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) "
    "-> Tensor(a!)",
    face="function",
)
def embedding_renorm_(self: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    """Shorten the named rows that are longer than `max_norm`."""
    _check_table(self, "embedding_renorm_")
    _check_indices(indices, 2, "embedding_renorm_")
    rows = np.unique(indices)
    if rows.size and not is_within(rows, len(self)):
        wrong = next(row for row in rows.tolist() if not 0 <= row < len(self))
        if not -len(self) <= wrong < len(self):
            raise IndexOutOfRange(
                f"select(): index {wrong} out of range for tensor of size {list(self.shape)} at "
                "dimension 0"
            )
    if rows.size and self.dtype.kind in "biu":
        raise _no_norm(self)
    lengths = vector_length(self[rows], norm_type, -1)
    long = lengths > max_norm
    scale = max_norm / (lengths[long].astype(np.float64) + 1e-7)
    self[rows[long]] *= scale[:, None].astype(self.dtype)
    return self


@operator(
    "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) "
    "-> Tensor",
    face="operator",
)
def embedding_renorm(self: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    return embedding_renorm_(self.copy(), indices, max_norm, norm_type)


@operator(
    "aten::_no_grad_embedding_renorm_(Tensor weight, Tensor input, float max_norm, "
    "float norm_type) -> Tensor",
    out="",
    face="operator",
)
def embedding_renorm_unseen(
    weight: Array, input: Array, max_norm: float, norm_type: float
) -> Array:
    """`embedding_renorm_` that autograd does not see.

    Its schema hides that it writes, as torch's does, so that script drops it where the result is
    unused.
    """
    return embedding_renorm_(weight, input, max_norm, norm_type)


# --------------------------------------------------------------------------- bags


def _check_ranks(weight: Array, indices: Array, offsets: Array) -> None:
    """Refuse ranks and dtypes."""
    for name, array, ranks, wanted in (
        ("input", indices, (1, 2), "1D or 2D"),
        ("offsets", offsets, (1,), "1D"),
        ("weight", weight, (2,), "2D"),
    ):
        if array.ndim not in ranks:
            raise OperatorError(
                f"{name} has to be a {wanted} Tensor, but got Tensor of dimension {array.ndim}",
                code="shape-mismatch",
            )
    _check_indices(indices, 1, "embedding_bag")
    if letter(weight.dtype) not in "hf":
        raise OperatorError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: "
            f"Half, BFloat16, Float, Double; but got {class_name(dtype_of(weight))} "
            "instead (while checking arguments for embedding_bag)",
            code="dtype-mismatch",
        )


def _check_weights(
    weight: Array, indices: Array, offsets: Array, mode: int, given: Array | None, extra: bool
) -> None:
    """Refuse weights of samples that do not fit, and too few offsets."""
    if given is not None:
        if mode != _SUM:
            raise OperatorError("embedding_bag: per_sample_weights only supported with mode='sum'")
        if given.dtype != weight.dtype:
            names = [f"torch.{dtype_of(array).scalar_name}Tensor" for array in (weight, given)]
            raise OperatorError(
                "Expected tensor for argument #1 'weight' to have the same type as tensor for "
                f"argument #1 'per_sample_weights'; but type {names[0]} does not equal {names[1]} "
                "(while checking arguments for embedding_bag)",
                code="dtype-mismatch",
            )
        for fits, text in (
            (given.ndim == 1, "dim() == 1"),
            (given.size == indices.size, "numel() == indices.numel()"),
        ):
            if not fits:
                raise not_held(f"per_sample_weights.value().{text}", code="shape-mismatch")
    if extra and not offsets.size:
        raise OperatorError("include_last_offset: number of offset should be at least 1")
    if mode not in (_SUM, _MEAN, _MAX):
        raise OperatorError("`mode` must be sum, mean, or max.")


def _check_bags(weight: Array, indices: Array, offsets: Array, mode: int, padding: int) -> None:
    if offsets.size and offsets[0] != 0:
        raise OperatorError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
            f"position 0. However, got {int(offsets[0])}"
        )
    if offsets.size > 1 and not is_within(offsets[:-1], indices.size + 1):
        raise IndexOutOfRange("index out of range in self", headline="an offset leaves `indices`")
    if offsets.size and offsets[-1] > indices.size:
        raise OperatorError(
            f"offsets[-1] can not be greater than input's length {indices.size} but got "
            f"offsets[-1] of {int(offsets[-1])}"
        )
    if indices.size and not is_within(indices, len(weight)):
        outside = (indices < 0) | (indices >= len(weight))
        at = int(np.argmax(outside))
        in_rows = weight.strides[-1] == weight.itemsize
        if mode == _MAX or padding >= 0 or weight.dtype == np.float64 or not in_rows:
            # torch sums these one by one
            raise OperatorError(
                "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                f"{int(indices[at])}",
                code="index-out-of-range",
            )
        raise OperatorError(
            f"Index {at} of input takes value {int(indices[at])} which is not in the valid range "
            f"[0, {len(weight)})",
            code="index-out-of-range",
        )


def _bags_natively(
    weight: Array,
    indices: Array,
    offsets: Array,
    mode: int,
    include_last: bool,
    shares: Array | None,
) -> Bags | None:
    """What bags that begin one after the other give; None where this is not what they do, or not
    worth it."""
    weight, indices, offsets = weight[...], indices[...], offsets[...]
    shares = None if shares is None else shares[...]  # which no other thread can change
    if (weight.ndim, offsets.ndim) != (2, 1) or indices.ndim not in (1, 2):
        return None
    if not indices.dtype is offsets.dtype is _INT64 or offsets.size <= include_last:
        return None
    if shares is not None:
        fits = mode == _SUM and shares.ndim == 1 and shares.size == indices.size
        if not fits or not is_whole(shares) or shares.dtype != weight.dtype:
            return None
    is_worth_it = indices.size > 0 and is_real(weight)
    lookups = family("indexing.lookups") if is_worth_it else None
    if lookups is None:
        return None
    named, starts = in_order(indices), in_order(offsets)
    form = _FORMS[mode] if shares is None else "shared"
    found: Bags | None = lookups.bags(weight, named.reshape(-1), starts, form, include_last, shares)
    return found


def _bags(
    weight: Array,
    indices: Array,
    offsets: Array,
    mode: int,
    per_sample_weights: Array | None,
    include_last_offset: bool,
    padding: int,
) -> Bags:
    """Rows summed, averaged or maximised bag by bag; an empty bag gives zeros."""
    if mode in _FORMS and padding < 0:
        found = _bags_natively(
            weight, indices, offsets, mode, include_last_offset, per_sample_weights
        )
        if found is not None:
            return found
    indices, offsets = settled(indices), settled(offsets)
    if offsets.dtype != indices.dtype:
        shared = common_dtype(indices, offsets)
        indices, offsets = cast(indices, shared), cast(offsets, shared)
    _check_ranks(weight, indices, offsets)
    _check_bags(weight, indices.reshape(-1), offsets, mode, padding)
    _check_weights(weight, indices, offsets, mode, per_sample_weights, include_last_offset)
    indices = indices.reshape(-1)
    if not offsets.size:
        none = np.zeros(0, np.int64)
        return np.zeros((0, weight.shape[1]), weight.dtype), none, none, none
    starts = offsets[:-1] if include_last_offset else offsets
    bag_of = np.searchsorted(starts, np.arange(indices.size), "right") - 1
    kept = indices != padding
    named, bags = indices[kept], bag_of[kept]
    rows = widened(weight)[named]
    if per_sample_weights is not None:
        rows = rows * widened(per_sample_weights)[kept][:, None]
    sizes = np.bincount(bags, minlength=len(starts)).astype(np.int64)
    filled = sizes > 0
    begins = (np.cumsum(sizes) - sizes)[filled]
    result = np.zeros((len(starts), weight.shape[1]), rows.dtype)
    largest = sizes
    if mode == _MAX:
        largest = np.zeros(result.shape, np.int64)
    if begins.size and mode == _MAX:
        later = np.ones((len(rows), 1), bool)
        later[begins] = False
        # what is no number is the largest only where it comes first
        rows = np.where(np.isnan(rows) & later, rows.dtype.type(-np.inf), rows)
        result[filled] = np.maximum.reduceat(rows, begins, 0)
        largest[filled] = _first_of_largest(rows, named, bags, result, begins)
    elif begins.size:
        result[filled] = np.add.reduceat(rows, begins, 0)
    if mode == _MEAN:
        result = result.astype(weight.dtype, copy=False)
        result /= np.maximum(sizes, 1)[:, None].astype(result.dtype)
    made = result.astype(weight.dtype, copy=False)
    if mode == _SUM:
        nothing = np.zeros(offsets.shape if padding < 0 else sizes.shape, np.int64)
        return made, np.empty(0, np.int64) if padding < 0 else bag_of, nothing, nothing.copy()
    return made, bag_of, sizes, largest


_known_bags: Final = Prepared(_bags)


def _first_of_largest(
    rows: Array, named: Array, bags: Array, result: Array, begins: Array
) -> Array:
    """Which row each maximum of a bag comes from: the first one that has it."""
    places = np.arange(len(rows))[:, None]
    is_it = (rows == result[bags]) | np.isnan(rows)
    first = np.where(is_it, places, len(rows))
    found = np.minimum.reduceat(first, begins, 0)
    return as_array(named[np.minimum(found, len(rows) - 1)])


_BAG = (
    "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, "
    "bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False"
)
_FOUR = "(Tensor, Tensor, Tensor, Tensor)"


@operator(f"aten::embedding_bag({_BAG}) -> {_FOUR}", out="", prepared=True)
def embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Array | None,
    include_last_offset: bool,
) -> Bags:
    return plain_embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        -1,
    )


@operator(
    "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, "
    "bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, "
    f"bool include_last_offset, int? padding_idx) -> {_FOUR}",
    out="",
    prepared=True,
)
def embedding_bag_padded(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Array | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> Bags:
    padding = -1
    if padding_idx is not None:
        rows = size_at(weight.shape, 0)
        if not -rows <= padding_idx < rows:
            raise OperatorError(
                f"padding_idx must be within the number of embeddings, -{rows} through "
                f"{rows - 1}, but got {padding_idx}"
            )
        padding = padding_idx % rows
    return plain_embedding_bag(
        weight,
        indices,
        offsets,
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding,
    )


@operator(
    f"aten::_embedding_bag({_BAG}, int padding_idx=-1) -> {_FOUR}",
    f"aten::_embedding_bag_forward_only({_BAG}, int padding_idx=-1) -> {_FOUR}",
)
def plain_embedding_bag(
    weight: Array,
    indices: Array,
    offsets: Array,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Array | None,
    include_last_offset: bool,
    padding_idx: int,
) -> Bags:
    """The bags; where each index went; how many each has; where each maximum comes from.

    Sums without padding leave the last three empty or zero, as nothing needs them.
    """
    return _known_bags.call(  # type: ignore[no-any-return]
        weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding_idx
    )


# --------------------------------------------------------------------------- one-hot, bilinear


@operator(
    "aten::one_hot(Tensor self, int num_classes=-1) -> Tensor",
    out="",
    face="layer",
    data_dependent=lambda self, num_classes: num_classes == -1,
    prepared=True,
)
def one_hot(self: Array, num_classes: int) -> Array:
    """A new last dimension with a 1 at the place the number names."""
    if self.dtype != np.int64:
        raise OperatorError(
            "one_hot is only applicable to index tensor of type LongTensor.",
            code="dtype-mismatch",
        )
    if not self.size:
        if num_classes <= 0:
            raise OperatorError("Can not infer total number of classes from empty tensor.")
        return np.zeros((*self.shape, num_classes), np.int64)
    made = _marked(self, num_classes) if num_classes > 0 else None
    if made is not None:
        return made
    low, high = span(self)
    if low < 0:
        raise OperatorError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = high + 1
        if num_classes > 2**63 - 1:
            raise OperatorError("zeros: Dimension size must be non-negative.")
    elif high >= num_classes:
        raise OperatorError("Class values must be smaller than num_classes.")
    made = _marked(self, num_classes)
    if made is not None:
        return made
    return as_array(self[..., None] == np.arange(num_classes)).astype(np.int64)


def _marked(self: Array, num_classes: int) -> Array | None:
    """`one_hot` by native code; None where there is none, and if a number is no class."""
    self = self[...]  # which no other thread can change
    check_storage([*self.shape, num_classes])
    classes = family("indexing.classes") if is_whole(self) else None
    found: Array | None = None if classes is None else classes.one_hot(self, num_classes)
    return found


def _sizes_differ(name: str, got: int, expected: int) -> OperatorError:
    return OperatorError(
        f"bilinear(): {name} size does not match weight size: got {got} but expected {expected}",
        code="shape-mismatch",
    )


@operator(
    "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
    autocast_in_graphs="widest",
    out="",
    cost="trilinear",
)
def bilinear(input1: Array, input2: Array, weight: Array, bias: Array | None) -> Array:
    """`input1 @ weight[k] @ input2 + bias[k]` for every k, over the last dimensions."""
    given = {"input1": input1, "input2": input2, "weight": weight}
    given |= {} if bias is None else {"bias": bias}
    if any(each.dtype != input1.dtype for each in given.values()):
        words = [f"{name}: {cpp_name(dtype_of(each))}" for name, each in given.items()]
        raise OperatorError(
            f"All tensors must have the same dtype, got {', '.join(words)}", code="dtype-mismatch"
        )
    if input1.ndim != input2.ndim:
        raise OperatorError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}",
            code="shape-mismatch",
        )
    for dim, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise OperatorError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}",
                code="shape-mismatch",
            )
    for name, x, axis in (("input1", input1, 1), ("input2", input2, 2)):
        if x.shape[-1] != weight.shape[axis]:
            raise _sizes_differ(name, x.shape[-1], weight.shape[axis])
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise _sizes_differ("bias", bias.shape[0], weight.shape[0])
    first = widened(input1).reshape(-1, input1.shape[-1])
    second = widened(input2).reshape(-1, input2.shape[-1])
    turned = blas.tensordot(first, widened(weight), ((1,), (1,)))
    turned = widened(turned.astype(weight.dtype, copy=False))  # torch keeps it in the dtype
    result = blas.matmul(turned, second[:, :, None])[:, :, 0]
    result = result.reshape(*input1.shape[:-1], weight.shape[0])
    if bias is not None:
        result = result + widened(bias)
    return as_array(result).astype(input1.dtype, copy=False)


@operator(
    "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
    "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
    cost="trilinear",
)
def trilinear(
    i1: Array,
    i2: Array,
    i3: Array,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int,
) -> Array:
    """The product of three tensors, each with new dimensions of size 1, summed over `sumdim`.

    A dimension that is new in all three has no elements, where it stays or is unrolled.
    """
    total = i1.ndim + len(expand1)
    if not 0 <= unroll_dim < total:
        raise OperatorError(f"unroll_dim must be in [0,{total - 1}]")
    added = [wrap_dims(dims, total) if dims else () for dims in (expand1, expand2, expand3)]
    first, second, third = map(np.expand_dims, (i1, i2, i3), added)
    summed = wrap_dims(sumdim, total) if sumdim else ()
    nowhere = set(added[0]).intersection(*added[1:]) - (set(summed) - {unroll_dim})
    first = first[tuple(slice(0 if dim in nowhere else None) for dim in range(total))]
    return as_array((first * second * third).sum(summed))


@operator(
    "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, "
    "SymInt padding_idx, bool scale_grad_by_freq) -> Tensor",
    face="operator",
)
def embedding_dense_backward(
    grad_output: Array,
    indices: Array,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Array:
    """The gradient of the table: for each row the sum of what came back where it was used."""
    _check_indices(indices, 2, "embedding_backward")
    named = indices.reshape(-1)
    rows: Array = grad_output.reshape(named.size, grad_output.shape[-1] if grad_output.ndim else 1)
    hidden = named == padding_idx
    if hidden.any():
        rows, named = rows[~hidden], named[~hidden]
    result = np.zeros((num_weights, rows.shape[1]), grad_output.dtype)
    if not scale_grad_by_freq and combined_natively(
        result, 0, named.astype(_INT64, copy=False), rows, "sum"
    ):
        return result
    rows = widened(rows)
    if scale_grad_by_freq:
        rows = rows / np.bincount(named, minlength=num_weights)[named][:, None].astype(rows.dtype)
    if rows.dtype == grad_output.dtype:
        np.add.at(result, named, rows)
    else:
        _add_in_turn(result, named, rows)
    return result


def _add_in_turn(table: Array, named: Array, rows: Array) -> None:
    """Add rows to those of a table of 16-bit floats, one after the other and each rounded: first
    those that come first of all with their number, then the second ones, and so on."""
    order, turns = np.argsort(named, kind="stable"), np.empty(named.size, np.int64)
    sorted_ones = named[order]
    turns[order] = np.arange(named.size) - np.searchsorted(sorted_ones, sorted_ones)
    by_turn = np.argsort(turns, kind="stable")
    for mine in np.split(by_turn, np.cumsum(np.bincount(turns))[:-1]):
        at = named[mine]
        table[at] = (table[at].astype(rows.dtype) + rows[mine]).astype(table.dtype)

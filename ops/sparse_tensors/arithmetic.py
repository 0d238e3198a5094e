"""Sums, products by element, reductions and softmax of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.elementwise import check_alpha, check_subtraction
from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..memory.dims import broadcast_error, expands_to, wrap_dims
from ..memory.dtype import DTYPES, DType, Scalar, of_numpy
from ..table.out_dtypes import CASTABLE, OutDtype, check_out_dtype
from ..table.pointwise import number_in
from ..table.promotion import promote
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Compressed, Coo, Parts, are_at_same_places, are_unheard, flat_places
from .structure import laid_as, to_coo, to_dense
from .tensors import is_sparse, of_parts, parts_of

__all__ = ["softmax", "total"]

_cat: Final = aten.cat
_select: Final = aten.index_select


def _same_sizes(name: str, a: Tensor, b: Tensor) -> None:
    if tuple(a.shape) != tuple(b.shape):
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same size, but self has size "
            f"{list(a.shape)} while other has size {list(b.shape)} "
            "(FYI: op2-sparse addition does not currently support broadcasting)"
        )


@form("aten::add")
def add(a: Tensor, b: Tensor, *, alpha: Scalar = 1) -> Tensor:
    """The sum; with a dense tensor first, a dense one.

    Places of both become one where they are in order.  Others are not sorted: those of both tensors
    stand one after the other.

    Raises:
        RuntimeError: a dense tensor is added to a sparse one, or sizes differ.
    """
    if not is_sparse(a):
        _same_sizes("add", a, b)
        return a.add(to_dense(b), alpha=alpha)
    if not is_sparse(b) and isinstance(parts_of(a), Compressed):
        _same_sizes("add", a, b)
        return to_dense(a).add(b, alpha=alpha)
    if not is_sparse(b):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    check_alpha(promote(a.dtype.numpy, b.dtype.numpy), alpha)
    return _sum(a, b, alpha)


def _sum(a: Tensor, b: Tensor, alpha: Scalar) -> Tensor:
    """The sum of two sparse tensors; the factor is cut to a number of the common dtype."""
    _same_sizes("add", a, b)
    first, second = parts_of(a), parts_of(b)
    added = _scaled(first.values, second.values, alpha)
    if first.values.shape == added.shape and are_at_same_places(first, second):
        return _there(first, first.values + added)
    one, other = first.to_coo(), second.to_coo()
    is_compressed = isinstance(parts_of(a), Compressed)
    if one.indices is other.indices and not (one.coalesced or is_compressed):
        return of_parts(Coo(one.indices, one.values + added, one.sizes))
    made = _side_by_side(one, added, other.indices)
    if is_compressed or (one.coalesced and other.coalesced):
        made = made.once()
    elif _ascends(one) and _ascends(other):
        made = made.once()._replace(coalesced=False)
    return laid_as(parts_of(a), made)


def _there(like: Parts, values: Tensor) -> Tensor:
    """New elements at the places of others; coordinates are those of the new tensor alone."""
    made = like.with_values(values)
    if isinstance(made, Coo):
        made = made._replace(indices=made.indices.clone())
    return of_parts(made)


def _scaled(one: Tensor, other: Tensor, alpha: Scalar) -> Tensor:
    """A factor times the second operand's elements, in the dtype in which both meet."""
    dtype = promote(one.dtype.numpy, other.dtype.numpy)
    factor = number_in(alpha, dtype)
    wide = other.to(of_numpy(dtype))
    return wide if alpha == 1 else wide * Tensor._of(factor)


def _ascends(part: Coo) -> bool:
    """Whether the places are sorted and each is named once, even if nobody has said so."""
    return part.coalesced or bool((np.diff(flat_places(part)) > 0).all())


def _side_by_side(one: Coo, values: Tensor, indices: Tensor) -> Coo:
    """One tensor's elements and others, which may be at the same places."""
    both = [one.values, values]
    places = Tensor._of(np.concatenate((one.indices._array, indices._array), 1))
    arrays = [each._array for each in both] if are_unheard(*both) else []
    if arrays and arrays[0].dtype is arrays[1].dtype and arrays[0].dtype.isbuiltin == 1:
        return Coo(places, Tensor._of(np.concatenate(arrays)), one.sizes)
    return Coo(places, _cat(both), one.sizes)


@form("aten::add_")
def add_in_place(a: Tensor, b: Tensor, *, alpha: Scalar = 1) -> Tensor:
    """The sum, in the first tensor: at the places of a sparse one alone if that is dense.

    Raises:
        RuntimeError: as `add` does.
    """
    if is_sparse(a):
        made = _sum(a, b, alpha) if is_sparse(b) else add(a, b, alpha=alpha)
        a.data = in_dtype_of(a, made, _ADDED)
        return a
    _same_sizes("add", a, b)
    own = parts_of(b).to_coo()
    values = _scaled(a, own.values, alpha)
    check_out_dtype(_ADDED, "aten::add_", values.dtype, a.dtype)
    return a.index_put_(tuple(own.indices), values.to(a.dtype), accumulate=True)


_NOT_CAST: Final = "Can't convert result type {result} to output {out} in add operation"
_ADDED: Final = OutDtype("castable", _NOT_CAST)


def in_dtype_of(first: Tensor, made: Tensor, rule: OutDtype) -> Tensor:
    """A sparse result for the tensor that it is written into.

    Raises:
        OperatorError: it may not be cast to that tensor's dtype.
    """
    if made.dtype is first.dtype:
        return made
    check_out_dtype(rule, "aten::copy_", made.dtype, first.dtype)
    own = parts_of(made)
    return of_parts(own.with_values(own.values.to(first.dtype)))


def put_into(first: Tensor, made: Tensor) -> Tensor:
    """A sparse tensor with what was made in the place of its elements.

    Raises:
        OperatorError: the one's dtype may not be cast to the other's.
    """
    first.__dict__["parts"] = parts_of(in_dtype_of(first, made, CASTABLE))
    return first


@form("aten::sub_", "aten::subtract_")
def sub_in_place(a: Tensor, b: Tensor, *, alpha: Scalar = 1) -> Tensor:
    """The difference, in the first tensor, as `add_`."""
    return add_in_place(a, b, alpha=_negated(a, b, alpha))


@form("aten::sub", "aten::subtract")
def sub(a: Tensor, b: Tensor, *, alpha: Scalar = 1) -> Tensor:
    """The difference, as `add`."""
    return add(a, b, alpha=_negated(a, b, alpha))


def _negated(a: Tensor, b: Tensor, alpha: Scalar) -> Scalar:
    """The factor that makes a sum the difference."""
    check_subtraction(*(each.dtype.numpy for each in (a, b) if isinstance(each, Tensor)))
    if isinstance(alpha, bool):
        raise RuntimeError("torch boolean negative, the `-` operator, is not supported.")
    return -alpha


@form("aten::mul", "aten::multiply")
def mul(a: Tensor, b: Tensor) -> Tensor:
    """The product by element: it keeps what the sparse tensor keeps, or both of two.

    Raises:
        RuntimeError: sizes do not broadcast, or those of two sparse tensors differ.
    """
    if not is_sparse(a) or (not a.ndim and isinstance(b, Tensor) and is_sparse(b)):
        a, b = b, a
    if not isinstance(b, Tensor) or not b.ndim:
        own, factor = parts_of(a), to_dense(b) if isinstance(b, Tensor) else b
        if isinstance(factor, Tensor) and not a.ndim:  # which decides the dtype as `a` does
            factor = factor.unsqueeze(0)
        return of_parts(own.with_values(own.values * factor))
    return _of_both(a, b) if is_sparse(b) else _at_places(a, b)


def _at_places(a: Tensor, b: Tensor) -> Tensor:
    """A sparse tensor times a dense one, which is read where the first keeps something."""
    own = parts_of(a).once()
    if isinstance(own, Compressed):
        b = _widened(b, tuple(a.shape))
        _same_sizes("mul", a, b)
        return of_parts(own.with_values(own.values * b[tuple(own.to_coo().indices.unbind(0))]))
    try:
        sizes = np.broadcast_shapes(tuple(b.shape), own.sizes)
    except ValueError:
        raise broadcast_error(tuple(b.shape), own.sizes, ("other", "self")) from None
    wide = _repeated(own, sizes)
    there = b.expand(sizes)[tuple(wide.indices.unbind(0))]
    if not wide.depth:
        there = b.expand(sizes).unsqueeze(0)
    return of_parts(wide.with_values(wide.values * there))


def _repeated(own: Coo, sizes: tuple[int, ...]) -> Coo:
    """A coalesced tensor in larger sizes to which it broadcasts; new dimensions are sparse."""
    if own.sizes == sizes:
        return own
    more = len(sizes) - len(own.sizes)
    before, places = (1,) * more + own.sizes, own.indices.numpy()
    places = np.concatenate([np.zeros((more, places.shape[1]), np.int64), places])
    keep = np.arange(places.shape[1])
    for axis in range(len(places)):
        if before[axis] != sizes[axis]:
            row = np.repeat(np.arange(sizes[axis]), len(keep))
            keep, places = np.tile(keep, sizes[axis]), np.tile(places, sizes[axis])
            places[axis] = row
    dense = sizes[len(places) :]
    values = _select(own.values, 0, Tensor._of(keep)).expand([len(keep), *dense])
    return Coo(Tensor._of(places), values, sizes).once()


def _of_both(a: Tensor, b: Tensor) -> Tensor:
    """The product of two sparse tensors, whose dense dimensions may broadcast."""
    first, second = parts_of(a), parts_of(b)
    if first.sizes == second.sizes and are_at_same_places(first, second):
        return _there(first, first.values * second.values)
    one, other = parts_of(a).to_coo().once(), parts_of(b).to_coo().once()
    depth = one.depth
    if (
        depth != other.depth
        or len(one.sizes) != len(other.sizes)
        or (one.sizes[:depth] != other.sizes[:depth])
    ):
        raise RuntimeError(
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, "
            "number of sparse dimensions, and shape of sparse dimensions"
        )
    _, ours, theirs = np.intersect1d(
        flat_places(one), flat_places(other), assume_unique=True, return_indices=True
    )
    chosen = Tensor._of(ours)
    values = _select(one.values, 0, chosen) * _select(other.values, 0, Tensor._of(theirs))
    sizes = (*one.sizes[:depth], *values.shape[1:])
    made = Coo(_select(one.indices, 1, chosen), values, sizes, True)
    return laid_as(parts_of(a), made)


def _widened(dense: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A dense tensor in the shape of a sparse one, if it broadcasts to that."""
    return dense.expand(shape) if expands_to(dense.shape, shape) else dense


def _quotient(
    name: str, said: str, a: Tensor, b: Tensor | Scalar, *rest: object, **options: object
) -> Tensor:
    if isinstance(b, Tensor) and (is_sparse(b) or b.ndim):
        got = f"shape {list(b.shape)} for divisor" if b.ndim else "a sparse divisor"
        raise RuntimeError(
            f"Sparse {said} requires a scalar or zero-dim dense tensor divisor (got {got})"
        )
    own, function = parts_of(a), eager_function(f"aten::{name}")
    if name != "div" or options.get("rounding_mode") is not None:
        own = own.once()  # parts of an element are not rounded by themselves
    return of_parts(own.with_values(function(own.values, b, *rest, **options)))


@form("aten::div", "aten::divide", "aten::true_divide")
def div(a: Tensor, b: Tensor | Scalar, **options: object) -> Tensor:
    """The quotient by a number.

    Raises:
        RuntimeError: it is divided by a tensor with dimensions.
    """
    return _quotient("div", "division", a, b, **options)


@form("aten::div_", "aten::divide_", "aten::true_divide_")
def div_in_place(a: Tensor, b: Tensor | Scalar, **options: object) -> Tensor:
    """The quotient, in the first tensor."""
    return put_into(a, div(a, b, **options))


@form("aten::floor_divide")
def floor_divide(a: Tensor, b: Tensor | Scalar) -> Tensor:
    """The quotient by a number, rounded down.

    Raises:
        RuntimeError: as `div`.
    """
    return _quotient("floor_divide", "floor division", a, b)


@form("aten::floor_divide_")
def floor_divide_in_place(a: Tensor, b: Tensor | Scalar) -> Tensor:
    """The quotient rounded down, in the first tensor."""
    return put_into(a, floor_divide(a, b))


@form("aten::copy_")
def copy_in_place(a: Tensor, b: Tensor, non_blocking: bool = False) -> Tensor:
    """A sparse tensor becomes another one, in its own dtype.

    Raises:
        RuntimeError: one of both is dense.
    """
    del non_blocking
    if not (is_sparse(a) and is_sparse(b)):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{a.type()} and src type = {b.type()}"
        )
    own = parts_of(b)
    a.__dict__["parts"] = own.with_values(own.values.to(a.dtype, copy=True))
    return a


@form("aten::is_nonzero")
def is_nonzero(tensor: Tensor) -> bool:
    """Whether the only element is not zero.

    Raises:
        RuntimeError: there is not just one.
    """
    if tensor.numel() != 1:
        few = "no values" if not tensor.numel() else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {few} is ambiguous")
    return bool(any_of(tensor))


@form("aten::mul_", "aten::multiply_")
def mul_in_place(a: Tensor, b: Tensor) -> Tensor:
    """The product, in the first tensor."""
    if not is_sparse(a):
        return a.mul_(to_dense(b))
    return put_into(a, mul(a, b))


# --------------------------------------------------------------------------- reductions


@form("aten::sum")
def whole_sum(
    tensor: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """`total`, of small whole numbers in int64."""
    if dtype is None and not (tensor.is_floating_point() or tensor.is_complex()):
        dtype = DTYPES["int64"]
    return total(tensor, dim, keepdim, dtype=dtype)


@form("aten::_sparse_sum")
def total(
    tensor: Tensor,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The sum of all elements, or over dimensions; sparse where sparse dimensions are left.

    By rows, or columns, where the tensor is and keeps its dimensions.
    """
    kept, own = parts_of(tensor), parts_of(tensor).to_coo()
    values = own.values if dtype is None else own.values.to(dtype)
    if dim is None:
        return values.sum()
    axes = wrap_dims([dim] if isinstance(dim, int) else list(dim), len(own.sizes))
    within = [axis - own.depth + 1 for axis in axes if axis >= own.depth]
    values = values.sum(within, keepdim) if within else values
    left = [axis for axis in range(own.depth) if axis not in axes]
    sizes = tuple(1 if axis in axes else n for axis, n in enumerate(own.sizes))
    if not left and not (keepdim and isinstance(kept, Compressed)):
        made = values.sum(0)
        return made.reshape(sizes) if keepdim else made
    if not keepdim:
        rest = tuple(n for axis, n in enumerate(own.sizes) if axis not in axes)
        return of_parts(Coo(own.indices[left], values, rest).once())
    places = own.indices.clone()
    for axis in axes:
        if axis < own.depth:
            places[axis] = 0
    return laid_as(kept, Coo(places, values, sizes).once())


@form("aten::any")
def any_of(tensor: Tensor) -> Tensor:
    """Whether an element is not zero."""
    found: Tensor = parts_of(tensor).once().values.any()
    return found


@form("aten::linalg_vector_norm", "aten::norm")
def norm(
    tensor: Tensor,
    p: Any = 2,
    dim: int | Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: DType | None = None,
) -> Tensor:
    """The norm of all elements.

    Raises:
        RuntimeError: the norm over some dimensions is asked for, or its order is not positive.
    """
    order = 2 if p in (None, "fro") else p
    if keepdim:
        raise RuntimeError("norm_sparse currently does not support keepdim=True")
    dims = [] if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if dims and len(set(wrap_dims(dims, tensor.ndim))) < tensor.ndim:
        raise RuntimeError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or "
            "contain all dimensions of the input"
        )
    if not order > 0:
        raise RuntimeError("norm of a sparse tensor: only norms of positive order")
    return parts_of(tensor).once().values.norm(order, dtype=dtype)


# --------------------------------------------------------------------------- softmax


def softmax(tensor: Tensor, dim: int, dtype: DType | None, logarithm: bool) -> Tensor:
    """Softmax over what is kept along a dimension, as if the rest were minus infinity."""
    own = parts_of(to_coo(tensor)).to_coo().once()
    values = own.values if dtype is None else own.values.to(dtype)
    (axis,) = wrap_dims([dim], len(own.sizes))
    take: Callable[..., Tensor] = eager_function(
        "aten::log_softmax" if logarithm else "aten::softmax"
    )
    if axis >= own.depth:
        return of_parts(own.with_values(take(values, axis - own.depth + 1)))
    rest = [each for each in range(own.depth) if each != axis]
    sizes = tuple(own.sizes[each] for each in rest)
    keys = flat_places(own._replace(indices=own.indices[rest], sizes=sizes))
    _, group = np.unique(keys, return_inverse=True)
    groups = Tensor._of(group.reshape(-1).astype(np.int64))
    count = int(group.max()) + 1 if group.size else 0
    places = groups.reshape([-1] + [1] * (values.ndim - 1)).expand_as(values)
    empty = values.detach().new_zeros([count, *values.shape[1:]])
    highest = empty.scatter_reduce(0, places, values.detach(), "amax", include_self=False)
    moved = values - _select(highest, 0, groups)
    sums = _select(empty.index_add(0, groups, moved.exp()), 0, groups)
    made = moved - sums.log() if logarithm else moved.exp() / sums
    return of_parts(own.with_values(made))


@form("aten::_sparse_softmax")
def kept_softmax(tensor: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """`softmax` as an operator."""
    return softmax(tensor, dim, dtype, logarithm=False)


@form("aten::_sparse_log_softmax")
def kept_log_softmax(tensor: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """The logarithm of it."""
    return softmax(tensor, dim, dtype, logarithm=True)

"""Matrix products with sparse tensors."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..memory.dtype import Array, Scalar
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Compressed, Coo, flat_places
from .structure import laid_as, select, t, to_csr, to_sparse
from .structure import mask as select_places
from .tensors import is_sparse, of_parts, parts_of

__all__ = ["addmm", "matmul", "hspmm", "reduced_product", "sampled_addmm", "smm", "spmm"]

_add_at: Final = aten.index_add
_product: Final = aten.matmul
_stack: Final = aten.stack
_select: Final = aten.index_select
_bags: Final = aten._embedding_bag
_order: Final = aten.argsort
_BAGGED: Final = ("float32", "float64")
"""Dtypes of which rows are added up by one kernel."""


def _check(a: Tensor, b: Tensor) -> None:
    for place, each in enumerate((a, b), 1):
        if each.ndim != 2:
            raise RuntimeError(
                f"Expected mat{place}_.dim() == 2 to be true, but got false.  (Could this error "
                "message be improved?  If so, please report an enhancement request to PyTorch.)"
                if is_sparse(a) and is_sparse(b)
                else f"addmm: matrices expected, got {each.ndim}D tensor"
            )
    if a.dtype is not b.dtype:
        one, other = a.dtype.scalar_name, b.dtype.scalar_name
        raise RuntimeError(
            f"mat1 dtype {one} does not match mat2 dtype {other}"
            if is_sparse(a) and is_sparse(b)
            else f"expected scalar type {one} but found {other}"
        )
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
            f"{b.shape[0]}x{b.shape[1]})"
        )


def _starts(rows: Array, count: int) -> Tensor:
    """Where each of `count` rows begins among sorted ones, and where the last one ends."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=starts[1:])
    return Tensor._of(starts)


def _as_bags(given: Coo | Compressed) -> tuple[Tensor, Tensor, Tensor]:
    """Where rows begin, their columns, and their values, of a matrix with elements."""
    if isinstance(given, Compressed) and not given.by_columns:
        return given.starts.long(), given.inner.long(), given.values
    own = given.to_coo()
    flat_places(own)
    rows, columns = (np.ascontiguousarray(each) for each in own.indices.numpy())
    values = own.values
    if not own.coalesced:
        order = _order(Tensor._of(rows), stable=True)
        rows, columns = (each[order._array] for each in (rows, columns))
        values = _select(values, 0, order)
    return _starts(rows, own.sizes[0]), Tensor._of(columns), values


def _by_dense(a: Tensor, b: Tensor) -> Tensor:
    """A sparse matrix times a dense one: rows of the second, weighted and added up."""
    given = parts_of(a)
    if b.dtype.name in _BAGGED and b.shape[1] and given.values.shape[0]:
        starts, columns, values = _as_bags(given)
        options = {"per_sample_weights": values, "include_last_offset": True}
        found: Tensor = _bags(b.contiguous(), columns, starts, **options)[0]
        return found
    own = given.to_coo()
    flat_places(own)
    rows, columns = own.indices.unbind(0)
    weighted = own.values.unsqueeze(1) * _select(b, 0, columns)
    empty = weighted.detach().new_zeros([own.sizes[0], b.shape[1]])
    return _add_at(empty, 0, rows, weighted)


def _by_sparse(a: Tensor, b: Tensor) -> Tensor:
    """Two sparse matrices: each element of the first meets a row of the second."""
    first, second = parts_of(a).to_coo().once(), parts_of(to_csr(b))
    assert isinstance(second, Compressed)
    starts = second.starts.numpy()
    rows, columns = first.indices.numpy()
    counts = (starts[1:] - starts[:-1])[columns]
    left = np.repeat(np.arange(len(columns)), counts)
    steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    right = np.repeat(starts[:-1][columns], counts) + steps
    indices = Tensor._of(np.array([rows[left], second.inner.numpy()[right]], np.int64))
    ours, theirs = (Tensor._of(each.astype(np.int64)) for each in (left, right))
    values = _select(first.values, 0, ours) * _select(second.values, 0, theirs)
    made = Coo(indices, values, (first.sizes[0], second.sizes[1])).once()
    return laid_as(parts_of(a), made)


@form("aten::mm")
def mm(a: Tensor, b: Tensor) -> Tensor:
    """The product of two matrices; sparse where both are.

    Raises:
        RuntimeError: no matrices, or sizes that do not meet.
    """
    _check(a, b)
    if not is_sparse(a):
        return _by_dense(t(b), a.t()).t()
    return _by_sparse(a, b) if is_sparse(b) else _by_dense(a, b)


_REDUCTIONS: Final = ("sum", "prod", "mean", "amax", "amin")


@form("aten::_sparse_mm")
def reduced_product(a: Tensor, b: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices; what is added up there may be reduced in another way.

    Args:
        a: (n, m), by rows where a reduction is named.
        b: (m, k), dense where one is named.
        reduce: `sum`, `mean`, `amax` (`max`) or `amin` (`min`) of what an element of the result
            is made of, which is zero where that is nothing.

    Raises:
        RuntimeError: no matrices, sizes that do not meet, or another reduction.
        NotImplementedError: the matrix is not by rows.
    """
    if reduce is None:
        return mm(a, b)
    if reduce in ("max", "min"):
        reduce = f"a{reduce}"
    if reduce not in _REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    own = parts_of(a) if is_sparse(a) else None
    if not isinstance(own, Compressed) or own.by_columns or is_sparse(b):
        backend = "SparseCPU" if isinstance(own, Coo) or is_sparse(b) else "CPU"
        raise NotImplementedError(
            f"Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the '{backend}' "
            "backend."
        )
    if reduce == "prod":
        raise RuntimeError("sparse_mm_reduce: reduce type of prod has not been enabled.")
    _check(a, b)
    if reduce in ("sum", "mean"):
        made = _by_dense(a, b)
        counts = Tensor._of(np.maximum(np.diff(own.starts.numpy()), 1))
        return made if reduce == "sum" else made / counts.to(made.dtype).unsqueeze(1)
    rows, columns = own.to_coo().indices.unbind(0)
    weighted = own.values.unsqueeze(1) * _select(b, 0, columns)
    empty = weighted.detach().new_zeros([own.sizes[0], b.shape[1]])
    places = rows.unsqueeze(1).expand_as(weighted)
    return empty.scatter_reduce(0, places, weighted, reduce, include_self=False)


def _check_sampled(matrix: Tensor, a: Tensor, b: Tensor) -> None:
    for name, each in (("mat1", a), ("mat2", b)):
        if each.ndim < 2:
            raise RuntimeError(
                f"sampled_addmm: Expected {name} to be a matrix, got {each.ndim}-D tensor"
            )
    for one, other, names in ((a, b, ("mat1", "mat2")), (a, matrix, ("mat1", "self"))):
        if one.dtype is not other.dtype:
            raise RuntimeError(
                f"sampled_addmm: Expected {names[0]} and {names[1]} to have the same dtype, but "
                f"got {one.dtype.scalar_name} and {other.dtype.scalar_name}"
            )
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            "sampled_addmm: mat1 and mat2 shapes cannot be multiplied "
            f"({a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})"
        )
    for place, name, each in ((-2, "mat1", a), (-1, "mat2", b)):
        if matrix.shape[place] != each.shape[place]:
            raise RuntimeError(
                f"sampled_addmm: self.shape[{place}] must match {name}.shape[{place}]"
            )


def sampled_addmm(
    matrix: Tensor, a: Tensor, b: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """`alpha * (a @ b) + beta * matrix` at the places that a sparse matrix keeps.

    Raises:
        RuntimeError: no matrices, sizes that do not meet, or dtypes that differ.
    """
    own = parts_of(matrix)
    _check_sampled(matrix, a, b)
    if a.ndim > 2 or b.ndim > 2 or len(own.sizes) > 2 or _is_full(own):
        return select_places(a @ b, matrix) * alpha + matrix * beta
    own = own.once()
    rows, columns = own.to_coo().indices.unbind(0)
    pairs = [_select(a, 0, rows), _select(b.t().contiguous(), 0, columns)]
    products = eager_function("aten::einsum")("ij,ij->i", pairs)
    return of_parts(own.with_values(products * alpha + own.values * beta))


def _is_full(own: Coo | Compressed) -> bool:
    """Whether so many places are kept that a product of matrices is quicker than those of rows."""
    return own.values.shape[0] * 16 > own.sizes[0] * own.sizes[1]


@form("aten::mv")
def mv(a: Tensor, x: Tensor) -> Tensor:
    """A matrix times a vector.

    Raises:
        RuntimeError: they are not, or sizes do not meet.
    """
    if a.ndim != 2 or x.ndim != 1:
        raise RuntimeError(
            "mv: two tensor dim should be 2 and 1, but got "
            f"SparseTensor Dim: {a.ndim}Tensor Dim: {x.ndim}"
        )
    if a.shape[1] != x.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    return mm(a, x.unsqueeze(1)).squeeze(1)


@form("aten::bmm")
def bmm(a: Tensor, b: Tensor) -> Tensor:
    """The products of the matrices of two batches, the second one dense."""
    made = [mm(select(a, 0, place), b[place]) for place in range(a.shape[0])]
    return _stack(made)


@form("aten::matmul")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b` for matrices, a matrix and a vector, and batches of matrices."""
    if a.ndim == 2 and b.ndim == 1:
        return mv(a, b)
    return bmm(a, b) if a.ndim == 3 else mm(a, b)


def spmm(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b`, whether they are sparse or not: `matmul` is called where one is."""
    return _product(a, b)


def hspmm(a: Tensor, b: Tensor) -> Tensor:
    """A sparse matrix times a dense one, as whole rows: those in which the first keeps something.

    Raises:
        RuntimeError: no matrices, or sizes that do not meet.
    """
    _check(a, b)
    rows = Tensor._of(np.unique(parts_of(a).to_coo().indices.numpy()[0]))
    made = _by_dense(a, b)
    return of_parts(Coo(rows.unsqueeze(0), _select(made, 0, rows), tuple(made.shape), True))


def smm(a: Tensor, b: Tensor) -> Tensor:
    """`a @ b` as a tensor that keeps what is not zero."""
    made = spmm(a, b)
    return made if is_sparse(made) else to_sparse(made)


@form("aten::linear")
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias` over the last dimension."""
    rows = input if input.ndim == 2 else input.reshape(-1, input.shape[-1])
    made = mm(rows, t(weight) if is_sparse(weight) else weight.t())
    if rows is not input:
        made = made.reshape(*input.shape[:-1], weight.shape[0])
    return made if bias is None else made + bias


@form("aten::addmm", "aten::_sparse_addmm")
def addmm(tensor: Tensor, a: Tensor, b: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Tensor:
    """`beta * tensor + alpha * (a @ b)`.

    Raises:
        RuntimeError: dtypes differ, no matrices, or sizes that do not meet.
    """
    if is_sparse(a) and not is_sparse(b):
        first = tensor if isinstance(parts_of(a), Compressed) else a
        for each in (tensor, a, b):
            if each.dtype is not first.dtype:
                wanted, found = first.dtype.scalar_name, each.dtype.scalar_name
                raise RuntimeError(f"expected scalar type {wanted} but found {found}")
    return _weighted(tensor, mm(a, b), beta, alpha)


def _weighted(tensor: Tensor, made: Tensor, beta: Scalar, alpha: Scalar) -> Tensor:
    made = made * alpha if alpha != 1 else made
    return (tensor * beta if beta != 1 else tensor) + made


@form("aten::addmv")
def addmv(tensor: Tensor, a: Tensor, x: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1) -> Tensor:
    """`beta * tensor + alpha * (a @ x)` for a vector.

    Raises:
        RuntimeError: dtypes differ.
    """
    kinds = [each.dtype.scalar_name for each in (tensor, a, x)]
    if len(set(kinds)) > 1:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{kinds[0]}, {kinds[1]}, and {kinds[2]}"
        )
    return _weighted(tensor, mv(a, x), beta, alpha)

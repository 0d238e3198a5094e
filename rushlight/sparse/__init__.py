"""Sparse tensors: `torch.sparse`.

By coordinates (`torch.sparse_coo_tensor`), by rows or by columns (`torch.sparse_csr_tensor`,
`torch.sparse_csc_tensor`): made, converted, added, multiplied, summed, with gradients of their
values.  Operators without a form for them raise NotImplementedError, which names them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar, cast

from ..module_names import names_of
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import DType, Layout, Scalar
from ..ops.sparse_tensors.arithmetic import softmax as _softmax
from ..ops.sparse_tensors.arithmetic import total as _total
from ..ops.sparse_tensors.creation import CHECKED as _CHECKED
from ..ops.sparse_tensors.creation import sparse_coo_tensor as _sparse_coo_tensor
from ..ops.sparse_tensors.products import addmm as _addmm
from ..ops.sparse_tensors.products import reduced_product as _reduced_product
from ..ops.sparse_tensors.products import sampled_addmm as _sampled_addmm
from ..ops.tensors.tensor import Tensor
from .legacy_tensors import SPARSE_CLASSES

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
]


_sparse_sum: Callable[..., Tensor] = eager_function("aten::_sparse_sum")

F = TypeVar("F", bound=Callable[..., object])


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """The product of two matrices, of which one or both are sparse; sparse where both are.

    Args:
        mat1: (n, m).
        mat2: (m, k).
        reduce: `sum`, `mean`, `amax` or `amin` of what is added up in a product of a matrix by rows
            and a dense one.

    Raises:
        RuntimeError: no matrices, sizes that do not meet, or another reduction.
        NotImplementedError: a reduction of other matrices.
    """
    if reduce is None:
        return cast(Tensor, eager_function("aten::mm")(mat1, mat2))
    return _reduced_product(mat1, mat2, reduce)


def addmm(
    mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """`beta * mat + alpha * (mat1 @ mat2)`, with `mat1` sparse."""
    return _addmm(mat, mat1, mat2, beta=beta, alpha=alpha)


def sampled_addmm(
    input: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: Scalar = 1,
    alpha: Scalar = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`alpha * (mat1 @ mat2) + beta * input` at the places that the matrix `input` keeps.

    Raises:
        RuntimeError: no matrices, sizes that do not meet, or dtypes that differ.
    """
    made = _sampled_addmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return made if out is None else out.copy_(made)


def _sum_in_script(input: Tensor, dim: list[int] | None = None, dtype: int | None = None) -> Tensor:
    values = input if dtype is None else input.to(dtype=dtype)
    if dim is None:
        return _sparse_sum(values)
    return _sparse_sum(values, dim)


def sum(
    input: Tensor, dim: int | Sequence[int] | None = None, dtype: DType | None = None
) -> Tensor:
    """The sum of all elements, or over dimensions; sparse where sparse dimensions are left."""
    return _total(input, dim, dtype=dtype)


sum._in_script = _sum_in_script  # type: ignore[attr-defined]


def softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """Softmax over what is kept along a dimension, as if the rest were minus infinity."""
    return _softmax(input, dim, dtype, logarithm=False)


def log_softmax(input: Tensor, dim: int, *, dtype: DType | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    return _softmax(input, dim, dtype, logarithm=True)


def _check_diagonals(
    rows: Tensor, offsets: Tensor, shape: tuple[int, ...], layout: Layout | None
) -> None:
    """Refuse what is no matrix of diagonals, in the order in which torch looks at it."""
    count, named = rows.shape[0], offsets.numel()
    wanted = "sparse_coo" if layout is None else layout.name
    spelled = wanted.title().replace("_", "")
    for refused, said in (
        (rows.ndim != 2, "Diagonals must be vector or matrix"),
        (len(shape) != 2, "Output shape must be 2d"),
        (offsets.ndim > 1, "Offsets must be scalar or vector"),
        (
            count != named,
            f"Number of diagonals ({count}) does not match the number of offsets ({named})",
        ),
        (
            wanted not in ("sparse_coo", "sparse_csr", "sparse_csc"),
            f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {spelled}",
        ),
        (
            offsets.dtype.name != "int64",
            f"Offset Tensor must have dtype Long but got {offsets.dtype.scalar_name}",
        ),
        (offsets.unique().numel() != named, "Offset tensor contains duplicate values"),
    ):
        if refused:
            raise RuntimeError(said)


def spdiags(
    diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Layout | None = None
) -> Tensor:
    """A sparse matrix of diagonals.

    Args:
        diagonals: (d, n) or (n): element j of a row stands in column j.
        offsets: (d): 0 is the main diagonal, those above it are positive.
        shape: of the matrix.
        layout: `torch.sparse_coo`, or one by rows or columns.

    Raises:
        RuntimeError: as many offsets as rows are wanted, each once.
    """
    rows = diagonals if diagonals.ndim > 1 else diagonals.unsqueeze(0)
    kept = offsets.reshape(-1)
    _check_diagonals(rows, offsets, shape, layout)
    columns = eager_function("aten::arange")(rows.shape[1]).expand_as(rows)
    lines = columns - kept.unsqueeze(1)
    inside = (lines >= 0) & (lines < shape[0]) & (columns < shape[1])
    places = eager_function("aten::stack")([lines[inside], columns[inside]])
    made = _sparse_coo_tensor(places, rows[inside], shape)
    return made if layout is None else made.to_sparse(layout=layout)


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> NoReturn:
    """Sparse systems are not solved here.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError("torch.sparse.spsolve: use torch.linalg.solve(A.to_dense(), b)")


for _function, _operator in (
    *((mm, "aten::_sparse_mm"), (addmm, "aten::_sparse_addmm")),
    *((softmax, "aten::_sparse_softmax"), (log_softmax, "aten::_sparse_log_softmax")),
):
    vars(_function)["operator_name"] = _operator  # what script calls


class check_sparse_tensor_invariants:
    """Whether places are checked when a sparse tensor is made, and not where they are used.

    That starts and indices of a matrix stay within it is always checked.
    """

    def __init__(self, enable: bool = True) -> None:
        self._wanted = enable
        self._before: bool | None = None

    @classmethod
    def is_enabled(cls) -> bool:
        """What was said last."""
        return _CHECKED[0]

    @classmethod
    def enable(cls) -> None:
        """Say that places are to be checked early."""
        _CHECKED[0] = True

    @classmethod
    def disable(cls) -> None:
        """Say that they need not be."""
        _CHECKED[0] = False

    def __enter__(self) -> None:
        if self._before is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context "
                "manager instance for context nesting."
            )
        self._before, _CHECKED[0] = _CHECKED[0], self._wanted

    def __exit__(self, *exception: object) -> None:
        self._before, _CHECKED[0] = None, bool(self._before)

    def __call__(self, mth: F) -> F:
        """A function that runs with what was said here."""

        def test_mth(*args: object, **kwargs: object) -> object:
            with type(self)(self._wanted):
                return mth(*args, **kwargs)

        return cast("F", test_mth)


def as_sparse_gradcheck(gradcheck: F) -> F:
    """The same check of gradients: sparse leaves give gradients at their places as they are."""
    return gradcheck


globals().update(SPARSE_CLASSES)
__getattr__ = names_of(__name__)

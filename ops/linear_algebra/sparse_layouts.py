"""Operators about sparse tensors, as far as tensors that keep all their elements know them.

What they do for sparse tensors are forms (`ops/sparse_tensors/`): a forward here that is asked for
a sparse tensor raises `OnSparse`, and the call goes on there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import numpy as np

from ..memory.dtype import Array, dtype_by_number
from ..memory.errors import OnSparse, OperatorError, UnsupportedOperator
from ..table.pointwise import cast
from ..table.refusals import not_implemented
from ..table.table import operator
from .linalg import mm

_KINDS: Final = {
    "sparse coordinate tensor": ("indices", "coalesce"),
    "sparse tensor": ("values",),
    "sparse row compressed tensor": ("crow_indices", "col_indices"),
    "sparse column compressed tensor": ("ccol_indices", "row_indices"),
}
"""The kind of tensor that has such parts, for torch's sentence."""


def _strided(name: str, kind: str) -> Callable[[Array], NoReturn]:
    def forward(self: Array) -> NoReturn:
        raise OperatorError(f"{name} expected {kind} layout but got Strided")

    return forward


def _no_kernel(name: str) -> Callable[..., NoReturn]:
    def forward(*values: object) -> NoReturn:
        raise UnsupportedOperator(
            f"Could not run 'aten::{name}' with arguments from the 'CPU' backend."
        )

    return forward


def _named(schema: str) -> str:
    """The name of an operator, without that of an overload."""
    return schema.partition("(")[0].partition(".")[0]


for _kind, _names in _KINDS.items():
    for _name in _names:
        _schema = f"aten::{_name}(Tensor(a) self) -> Tensor(a)"
        operator(_schema, face="method", cost="reads")(_strided(_name, _kind))
operator("aten::is_coalesced(Tensor self) -> bool", face="method", cost="reads")(
    _strided("is_coalesced", "sparse coordinate tensor")
)
for _schema in (
    *("_indices(Tensor(a) self) -> Tensor(a)", "_values(Tensor(a) self) -> Tensor(a)"),
    *("_nnz(Tensor self) -> int", "_dimI(Tensor self) -> int", "_dimV(Tensor self) -> int"),
    "_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)",
):
    _name = _named(_schema)
    operator(f"aten::{_schema}", face="method", out="", cost="reads")(_no_kernel(_name))


@operator("aten::sparse_dim(Tensor self) -> int", face="method", cost="reads")
def sparse_dim(self: Array) -> int:
    return 0


@operator("aten::dense_dim(Tensor self) -> int", face="method", cost="reads")
def dense_dim(self: Array) -> int:
    return self.ndim


@operator(
    "aten::to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
    face="method",
    out="",
    cost="reads",
)
def to_dense(self: Array, dtype: int | None, masked_grad: bool | None) -> Array:
    return self if dtype is None else cast(self, dtype_by_number(dtype).numpy)


_OPTIONS: Final = "ScalarType? dtype=None, Layout? layout=None, Device? device=None"
_PINNED: Final = f"{_OPTIONS}, bool? pin_memory=False) -> Tensor"
_MARKED: Final = f"{_OPTIONS}, bool? pin_memory=None, bool? is_coalesced=None) -> Tensor"
_ROWS: Final = "(Tensor crow_indices, Tensor col_indices, Tensor values"
_COLUMNS: Final = "(Tensor ccol_indices, Tensor row_indices, Tensor values"


@operator(
    "aten::to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
    "aten::to_sparse(Tensor self, *, Layout? layout=None, int[2]? blocksize=None, "
    "int? dense_dim=None) -> Tensor",
    "aten::to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor",
    "aten::to_sparse_csc(Tensor self, int? dense_dim=None) -> Tensor",
    "aten::to_sparse_bsr(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor",
    "aten::to_sparse_bsc(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor",
    "aten::sparse_mask(Tensor self, Tensor mask) -> Tensor",
    face="method",
    out="",
    cost="reads",
)
@operator(
    f"aten::sparse_coo_tensor.size(int[] size, *, {_PINNED}",
    f"aten::sparse_coo_tensor.indices(Tensor indices, Tensor values, *, {_MARKED}",
    f"aten::sparse_coo_tensor.indices_size(Tensor indices, Tensor values, int[] size, *, {_MARKED}",
    f"aten::sparse_csr_tensor.crow_col_value_size{_ROWS}, int[] size, *, {_PINNED}",
    f"aten::sparse_csr_tensor.crow_col_value{_ROWS}, *, {_PINNED}",
    f"aten::sparse_csc_tensor.ccol_row_value_size{_COLUMNS}, int[] size, *, {_PINNED}",
    f"aten::sparse_csc_tensor.ccol_row_value{_COLUMNS}, *, {_PINNED}",
    f"aten::sparse_bsr_tensor.crow_col_value_size{_ROWS}, int[] size, *, {_PINNED}",
    f"aten::sparse_bsr_tensor.crow_col_value{_ROWS}, *, {_PINNED}",
    f"aten::sparse_bsc_tensor.ccol_row_value_size{_COLUMNS}, int[] size, *, {_PINNED}",
    f"aten::sparse_bsc_tensor.ccol_row_value{_COLUMNS}, *, {_PINNED}",
    "aten::_sparse_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    "aten::_sparse_log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    face="operator",
    out="",
    cost="reads",
)
def made_sparse(*values: object) -> NoReturn:
    raise OnSparse("a sparse tensor has no memory in which all its elements lie")


for _schema in (
    "_sparse_mm.reduce(Tensor sparse, Tensor dense, str reduce) -> Tensor",
    *("_sparse_sum(Tensor self) -> Tensor", "_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor"),
):
    _name = _named(_schema)
    _order = "- reduce" if _name == "_sparse_mm" else "dim -"
    operator(f"aten::{_schema}", face="operator", out="", cost="reads", order=_order)(
        _no_kernel(_name)
    )


@operator(
    "aten::_sparse_mm(Tensor sparse, Tensor dense) -> Tensor",
    face="operator",
    out="",
    cost="product",
)
def product(sparse: Array, dense: Array) -> object:
    return mm(sparse, dense)


# --------------------------------------------------------------------------- indices


def _index_dtype(out_int32: bool) -> type[np.signedinteger[Any]]:
    return np.int32 if out_int32 else np.int64


@operator(
    "aten::_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) "
    "-> Tensor",
    cost="reads",
)
def starts_of(self: Array, size: int, out_int32: bool) -> Array:
    """Where each of `size` rows begins among sorted row numbers (n): (size + 1)."""
    if self.ndim > 1:
        raise OperatorError(
            f"Input is supposed to be a vector, but got {self.ndim} dimensional tensor."
        )
    if self.dtype.kind not in "iu":
        raise not_implemented("convert_indices_from_coo_to_csr_cpu", self.dtype)
    steps = np.arange(size + 1)
    return np.searchsorted(self.reshape(-1), steps).astype(_index_dtype(out_int32))


@operator(
    "aten::_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, "
    "bool out_int32=False, bool transpose=False) -> Tensor",
    cost="reads",
)
def places_of(crow_indices: Array, col_indices: Array, out_int32: bool, transpose: bool) -> Array:
    """The row and column (2, n) of each element of a matrix by rows; exchanged to `transpose`."""
    counts = np.diff(crow_indices)
    if (counts < 0).any() or counts.sum() != col_indices.size:
        raise OperatorError("the starts of a compressed matrix run from 0 to the number of values")
    rows = np.repeat(np.arange(len(counts)), counts)
    pair = (col_indices, rows) if transpose else (rows, col_indices)
    return np.stack(pair).astype(_index_dtype(out_int32))

"""Sparse tensors that get other sizes in place, and products whose result is sparse."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..memory.dtype import Scalar
from ..tensors.tensor import Tensor
from .forms import form
from .parts import Coo
from .products import smm as sparse_product
from .tensors import is_sparse, parts_of

__all__ = ["resize", "resize_and_clear", "resize_as", "smm", "sspaddmm"]

_OPTIONS = """
You could try the following options:
1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.
2. If you need to resize this tensor, you have the following options:
    1. For both sparse and dense dimensions, keep the number of them constant and the size of them \
non-shrinking, and then try the same call again.
    2. Or, create a new sparse tensor with the correct indices and values from this sparse \
tensor."""


def _own(tensor: Tensor, name: str) -> Coo:
    own = parts_of(tensor) if is_sparse(tensor) else None
    if isinstance(own, Coo):
        return own
    backend = "CPU" if own is None else "SparseCsrCPU"
    raise NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend."
    )


def _counted(size: Sequence[int], sparse_dim: int, dense_dim: int) -> tuple[int, ...]:
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: "
            f"len(size) = {len(size)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    return tuple(size)


def _refuse(kind: str, change: str, before: object, after: object) -> RuntimeError:
    return RuntimeError(
        f"{change} {kind} dimensions (from {before} to {after}) on a non-empty sparse tensor is "
        f"not supported.{_OPTIONS}"
    )


def _check_kept(own: Coo, sizes: tuple[int, ...], sparse_dim: int) -> None:
    """Refuse sizes that places or values would not fit in."""
    before = (own.depth, len(own.sizes) - own.depth)
    after = (sparse_dim, len(sizes) - sparse_dim)
    for kind, old, new in zip(("sparse", "dense"), before, after, strict=True):
        if old != new:
            raise _refuse(kind, "changing the number of", old, new)
    for kind, part in (("sparse", slice(0, own.depth)), ("dense", slice(own.depth, None))):
        pairs = zip(own.sizes[part], sizes[part], strict=True)
        if any(new < old for old, new in pairs):
            raise _refuse(kind, "shrinking the size of", list(own.sizes[part]), list(sizes[part]))


@form("aten::sparse_resize_")
def resize(tensor: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Give a sparse tensor other sizes, in place; its places stay, its values are resized.

    Raises:
        NotImplementedError: no tensor by coordinates.
        RuntimeError: a dimension would shrink or be of another kind, where values are kept.
    """
    own = _own(tensor, "sparse_resize_")
    sizes = _counted(size, sparse_dim, dense_dim)
    count = own.values.shape[0]
    if not count:
        return resize_and_clear(tensor, size, sparse_dim, dense_dim)
    _check_kept(own, sizes, sparse_dim)
    values = own.values
    if sizes[sparse_dim:] != own.sizes[sparse_dim:]:
        values = values.detach().clone().resize_([count, *sizes[sparse_dim:]])
    tensor.__dict__["parts"] = Coo(own.indices, values, sizes, own.coalesced)
    return tensor


@form("aten::sparse_resize_and_clear_")
def resize_and_clear(
    tensor: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int
) -> Tensor:
    """Give a sparse tensor other sizes and no values, in place.

    Raises:
        NotImplementedError: no tensor by coordinates.
        RuntimeError: as many sizes as dimensions are wanted.
    """
    own = _own(tensor, "sparse_resize_and_clear_")
    sizes = _counted(size, sparse_dim, dense_dim)
    places = Tensor._of(np.zeros((sparse_dim, 0), np.int64))
    values = own.values.detach().new_zeros([0, *sizes[sparse_dim:]])
    tensor.__dict__["parts"] = Coo(places, values, sizes, True)
    return tensor


@form("aten::resize_as_sparse_")
def resize_as(tensor: Tensor, the_template: Tensor) -> Tensor:
    """Give a sparse tensor the sizes of another one, in place."""
    own = _own(the_template, "resize_as_sparse_")
    return resize(tensor, own.sizes, own.depth, len(own.sizes) - own.depth)


@form("aten::resize_as_")
def resize_alike(tensor: Tensor, the_template: Tensor, *, memory_format: object = None) -> Tensor:
    """Give a tensor the sizes of another one, in place; a dense one takes those of a sparse one.

    Raises:
        NotImplementedError: a sparse tensor is to be like a dense one.
    """
    if is_sparse(tensor):
        return resize_as(tensor, the_template)
    return tensor.resize_(list(the_template.shape))


def _product(tensor: Tensor, a: Tensor, b: Tensor) -> Tensor:
    if not is_sparse(tensor):
        raise RuntimeError("tensor.sspaddmm(...) can only be called on sparse tensors")
    return sparse_product(a, b)


@form("aten::smm")
def smm(tensor: Tensor, mat: Tensor) -> Tensor:
    """The product of a sparse matrix and another one, which keeps what is not zero."""
    return _product(tensor, tensor, mat)


@form("aten::sspaddmm")
def sspaddmm(
    tensor: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Scalar = 1, alpha: Scalar = 1
) -> Tensor:
    """`beta * tensor + alpha * (mat1 @ mat2)`, sparse."""
    product = _product(tensor, mat1, mat2)
    made: Tensor = (tensor * beta if beta != 1 else tensor) + product * alpha
    return made

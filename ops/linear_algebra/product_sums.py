"""Products of matrices and vectors, added to a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ..kernels import family, products
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError
from ..memory.metadata import become
from ..memory.storage import is_resizable
from ..shapes.query import size_of
from ..shapes.shape import expand
from ..table.formula import Part
from ..table.out_dtypes import SAME, OutDtype
from ..table.pointwise import as_array, cast, in_place, number_in, write
from ..table.promotion import kind, promote
from ..table.refusals import check_kernel, cpp_name
from ..table.table import operator
from ..table.without_data import rows_of
from .linalg import (
    by,
    check_added_product,
    check_vector_dtypes,
    checked_batches,
    mv,
    once,
    outer,
    product,
    rank_error,
)

__all__ = ["addmm", "baddbmm"]

_REALS: Final = (np.dtype(np.float32), np.dtype(np.float64))


def _scaled(array: Array, factor: Scalar) -> Array:
    if factor == 1:
        return array
    number = number_in(factor, array.dtype)
    factors = np.asarray(number, array.dtype)
    factors.setflags(write=False)  # a constant of calls that are learned
    found = _natively("multiply", array, factors)
    return as_array(np.multiply(array, number)) if found is None else found


def _natively(name: str, *operands: Array) -> Array | None:
    """A formula of floats in one piece; None of others."""
    dtype = operands[0].dtype
    if dtype not in _REALS or not all(map(_is_plain, operands)):
        return None
    arrays = family("elementwise.arrays")
    return None if arrays is None else arrays.apply(name, operands)


def _is_plain(array: Array) -> bool:
    return array.flags.c_contiguous and array.size > 0


def _plus(self: Array, product: Array, beta: Scalar, alpha: Scalar) -> Array:
    """`beta * self + alpha * product`; a beta of 0 drops `self`, even where it is not a number."""
    bias = expand(self, product.shape)
    product = _scaled(product, alpha)
    if beta == 0:
        return product
    found = _natively("add", _scaled(self, beta), product)
    return as_array(np.add(_scaled(bias, beta), product)) if found is None else found


def _summed(
    forward: Callable[..., Array],
    multiply: Callable[[Array, Array], Array],
    self: Array,
    one: Array,
    other: Array,
    beta: Scalar,
    alpha: Scalar,
) -> Array:
    """`beta * self + alpha * one @ other`; 16-bit floats go through `forward` in float32."""
    if self.itemsize == 2:
        found = once(forward, self, one, other, beta, alpha)
        if found is not None:
            return found
    return _plus(self, multiply(one, other), beta, alpha)


def _in_its_size(forward: Callable[..., Array]) -> Callable[..., Array]:
    """The form in place, which does not take a tensor that would have to be expanded."""
    general = in_place(forward, late=True)

    def write_result(self: Array, one: Array, other: Array, beta: Scalar, alpha: Scalar) -> Array:
        columns = other.shape[-1:] if one.ndim == other.ndim else ()
        sizes = (*one.shape[:-1], *columns)
        if self.shape != sizes:
            # the other checks come first; of matrices before the first is expanded
            is_matrix = one.ndim == other.ndim == 2
            fitting = np.broadcast_to(np.zeros((), self.dtype), sizes) if is_matrix else self
            forward(fitting, one, other, beta, alpha)
            raise OperatorError(
                f"Bad in-place call: input tensor size {list(self.shape)} and output tensor size "
                f"{list(sizes)} should match",
                code="shape-mismatch",
                roles={"self": f"has shape {list(self.shape)}"},
            )
        return general(self, one, other, beta, alpha)

    write_result.checks_overlap = True  # type: ignore[attr-defined]
    return write_result


@operator(
    "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    prepared=True,
    numbers_between=True,
    autocast="lower",
    autocast_in_graphs="lower",
    cost="added-product",
    out_dtype=SAME,
    rows=rows_of("mat1 self", dim=-2),
    on_slices="products",
)
def addmm(self: Array, mat1: Array, mat2: Array, beta: Scalar, alpha: Scalar) -> Array:
    check_added_product(self, mat1, mat2)
    if beta == 1 == alpha and self.shape == mat2.shape[1:]:
        if self.itemsize > 2 and self.dtype.kind == "f":
            return products.dot(mat1, mat2, self)
        found = products.of_halves(mat1, mat2, self)
        if found is not None:
            return found
    return _summed(addmm, product, self, mat1, mat2, beta, alpha)


@operator(
    "aten::_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    face="operator",
    cost="added-product",
)
def added_product(self: Array, mat1: Array, mat2: Array, beta: Scalar, alpha: Scalar) -> Array:
    """The same of a first matrix that may be sparse, in Python (`ops/sparse_tensors`)."""
    return addmm(self, mat1, mat2, beta, alpha)


@operator(
    "aten::_sparse_mm_reduce_impl(Tensor self, Tensor other, str reduce) -> (Tensor, Tensor)",
    face="operator",
    cost="reads",
    out="",
)
def reduced_product(self: Array, other: Array, reduce: str) -> tuple[Array, Array]:
    """A sparse matrix by rows times a dense one, reduced by another operation than the sum.

    Raises:
        OperatorError: always.
    """
    raise OperatorError(f"_sparse_mm_reduce_impl: products reduced by {reduce!r} are not computed")


operator(
    "aten::addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor(a!)",
    cost="added-product",
)(_in_its_size(addmm))


@operator(
    "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    prepared=True,
    numbers_between=True,
    autocast_in_graphs="lower",
    cost="added-product",
    out_dtype=SAME,
    rows=rows_of("mat"),
)
def addmv(self: Array, mat: Array, vec: Array, beta: Scalar, alpha: Scalar) -> Array:
    if self.ndim > 1 or mat.ndim != 2 or vec.ndim != 1:
        ranks = f"{self.ndim}, {mat.ndim}, {vec.ndim}"
        raise rank_error(f"vector + matrix @ vector expected, got {ranks}", mat, vec)
    if mat.shape[1] != len(vec) or self.size not in (1, len(mat)):
        raise OperatorError(
            f"size mismatch, got input ({size_of(self, 0)}), mat ({by(mat.shape)}), "
            f"vec ({len(vec)})",
            code="shape-mismatch",
        )
    check_vector_dtypes(self, mat, vec)
    return _summed(addmv, mv, self, mat, vec, beta, alpha)


operator(
    "aten::addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor(a!)",
    face="both",
    cost="added-product",
)(_in_its_size(addmv))


@operator(
    "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    prepared=True,
    numbers_between=True,
    autocast="lower",
    autocast_in_graphs="lower",
    cost="added-product",
    out_dtype=SAME,
    rows=rows_of("batch1 self", dim=-2),
)
def baddbmm(self: Array, batch1: Array, batch2: Array, beta: Scalar, alpha: Scalar) -> Array:
    for batch, dim in ((batch1, 0), (batch1, 1), (batch2, 2)):
        size_of(batch, dim)
    expand(self, [*batch1.shape[:2], batch2.shape[2]])
    if self.dtype != batch1.dtype:
        words = [cpp_name(dtype_of(each)) for each in (self, batch1, batch2)]
        raise OperatorError(
            f"Input dtypes must be the same, got: input {words[0]}, batch1: {words[1]}, "
            f"batch2: {words[2]}",
            code="dtype-mismatch",
        )
    return _summed(baddbmm, _of_batches, self, batch1, batch2, beta, alpha)


def _of_batches(batch1: Array, batch2: Array) -> Array:
    return checked_batches(batch1, batch2, "baddbmm")


operator(
    "aten::baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor(a!)",
    cost="added-product",
)(_in_its_size(baddbmm))


@operator(
    "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor",
    numbers_between=True,
    autocast="lower",
    autocast_in_graphs="lower",
    cost="added-product",
    out_dtype=OutDtype(
        "same", "self and mat2 must have the same dtype, but got {out} and {result}"
    ),
)
def addbmm(self: Array, batch1: Array, batch2: Array, beta: Scalar, alpha: Scalar) -> Array:
    """`beta * self + alpha * the sum of the batch's products`."""
    for batch, dim in ((batch1, 1), (batch2, 2)):
        size_of(batch, dim)
    total = expand(self, [batch1.shape[1], batch2.shape[2]])
    _check_sizes(batch1, batch2)
    if not len(batch1):
        return _plus(total, np.zeros_like(total), beta, alpha)
    for one, other in zip(batch1[:1], batch2, strict=False):
        check_added_product(total, one, other)
    products = checked_batches(batch1, batch2, "addmm_impl_cpu_")
    if products.itemsize == 2 and kind(products.dtype) == 2 and self.dtype is products.dtype:
        for number, (one, other) in enumerate(zip(batch1, batch2, strict=True)):
            # torch rounds after every matrix of the batch
            total = addmm(total, one, other, 1 if number else beta, alpha)
        return total
    return _plus(self, as_array(np.add.reduce(products, 0, products.dtype)), beta, alpha)


def _check_sizes(batch1: Array, batch2: Array) -> None:
    """Refuse batches of matrices that have no products, in the words of `addbmm`."""
    for number, batch in enumerate((batch1, batch2), 1):
        if batch.ndim != 3:
            raise rank_error(f"batch{number} must be a 3D tensor", batch1, batch2)
    if batch1.shape[0] != batch2.shape[0]:
        raise OperatorError(
            "batch1 and batch2 must have same number of batches, got "
            f"{batch1.shape[0]} and {batch2.shape[0]}",
            code="shape-mismatch",
        )
    if batch1.shape[2] != batch2.shape[1]:
        sizes = f"{by(batch1.shape[1:])} and {by(batch2.shape[1:])}"
        raise OperatorError(f"Incompatible matrix sizes for bmm ({sizes})", code="shape-mismatch")


@operator(
    "aten::addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
    "Scalar alpha=1) -> Tensor(a!)",
    cost="added-product",
)
def addbmm_in_place(
    self: Array, batch1: Array, batch2: Array, beta: Scalar, alpha: Scalar
) -> Array:
    """Alone among its like, it takes the shape of the result."""
    result = addbmm(self, batch1, batch2, beta, alpha)
    if self.shape == result.shape:
        return write(self, result)
    if result.size > self.size and not is_resizable(self):
        raise OperatorError(
            "Trying to resize storage that is not resizable",
            code="shape-mismatch",
            headline=f"`self` has shape {list(self.shape)}, the result {list(result.shape)}",
        )
    return become(self, result)


def _parts_of_addr(
    result: Array, self: Array, vec1: Array, vec2: Array, beta: Scalar, alpha: Scalar
) -> list[Part]:
    is_alike = self.dtype == vec1.dtype == vec2.dtype == result.dtype
    are_real = type(beta) in (int, float) and type(alpha) in (int, float) and beta != 0
    if not is_alike or self.itemsize < 4 or self.dtype.kind != "f" or not are_real:
        return []
    if beta == 1 == alpha:
        steps = [("multiply", "", (1, 2)), ("add", "", (0, 3))]
        return [Part(steps, [self, vec1[:, None], vec2], result)]
    steps = [("multiply", "", pair) for pair in ((1, 3), (5, 2), (0, 4))]
    operands = [self, vec1[:, None], vec2, alpha, beta]
    return [Part([*steps, ("add", "", (7, 6))], operands, result)]


@operator(
    "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    parts=_parts_of_addr,
    numbers_between=True,
    autocast_in_graphs="lower",
    cost="reads",
    layout="L",
)
def addr(self: Array, vec1: Array, vec2: Array, beta: Scalar, alpha: Scalar) -> Array:
    """`beta * self + alpha * outer(vec1, vec2)`."""
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            sentence = f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D"
            raise rank_error(sentence, vector)
    check_kernel("addr_cpu", self, "uqe")
    dtype = promote(self.dtype, promote(vec1.dtype, vec2.dtype))
    for name, number in (("beta", beta), ("alpha", alpha)):
        if isinstance(number, bool) and dtype != np.bool_:
            raise OperatorError(f"Boolean {name} only supported for Boolean results.")
        if kind(dtype) < 2 and not isinstance(number, int):
            raise OperatorError(
                f"For integral input tensors, argument {name} must not be a floating point number.",
                code="dtype-mismatch",
            )
    outside = outer(_scaled(cast(vec1, dtype), alpha), cast(vec2, dtype))
    return _plus(cast(self, dtype), outside, beta, 1)


_written: Final = in_place(addr, late=True)


def _outer_in_place(self: Array, vec1: Array, vec2: Array, beta: Scalar, alpha: Scalar) -> Array:
    if vec1.ndim == vec2.ndim == 1 and self.shape != vec1.shape + vec2.shape:
        raise OperatorError(
            f"size mismatch, input: {list(self.shape)}, v1: {list(vec1.shape)}, "
            f"v2: {list(vec2.shape)}",
            code="shape-mismatch",
        )
    return _written(self, vec1, vec2, beta, alpha)


_outer_in_place.checks_overlap = True  # type: ignore[attr-defined]
operator(
    "aten::addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor(a!)",
    cost="reads",
)(_outer_in_place)

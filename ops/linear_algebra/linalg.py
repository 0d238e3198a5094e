"""Products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from ..arithmetic.elementwise import add, mul
from ..kernels import cast_by_kernel, in_order, products
from ..memory.dims import broadcast_error
from ..memory.dtype import Array, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..shapes.query import size_of
from ..shapes.shape import expand, t
from ..table.formula import Part
from ..table.out_dtypes import AS_INPUT, SAME, OutDtype
from ..table.pointwise import cast, check_result_shape, checked_broadcast
from ..table.promotion import kind
from ..table.refusals import check_kernel, cpp_name, operands_differ, scalar_types_differ
from ..table.table import operator
from ..table.without_data import rows_of

__all__ = [
    "bmm",
    "by",
    "check_added_product",
    "check_vector_dtypes",
    "checked_batches",
    "dot",
    "dtypes_differ",
    "inner_sizes_differ",
    "linear",
    "matmul",
    "mm",
    "mv",
    "once",
    "outer",
    "product",
    "rank_error",
]

ndarray: Final = np.ndarray
asarray: Final = np.asarray
_float32: Final = np.dtype(np.float32)
_float64: Final = np.dtype(np.float64)


def by(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


# --------------------------------------------------------------------------- errors


def inner_sizes_differ(
    a: tuple[int, ...], b: tuple[int, ...], names: tuple[str, str]
) -> OperatorError:
    return OperatorError(
        f"mat1 and mat2 shapes cannot be multiplied ({by(a)} and {by(b)})",
        code="shape-mismatch",
        headline=f"matrices of shapes {list(a)} and {list(b)} cannot be multiplied",
        roles={
            names[0]: f"has {a[-1]} columns",
            names[1]: f"has {b[0]} rows",
        },
    )


def dtypes_differ(a: Array, b: Array, names: tuple[str, str]) -> OperatorError:
    x, y = dtype_of(a), dtype_of(b)
    return OperatorError(
        f"expected m1 and m2 to have the same dtype, but got: {cpp_name(x)} != {cpp_name(y)}",
        code="dtype-mismatch",
        headline=f"a `{x}` matrix cannot be multiplied with a `{y}` one",
        roles={names[0]: f"is `{x}`", names[1]: f"is `{y}`"},
    )


def check_added_product(self: Array, mat1: Array, mat2: Array) -> None:
    """What `addmm` asks of its operands before it computes: dtypes first, then shapes.

    Raises:
        OperatorError: dtypes differ, or there is no such product.
    """
    for name, matrix in (("self", self), ("mat1", mat1)):
        if matrix.dtype is not mat2.dtype and matrix.dtype != mat2.dtype:
            sentence = f"{name} and mat2 must have the same dtype, but got {{}} and {{}}"
            raise operands_differ(sentence, matrix, mat2, name, "mat2")
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            sentence = f"{name} must be a matrix, got {matrix.ndim}-D tensor"
            raise rank_error(sentence, mat1, mat2)
    if mat1.shape[1] != mat2.shape[0]:
        raise inner_sizes_differ(mat1.shape, mat2.shape, ("mat1", "mat2"))


def check_vector_dtypes(self: Array, mat: Array, vec: Array) -> None:
    """Refuse `self + mat @ vec` of several dtypes.

    Raises:
        OperatorError: they differ.
    """
    if self.dtype is mat.dtype is vec.dtype or self.dtype == mat.dtype == vec.dtype:
        return
    x, y, z = (dtype_of(each) for each in (self, mat, vec))
    raise OperatorError(
        "addmv input tensors must have the same dtype, but got "
        f"{x.scalar_name}, {y.scalar_name}, and {z.scalar_name}",
        code="dtype-mismatch",
        headline=f"a `{y}` matrix cannot be multiplied with a `{z}` vector"
        if y is not z
        else f"the product of `{y}` cannot be added to a `{x}` tensor",
        roles={"self": f"is `{y}`", "vec": f"is `{z}`", "other": f"is `{z}`"}
        if self is vec
        else {"self": f"is `{x}`", "mat": f"is `{y}`", "vec": f"is `{z}`"},
    )


def _vector_error(rows: int, columns: int, elements: int) -> OperatorError:
    return OperatorError(
        f"size mismatch, got input ({rows}), mat ({rows}x{columns}), vec ({elements})",
        code="shape-mismatch",
        headline=f"a {rows}x{columns} matrix takes a vector of {columns} elements, "
        f"but got {elements}",
        roles={
            "self": f"has {columns} columns",
            "mat": f"has {columns} columns",
            "vec": f"has {elements} elements",
            "other": f"has {elements} elements",
        },
    )


def _needs_dimensions(name: str, one: Array, other: Array) -> OperatorError:
    ranks = f"{one.ndim}D and {other.ndim}D"
    return rank_error(
        f"both arguments to {name} need to be at least 1D, but they are {ranks}", one, other
    )


def rank_error(sentence: str, *arrays: Array) -> OperatorError:
    ranks = ", ".join(f"{list(a.shape)}" for a in arrays)
    return OperatorError(sentence, code="shape-mismatch", headline=f"{sentence}: got {ranks}")


# --------------------------------------------------------------------------- products


def product(a: Array, b: Array, kernel: str = "addmm_impl_cpu_") -> Array:
    """The matrix product; 16-bit floats are multiplied in float32."""
    dtype = a.dtype
    if dtype.kind in "fc" and dtype.itemsize >= 4:
        result = products.dot(a, b)
        return result if type(result) is ndarray else asarray(result)
    check_kernel(kernel, a, "buq" if kernel == "addmm_impl_cpu_" else "buqe")
    if dtype.kind in "iu":
        return products.of_wholes(a, b)
    return _of_halves(a, b)


def _of_halves(a: Array, b: Array) -> Array:
    """The product of 16-bit floats, summed in float32 and rounded once."""
    found = products.of_halves(a, b)
    if found is not None:
        return found
    wide = (cast_by_kernel(each, _float32) for each in (a, b))
    multiply = products.dot if max(a.ndim, b.ndim) < 3 else products.matmul
    return cast_by_kernel(asarray(multiply(*wide)), a.dtype)


@operator(
    "aten::mm(Tensor self, Tensor mat2) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    prepared=True,
    order="out dtype_out dtype",
    cost="product",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self", dim=-2),
    on_slices="products",
)
def mm(self: Array, mat2: Array) -> Array:
    if self.ndim != 2:
        raise rank_error("self must be a matrix", self, mat2)
    if mat2.ndim != 2:
        raise rank_error("mat2 must be a matrix", self, mat2)
    if self.shape[1] != mat2.shape[0]:
        raise inner_sizes_differ(self.shape, mat2.shape, ("self", "mat2"))
    if self.dtype is not mat2.dtype and self.dtype != mat2.dtype:
        raise dtypes_differ(self, mat2, ("self", "mat2"))
    return product(self, mat2)


@operator("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor", cost="product")
def int_mm(self: Array, mat2: Array) -> Array:
    """The product of two matrices of 8-bit numbers, in int32."""
    name = "int_mm_out_cpu"
    for word, matrix in (("self", self), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise OperatorError(
                f"{name}: Expected {word} to be of dimension 2 but got {matrix.ndim}",
                code="shape-mismatch",
            )
    if self.shape[1] != mat2.shape[0]:
        raise OperatorError(
            f"{name}: self.size(1) needs to match mat2.size(0) but got {self.shape[1]} and "
            f"{mat2.shape[0]}",
            code="shape-mismatch",
        )
    if self.dtype not in (np.int8, np.uint8):
        raise OperatorError(
            f"{name}: Expected self dtype to be int8 or uint8 but got {cpp_name(dtype_of(self))}",
            code="dtype-mismatch",
        )
    if mat2.dtype != np.int8:
        raise OperatorError(
            f"{name}: Expected mat2 dtype to be of type int8 but got {cpp_name(dtype_of(mat2))}",
            code="dtype-mismatch",
        )
    return products.of_wholes(self.astype(np.int32), mat2.astype(np.int32))


@operator(
    "aten::mv(Tensor self, Tensor vec) -> Tensor",
    prepared=True,
    autocast_in_graphs="lower",
    cost="product",
    out_dtype=OutDtype(
        "same",
        "addmv input tensors must have the same dtype, but got {out}, {result}, and {result}",
    ),
    out_overlap="read-first",
    on_slices="products",
)
def mv(self: Array, vec: Array) -> Array:
    if self.ndim != 2 or vec.ndim != 1:
        size_of(self, 0)
        raise rank_error(
            f"vector + matrix @ vector expected, got {1}, {self.ndim}, {vec.ndim}", self, vec
        )
    if self.shape[1] != vec.shape[0]:
        raise _vector_error(self.shape[0], self.shape[1], vec.shape[0])
    check_vector_dtypes(vec, self, vec)
    return product(self, vec, "addmv_impl_cpu")


@operator(
    "aten::dot(Tensor self, Tensor tensor) -> Tensor",
    prepared=True,
    autocast_in_graphs="widest",
    cost="product",
    out_dtype=AS_INPUT,
    out_overlap="read-first",
    on_slices="products",
)
def dot(self: Array, tensor: Array) -> Array:
    if self.ndim != 1 or tensor.ndim != 1:
        raise rank_error(
            f"1D tensors expected, but got {self.ndim}D and {tensor.ndim}D tensors", self, tensor
        )
    if self.dtype != tensor.dtype:
        raise OperatorError(
            "dot : expected both vectors to have same dtype, but found "
            f"{dtype_of(self).scalar_name} and {dtype_of(tensor).scalar_name}",
            code="dtype-mismatch",
            headline=f"`self` is `{dtype_of(self)}` and `tensor` is `{dtype_of(tensor)}`",
        )
    a, b = self.shape[0], tensor.shape[0]
    if a != b:
        raise OperatorError(
            f"inconsistent tensor size, expected tensor [{a}] and src [{b}] to have the same "
            f"number of elements, but got {a} and {b} elements respectively",
            code="shape-mismatch",
            headline=f"vectors of {a} and {b} elements have no dot product",
            roles={
                "self": f"has {a} elements",
                "tensor": f"has {b} elements",
                "other": f"has {b} elements",
            },
        )
    return product(self, tensor, "dot")


@operator(
    "aten::bmm(Tensor self, Tensor mat2) -> Tensor",
    prepared=True,
    autocast="lower",
    autocast_in_graphs="lower",
    order="out dtype_out dtype",
    cost="product",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self", dim=-2),
    on_slices="products",
)
def bmm(self: Array, mat2: Array) -> Array:
    return checked_batches(self, mat2, "bmm")


def checked_batches(self: Array, mat2: Array, kernel: str) -> Array:
    if self.ndim != 3:
        raise rank_error("batch1 must be a 3D tensor", self, mat2)
    if mat2.ndim != 3:
        raise rank_error("batch2 must be a 3D tensor", self, mat2)
    if self.shape[0] != mat2.shape[0] or self.shape[2] != mat2.shape[1]:
        raise _batch_error(self.shape, mat2.shape)
    if self.dtype != mat2.dtype:
        raise scalar_types_differ(self, mat2, "self", "mat2")
    return _batched(self, mat2, kernel)


def _batch_error(a: tuple[int, ...], b: tuple[int, ...]) -> OperatorError:
    wanted = [a[0], a[2]]
    return OperatorError(
        f"Expected size for first two dimensions of batch2 tensor to be: {wanted} "
        f"but got: {list(b[:2])}.",
        code="shape-mismatch",
        headline=f"batches of shapes {list(a)} and {list(b)} cannot be multiplied",
        roles={
            "self": f"has {a[2]} columns",
            "mat2": f"has {b[1]} rows",
            "other": f"has {b[1]} rows",
        },
    )


def _batched(a: Array, b: Array, kernel: str) -> Array:
    dtype = a.dtype
    if dtype.kind in "fc" and dtype.itemsize >= 4:
        return asarray(products.matmul(a, b))
    check_kernel(kernel, a, "buq" if kernel == "addmm_impl_cpu_" else "buqe")
    if dtype.kind in "iu":
        return products.of_wholes(a, b)
    return _of_halves(a, b)


@operator(
    "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor",
    first_name="matmul",
    prepared=True,
    cost="product",
    out_overlap="read-first",
)
@operator(
    "aten::matmul(Tensor self, Tensor other) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    prepared=True,
    cost="product",
    out_overlap="read-first",
    rows=rows_of("self", dim=-2),
    on_slices="products",
)
def matmul(self: Array, other: Array) -> Array:
    """The product of vectors, matrices and batches of them, as `@` means it."""
    dtype = self.dtype
    if (dtype is _float32 or dtype is _float64) and dtype is other.dtype:
        rank = self.ndim
        if other.ndim == 2 and (rank == 1 or rank == 2):
            try:
                return products.dot(self, other)
            except ValueError:
                left = self.shape if rank == 2 else (1, *self.shape)
                raise inner_sizes_differ(left, other.shape, ("self", "other")) from None
    if self.ndim == 0 or other.ndim == 0:
        raise _needs_dimensions("matmul", self, other)
    if other.ndim == 1:
        if self.ndim == 1:
            return dot(self, other)
        if self.ndim == 2:
            return mv(self, other)
    if self.ndim == 1 and other.ndim == 2:
        return mm(self.reshape(1, -1), other).reshape(-1)
    if self.ndim == 2 and other.ndim == 2:
        return mm(self, other)
    return _broadcast_matmul(self, other)


def _broadcast_matmul(a: Array, b: Array) -> Array:
    inner = b.shape[-2] if b.ndim > 1 else b.shape[0]
    if a.shape[-1] != inner:
        raise _inner_error(a.shape, b.shape)
    if a.dtype != b.dtype:
        if b.ndim == 1:
            check_vector_dtypes(b, a, b)
        if b.ndim > 2:
            raise scalar_types_differ(a, b, "self", "other")
        raise dtypes_differ(a, b, ("self", "other"))
    try:
        folded = min(a.ndim, b.ndim) < 3
        return _batched(a, b, "addmm_impl_cpu_" if folded else "bmm")
    except ValueError:
        raise broadcast_error(a.shape[:-2], b.shape[:-2], ("self", "other")) from None


def _inner_error(a: tuple[int, ...], b: tuple[int, ...]) -> OperatorError:
    """What torch says of batches whose inner sizes differ, after it has folded them."""
    if a[:-1] and len(b) > 2:
        try:
            batch = prod(np.broadcast_shapes(a[:-2], b[:-2]))
        except ValueError:
            return broadcast_error(a[:-2], b[:-2], ("self", "other"))
        return _batch_error((batch, *a[-2:]), (batch, *b[-2:]))
    if len(b) > 2:
        return _vector_error(prod(b[:-2]) * b[-1], b[-2], a[-1])
    rows = prod(a[:-1])
    if len(b) == 1:
        return _vector_error(rows, a[-1], b[0])
    return inner_sizes_differ((rows, a[-1]), b, ("self", "other"))


@operator(
    "aten::mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    cost="product",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self", dim=-2),
)
def mm_as(self: Array, mat2: Array, out_dtype: int) -> Array:
    wanted = numpy_dtype(out_dtype)
    return mm(cast(self, wanted), cast(mat2, wanted))


@operator(
    "aten::bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    cost="product",
    out_dtype=SAME,
    out_overlap="read-first",
    rows=rows_of("self", dim=-2),
)
def bmm_as(self: Array, mat2: Array, out_dtype: int) -> Array:
    wanted = numpy_dtype(out_dtype)
    return bmm(cast(self, wanted), cast(mat2, wanted))


def _features_differ(input: Array, weight: Array) -> OperatorError:
    rows = prod(input.shape[:-1])
    columns = input.shape[-1]
    takes = f"takes inputs with {weight.shape[-1]} features, but got {columns}"
    return OperatorError(
        f"mat1 and mat2 shapes cannot be multiplied ({rows}x{columns} and {by(weight.T.shape)})",
        code="shape-mismatch",
        headline=f"a weight of shape {list(weight.shape)} {takes}",
        layer=takes,
        roles={
            "input": f"has shape {list(input.shape)}",
            "weight": f"needs an input of shape [*, {weight.shape[-1]}]",
        },
    )


def once(forward: Callable[..., Array], *values: object) -> Array | None:
    """What `forward` makes of 16-bit floats of one dtype: computed in float32, rounded once.

    None for operands of other dtypes.
    """
    arrays = [value for value in values if type(value) is np.ndarray]
    dtype = arrays[0].dtype
    if dtype.itemsize != 2 or kind(dtype) != 2 or any(a.dtype is not dtype for a in arrays):
        return None
    wide = (cast_by_kernel(v, _float32) if type(v) is np.ndarray else v for v in values)
    return cast_by_kernel(forward(*wide), dtype)


def _rows(input: Array) -> Array:
    """All but the last dimension as one; its size is told, since nothing follows from 0."""
    sizes = prod(input.shape[:-1]), input.shape[-1]
    return in_order(input).reshape(sizes) if input.ndim > 2 else input.reshape(sizes)


@operator(
    "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    prepared=True,
    autocast="lower",
    autocast_in_graphs="lower",
    face="layer",
    cost="product-transposed",
    out_dtype=SAME,
    rows=rows_of("input"),
    on_slices="products",
)
def linear(input: Array, weight: Array, bias: Array | None) -> Array:
    """`input @ weight.t() + bias` over the last dimension."""
    dtype = input.dtype
    if (
        (dtype is _float32 or dtype is _float64)
        and dtype is weight.dtype
        and weight.ndim == 2
        and input.ndim
        and input.shape[-1] == weight.shape[1]
        and (bias is None or (bias.dtype is dtype and bias.shape == weight.shape[:1]))
    ):
        if input.ndim < 3:
            return products.dot(input, weight.T, bias)
        flat = products.dot(_rows(input), weight.T, bias)
        return flat.reshape(*input.shape[:-1], weight.shape[0])
    if not (input.ndim and weight.ndim):
        raise _needs_dimensions("linear", input, weight)
    turned = t(weight)
    if bias is not None and (input.ndim == 2 or bias.ndim == 1):
        alike = bias.dtype == input.dtype == weight.dtype
        if alike and weight.ndim == 2 and input.shape[-1] != weight.shape[1]:
            raise _features_differ(input, weight)
        check_added_product(bias, _rows(input), turned)
    if dtype.itemsize == 2 and bias is not None:
        found = _linear_of_halves(input, weight, bias)
        if found is None:
            found = once(linear, input, weight, bias)
        if found is not None:
            return found
    if weight.ndim == 1:
        return _with_bias(matmul(input, weight), bias)
    if input.shape[-1] != turned.shape[0]:
        raise _features_differ(input, weight)
    if input.dtype is not weight.dtype and input.dtype != weight.dtype:
        raise dtypes_differ(input, weight, ("input", "weight"))
    if input.ndim > 2:
        flat = product(_rows(input), turned)
        result = flat.reshape(*input.shape[:-1], weight.shape[0])
    else:
        result = product(input, turned)
    if bias is not None and (result.ndim == 2 or bias.ndim == 1):
        rows = result.reshape(prod(result.shape[:-1]), result.shape[-1])
        return (rows + expand(bias, rows.shape)).reshape(result.shape)
    return _with_bias(result, bias)


def _linear_of_halves(input: Array, weight: Array, bias: Array) -> Array | None:
    """A large linear map of bfloat16; None if it is to be had otherwise."""
    if weight.ndim != 2 or bias.shape != weight.shape[:1] or input.shape[-1] != weight.shape[1]:
        return None
    if bias.dtype is not input.dtype:
        return None
    found = products.of_halves(_rows(input), weight.T, bias)
    return None if found is None else found.reshape(*input.shape[:-1], weight.shape[0])


def _with_bias(result: Array, bias: Array | None) -> Array:
    if bias is None:
        return result
    check_result_shape(result.shape, checked_broadcast(result.shape, bias.shape))
    return add(result, bias, 1)


def _outer_parts(result: Array, self: Array, vec2: Array) -> list[Part]:
    """The product of each element of one vector with each of the other, if they are of one
    dtype."""
    if not self.dtype == vec2.dtype == result.dtype:
        return []
    return [Part([("multiply", "", (0, 1))], [self.reshape(-1, 1), vec2], result)]


@operator(
    "aten::outer(Tensor self, Tensor vec2) -> Tensor",
    "aten::ger(Tensor self, Tensor vec2) -> Tensor",
    first_name="outer",
    cost="products-of-rows",
    parts=_outer_parts,
    on_slices="products",
)
def outer(self: Array, vec2: Array) -> Array:
    for name, vector in (("self", self), ("vec2", vec2)):
        if vector.ndim != 1:
            raise OperatorError(
                f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D",
                code="shape-mismatch",
                headline=f"`{name}` must be a vector, it has {vector.ndim} dimensions",
                roles={name: "must be 1-d"},
            )
    return mul(self.reshape(-1, 1), vec2)

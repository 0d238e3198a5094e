"""What the operators of linear algebra ask of their matrices, and the errors that say so."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..memory.complex_parts import is_complex
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import OperatorError, UnsupportedDtype
from ..table.promotion import kind
from ..table.refusals import operands_differ

__all__ = [
    "LinAlgError",
    "batch_prefix",
    "check_floating",
    "check_lapack",
    "check_matrix",
    "check_operands",
    "check_same_dtype",
    "check_square",
    "real_dtype",
    "refuse_not_finite",
]


_PARTS: Final[dict[int, Dtype]] = {
    4: np.dtype(np.float16),
    8: np.dtype(np.float32),
    16: np.dtype(np.float64),
}
"""The dtype of the parts of complex numbers, by their bytes."""


class LinAlgError(OperatorError):
    """A matrix that an algorithm cannot be carried out on: singular, or not positive-definite."""

    def __init__(self, torch_message: str, *, headline: str = "") -> None:
        super().__init__(torch_message, headline=headline)


LinAlgError.__module__ = "torch._C"
LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def real_dtype(dtype: Dtype) -> Dtype:
    """The dtype of the absolute values."""
    return _PARTS[dtype.itemsize] if is_complex(dtype) else dtype


def check_matrix(array: Array, name: str, argument: str = "A") -> None:
    """Raise unless there are two dimensions at least."""
    if array.ndim < 2:
        raise OperatorError(
            f"{name}: The input tensor {argument} must have at least 2 dimensions.",
            code="shape-mismatch",
            headline=f"a matrix has two dimensions, `{argument}` has {array.ndim}",
        )


def check_square(array: Array, name: str, argument: str = "A") -> None:
    """Raise unless the last two dimensions are equal."""
    check_matrix(array, name, argument)
    rows, columns = array.shape[-2:]
    if rows != columns:
        raise OperatorError(
            f"{name}: {argument} must be batches of square matrices, "
            f"but they are {rows} by {columns} matrices",
            code="shape-mismatch",
            headline=f"the matrix must be square, it is {rows} by {columns}",
        )


def check_floating(array: Array, name: str) -> None:
    """Raise for whole numbers and bools."""
    if kind(array.dtype) < 2:
        raise OperatorError(
            f"{name}: Expected a floating point or complex tensor as input. "
            f"Got {dtype_of(array).scalar_name}",
            code="dtype-mismatch",
            headline=f"`{name}` takes floats or complex numbers, not `{dtype_of(array)}`",
        )


def check_lapack(array: Array, kernel: str) -> None:
    """Raise unless the dtype is one of float32, float64 and the complex ones."""
    if array.dtype.kind not in "fc" or array.dtype.itemsize < 4:
        word = dtype_of(array).scalar_name
        raise UnsupportedDtype(
            f"\"{kernel}\" not implemented for '{word}'",
            headline=f"this factorisation does not work on `{dtype_of(array)}`",
        )


def check_operands(b: Array, A: Array, name: str) -> None:
    """Raise unless the right side and the matrices of an older solver have one dtype, these are
    square, and that has as many rows."""
    if b.dtype != A.dtype:
        sentence = (
            "Expected b and A to have the same dtype, but found b of type {} and A of type {}"
        )
        raise operands_differ(f"{sentence} instead.", b, A, "b", "A")
    rows, size = A.shape[-2:]
    if rows != size:
        raise OperatorError(
            f"A must be batches of square matrices, but they are {rows} by {size} matrices",
            code="shape-mismatch",
        )
    if size != b.shape[-2]:
        raise OperatorError(
            f"Incompatible matrix sizes for {name}: each A matrix is {size} by {size} but each b "
            f"matrix is {b.shape[-2]} by {b.shape[-1]}",
            code="shape-mismatch",
        )


def check_same_dtype(a: Array, b: Array, name: str, names: tuple[str, str] = ("A", "B")) -> None:
    """Raise unless both have one dtype."""
    if a.dtype != b.dtype:
        one, other = names
        raise operands_differ(
            f"{name}: Expected {one} and {other} to have the same dtype, but found "
            f"{one} of type {{}} and {other} of type {{}} instead",
            *(a, b, one, other),
        )


def batch_prefix(info: Array) -> tuple[str, int]:
    """How an error names the first bad matrix of a batch, and the code that it has."""
    flat = info.reshape(-1)
    place = int(np.argmax(flat != 0))
    return (f"(Batch element {place}): " if info.ndim else ""), int(flat[place])


def refuse_not_finite(matrices: Array) -> None:
    """Raise if any of a batch of matrices is said to hold what has no singular values."""
    if matrices.any():
        raise LinAlgError(
            f"linalg.svd: {batch_prefix(matrices)[0]}The algorithm failed to converge because the "
            "input matrix contained non-finite values.",
            headline="the matrix has elements that are not finite",
        )

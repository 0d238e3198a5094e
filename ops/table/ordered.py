"""The dtypes an operator's kernel does not take, and torch's sentences about them."""

from __future__ import annotations

from ..memory.dtype import Array, Dtype, dtype_of, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype
from .promotion import kind
from .refusals import letter

__all__ = ["check_dtype", "check_kernel", "check_ordered"]


def check_dtype(kernel: str, dtype: Dtype, refused: str = "c") -> None:
    """Refuse complex numbers, or the classes of dtypes `refused` names (see `refusals.letter`).

    Raises:
        UnsupportedDtype: the dtype is one of these.
    """
    if letter(dtype) in refused:
        given = of_numpy(dtype)
        raise UnsupportedDtype(
            f"\"{kernel}\" not implemented for '{given.scalar_name}'",
            headline=f"this function does not work on elements of `{given}`",
            roles={"self": f"is `{given}`"},
        )


def check_kernel(kernel: str, self: Array, refused: str = "c") -> None:
    """`check_dtype` of a tensor's dtype.

    Raises:
        UnsupportedDtype: it is one of the refused ones.
    """
    check_dtype(kernel, self.dtype, refused)


def check_ordered(what: str, self: Array, refused: str = "c", after: str = "dtypes on CPU") -> None:
    """`check_kernel` in the words of operators that look before they start.

    Raises:
        OperatorError: the tensor is of these.
    """
    if letter(self.dtype) in refused or ("c" in refused and kind(self.dtype) == 3):
        word = "complex" if kind(self.dtype) == 3 else "bool"
        raise OperatorError(
            f"{what} does not support {word} {after}",
            code="dtype-mismatch",
            headline=f"elements of `{dtype_of(self)}` have no order here",
            roles={"self": "must be of ordered numbers"},
        )

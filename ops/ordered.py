"""The dtypes whose elements cannot be put in order, and torch's sentences about them."""

from __future__ import annotations

from .dtype import Array, dtype_of
from .errors import OperatorError, UnsupportedDtype

__all__ = ["check_kernel", "check_ordered"]


def check_kernel(kernel: str, self: Array, refused: str = "c") -> None:
    """Refuse complex numbers, or what `refused` names: `b` for bools, `c` for complex numbers.

    Raises:
        UnsupportedDtype: the tensor is of these.
    """
    if self.dtype.kind in refused:
        raise UnsupportedDtype(
            f"\"{kernel}\" not implemented for '{dtype_of(self).scalar_name}'",
            headline=f"elements of `{dtype_of(self)}` have no order here",
            roles={"self": "must be of ordered numbers"},
        )


def check_ordered(what: str, self: Array, refused: str = "c", after: str = "dtypes on CPU") -> None:
    """`check_kernel` in the words of operators that look before they start.

    Raises:
        OperatorError: the tensor is of these.
    """
    if self.dtype.kind in refused:
        word = "complex" if self.dtype.kind == "c" else "bool"
        raise OperatorError(
            f"{what} does not support {word} {after}",
            code="dtype-mismatch",
            headline=f"elements of `{dtype_of(self)}` have no order here",
            roles={"self": "must be of ordered numbers"},
        )

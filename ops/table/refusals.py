"""The dtypes an operator does not take, and torch's sentence about it.

Dtypes fall into classes, each with a letter; torch's kernels take or refuse whole classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Final

import numpy as np

from ..memory.dtype import DType, Dtype, Scalar, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype

__all__ = ["NO_BOOLS", "Refusal", "check_number", "cpp_name", "letter", "refusing"]

_LETTERS: Final = {
    **dict.fromkeys(("bool",), "b"),
    **dict.fromkeys(("uint8", "int8", "int16", "int32", "int64"), "i"),
    **dict.fromkeys(("uint16", "uint32", "uint64"), "u"),
    **dict.fromkeys(("float16", "bfloat16"), "h"),
    **dict.fromkeys(("float32", "float64"), "f"),
    **dict.fromkeys(("complex32",), "q"),
    **dict.fromkeys(("complex64", "complex128"), "c"),
}


@cache
def letter(dtype: Dtype) -> str:
    """The class of an array dtype: bool b, whole i, wide unsigned u, 16 bits h, float f, complex c.

    The complex numbers of two halves are `q`, the 8-bit floats `e`.
    """
    return _LETTERS.get(of_numpy(dtype).name, "e")


_CPP_NAMES: Final = {
    **{"uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int"},
    **{"int64": "long int", "uint16": "short unsigned int", "uint32": "unsigned int"},
    **{"uint64": "long unsigned int", "float16": "c10::Half", "bfloat16": "c10::BFloat16"},
    **{"float32": "float", "float64": "double", "complex32": "c10::complex<c10::Half>"},
    **{"complex64": "c10::complex<float>", "complex128": "c10::complex<double>"},
}
"""Dtypes as C++ spells them, where not as torch does."""


def cpp_name(dtype: DType) -> str:
    """What some of torch's messages call a dtype."""
    return _CPP_NAMES.get(dtype.name, dtype.name)


_MAX: Final = np.finfo(np.float32).max
_LARGEST: Final = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": float(_MAX)}
"""Of the floats that are smaller than Python's."""

_OVERFLOW_NAMES: Final = {
    **{"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t"},
}


def _fits(number: Scalar, dtype: Dtype) -> bool:
    given = of_numpy(dtype)
    if given.name == "bool":
        return True
    if isinstance(number, complex):
        if given.is_complex:
            part = given.to_real().numpy
            return _fits(number.real, part) and _fits(number.imag, part)
        return not number.imag and _fits(number.real, dtype)
    if given.is_complex:
        return _fits(number, given.to_real().numpy)
    if given.kind in "iu":
        limits = np.iinfo(dtype)
        whole = isinstance(number, int)  # of which unsigned dtypes take negative ones too
        return bool((limits.min or (-limits.max if whole else 0)) <= number <= limits.max)
    largest = _LARGEST.get(given.name)
    return largest is None or not (largest < abs(number) and (math.isfinite(number)))


def check_number(number: Scalar, dtype: Dtype) -> None:
    """Refuse a number that a tensor of this dtype cannot hold; infinities are no numbers too large.

    Raises:
        OperatorError: it is complex and the dtype is not, or it is too large.
    """
    if not _fits(number, dtype):
        given = of_numpy(dtype)
        name = _OVERFLOW_NAMES.get(given.name, cpp_name(given))
        raise OperatorError(
            f"value cannot be converted to type {name} without overflow",
            code="dtype-mismatch",
            headline=f"{number} is not a `{given}`",
        )


class Refusal:
    """Called with a dtype, raises if an operator refuses it.

    Args:
        classes: the letters of the dtypes refused (see `letter`), or their names after `=`.
        kernel: torch's kernel, as its sentence names it.
        says: letters, and the sentence about these, told as not implemented too.
        fails: letters, and the sentence about these, told as a plain failure; `{word}` is the
            dtype's name, `{shape}` the tensor's shape.
        headline: what is said of a plain failure instead of the dtype that was given.
    """

    __slots__ = ("_classes", "_fails", "_headline", "_kernel", "_says", "known")

    def __init__(
        self,
        classes: str,
        kernel: str = "",
        *,
        says: tuple[str, str] = ("", ""),
        fails: tuple[str, str] = ("", ""),
        headline: str = "",
    ) -> None:
        self._classes = classes
        self._kernel = kernel
        self._says = says
        self._fails = fails
        self._headline = headline
        self.known: set[Dtype] = set()
        """Dtypes that were asked about before and are taken."""

    def __call__(self, dtype: Dtype, shape: tuple[int, ...] = ()) -> None:
        """Refuse a dtype; the shape of the tensor is for the sentence.

        Raises:
            UnsupportedDtype: the operator does not take it.
            OperatorError: likewise, where torch tells it as a plain failure.
        """
        if dtype in self.known:
            return
        error = self._error(of_numpy(dtype), letter(dtype), shape)
        if error is not None:
            raise error
        self.known.add(dtype)

    def _error(self, dtype: DType, kind: str, shape: tuple[int, ...]) -> OperatorError | None:
        headline = f"this function does not work on `{dtype}`"
        if kind in self._says[0]:
            return UnsupportedDtype(self._says[1], headline=headline)
        if kind in self._fails[0]:
            sentence = self._fails[1].format(word=dtype.scalar_name, shape=list(shape))
            headline = self._headline or headline
            return OperatorError(sentence, code="dtype-mismatch", headline=headline)
        names = self._classes[1:].split(",") if self._classes[:1] == "=" else ()
        if dtype.scalar_name in names if names else kind in self._classes:
            return UnsupportedDtype(
                f"\"{self._kernel}\" not implemented for '{dtype.scalar_name}'",
                headline=headline,
                roles={"self": f"is `{dtype}`"},
            )
        return None


NO_BOOLS: Final = Refusal(
    "",
    fails=(
        "b",
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ),
    headline="bools cannot be subtracted",
)
"""The refusal of what subtracts."""


def refusing(refuse: Refusal | None, forward: Callable[..., object]) -> Callable[..., object]:
    """A forward that first refuses by the dtype of its first tensor."""
    if refuse is None:
        return forward
    known = refuse.known

    @wraps(forward)
    def checked(self: object, *rest: object) -> object:
        if type(self) is np.ndarray and self.dtype not in known:
            refuse(self.dtype, self.shape)
        return forward(self, *rest)

    return checked

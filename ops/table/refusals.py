"""The dtypes an operator does not take, and torch's sentence about it.

Dtypes fall into classes, each with a letter; torch's kernels take or refuse whole classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Final

import numpy as np

from ..memory.dtype import Array, DType, Dtype, Scalar, dtype_of, of_numpy
from ..memory.errors import OperatorError, UnsupportedDtype
from .promotion import kind

__all__ = [
    *("Refusal", "check_dtype", "check_kernel", "check_number", "check_ordered"),
    *("class_name", "cpp_name", "letter", "not_held", "not_implemented", "operands_differ"),
    *("refusing", "scalar_types_differ"),
]

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


_NAMED_IN_PYTHON: Final = {"Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"}


def class_name(dtype: DType) -> str:
    """What torch's messages call the class of a tensor: only these have names of Python's."""
    word = dtype.scalar_name
    return f"torch.{word}Tensor" if word in _NAMED_IN_PYTHON else f"CPU{word}Type"


def operands_differ(sentence: str, a: Array, b: Array, *names: str) -> OperatorError:
    """The error about two operands of several dtypes; torch's sentence has places for both.

    `names` are those of both, where what the user has is called so.
    """
    x, y = dtype_of(a), dtype_of(b)
    roles = dict(zip(names, (f"is `{x}`", f"is `{y}`"), strict=bool(names)))
    return OperatorError(
        sentence.format(x.scalar_name, y.scalar_name),
        code="dtype-mismatch",
        headline=" and ".join(f"`{name}` {said}" for name, said in roles.items()),
        roles=roles,
    )


def scalar_types_differ(wanted: Array, found: Array, *names: str) -> OperatorError:
    """The error of a kernel that meets an operand of another dtype; `names` as above."""
    return operands_differ("expected scalar type {} but found {}", wanted, found, *names)


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


def not_held(condition: str, **about: Any) -> OperatorError:
    """The error of a condition that torch has no sentence of its own for; `about` is told as well,
    as `OperatorError` takes it."""
    return OperatorError(
        f"Expected {condition} to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)",
        **about,
    )


def not_implemented(
    kernel: str, dtype: Dtype | DType, *, headline: str = "", roles: dict[str, str] | None = None
) -> UnsupportedDtype:
    """The error of a kernel that does not take a dtype."""
    given = dtype if isinstance(dtype, DType) else of_numpy(dtype)
    return UnsupportedDtype(
        f"\"{kernel}\" not implemented for '{given.scalar_name}'", headline=headline, roles=roles
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
            roles = {"self": f"is `{dtype}`"}
            return not_implemented(self._kernel, dtype, headline=headline, roles=roles)
        return None


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


def check_dtype(kernel: str, dtype: Dtype, refused: str = "c") -> None:
    """Refuse complex numbers, or the classes of dtypes `refused` names (see `letter`).

    Raises:
        UnsupportedDtype: the dtype is one of these.
    """
    if letter(dtype) in refused:
        given = of_numpy(dtype)
        raise not_implemented(
            kernel,
            given,
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

"""Text of run-time values as a script prints them: `print(x)`, `str(x)`, `"{}".format(x)`.

Tensors look as in C++: every row on its own line, the type and sizes last.

     1  2
     3  4
    [ CPULongType{2,2} ]

Layout found by printing tensors of all kinds with torch 2.13.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ...frontend.limits.walks import containers_in, fold
from ..arithmetic.scalar import signed_nan
from ..memory.dtype import Array, dtype_of
from ..memory.errors import Elsewhere, OperatorError
from ..quantized_tensors.arrays import dequantize, quantizer_of

__all__ = ["format_for_print", "format_number", "format_tensor"]

LINE_SIZE: Final = 80
_OF_PYTHON: Final = frozenset("Float Double Half Long Int Short Char Byte".split())
"""Element types whose tensors have had a class each in Python."""


# --------------------------------------------------------------------------- numbers


def format_number(number: float) -> str:
    """A float: `1.`, `0.10000000000000001`, `1e+20`; whole ones below 2**63 with all digits."""
    if number.is_integer() and abs(number) < 2**63:
        return f"{int(number)}."
    return signed_nan(number) or f"{number:.17g}"


def _format_complex(number: complex) -> str:
    sign = "+" if number.imag >= 0 else "-"
    return f"{format_number(number.real)}{sign}{format_number(abs(number.imag))}j"


# --------------------------------------------------------------------------- tensors


def _shortest(number: float) -> str:
    """The shortest text that reads back as the same double: `0.1`, `1e-05`, `3`."""
    return repr(number).removesuffix(".0")


def _exponents(array: Array) -> tuple[int, int]:
    """The decimal exponents of the smallest and the largest finite size, plus 1 each."""
    sizes = np.abs(array[np.isfinite(array)])
    low, high = (float(sizes.min()), float(sizes.max())) if sizes.size else (0.0, 0.0)
    return (
        math.floor(math.log10(low)) + 1 if low else 1,
        math.floor(math.log10(high)) + 1 if high else 1,
    )


class _Form:
    """How the numbers of one tensor are written: the scale taken out, the width, the notation."""

    __slots__ = ("notation", "scale", "width")

    def __init__(self, array: Array) -> None:
        small, large = _exponents(array)
        self.scale = 1.0
        if not np.any(np.isfinite(array) & (array != np.ceil(array))):  # whole numbers alone
            self.notation, self.width = (".4e", 11) if large > 9 else (".6g", large + 1)
        elif large - small > 4:
            self.notation, self.width = ".4e", 12 if large > 99 or small < -99 else 11
        elif large > 5 or large < 0:
            self.notation, self.width, self.scale = ".4f", 7, 10.0 ** (large - 1)
        else:
            self.notation, self.width = ".4f", max(large, 1) + 6

    def write(self, number: float) -> str:
        """A number in its column."""
        return f"{number / self.scale:{self.width}{self.notation}}"

    def head(self, indent: str = "") -> str:
        """The line that names the scale, if there is one."""
        return f"{_shortest(self.scale)} *\n{indent}" if self.scale != 1.0 else ""


def _matrix(array: Array, indent: str) -> str:
    """Rows, in blocks of as many columns as a line has room for."""
    form = _Form(array)
    room = max((LINE_SIZE - len(indent)) // (form.width + 1), 1)
    between = f"\n{indent}{' ' if form.scale != 1.0 else ''}"
    total = array.shape[1]
    blocks = []
    for first in range(0, total, room):
        last = min(first + room, total)
        title = f"Columns {first + 1} to {last}{indent}" if room < total else ""
        rows = (" ".join(form.write(float(n)) for n in row[first:last]) for row in array)
        blocks.append(f"{title}{form.head(indent)}{between.join(rows)}\n")
    return "\n".join(blocks)


def _quantizer_text(array: Array) -> str:
    quantizer = quantizer_of(array, "print")
    if quantizer.axis is None:
        numbers = f"scale: {quantizer.scale:.6g}, zero_point: {quantizer.zero_point}"
        return f", qscheme: {quantizer.scheme}, {numbers}"
    scales, zeros = format_tensor(quantizer.scale), format_tensor(quantizer.zero_point)
    numbers = f"scales: {scales}, zero_points: {zeros}, axis: {quantizer.axis}"
    return f", qscheme: {quantizer.scheme}, {numbers}"


def format_tensor(array: Array, recorded: bool = False) -> str:
    """A tensor as C++ prints it, without the newline at the end; of complex ones the real part.

    One whose history is `recorded` is of a class that Python has where there is one.
    """
    name, more = dtype_of(array).scalar_name, ""
    kind = f"torch.{name}Tensor" if recorded and name in _OF_PYTHON else f"CPU{name}Type"
    if array.dtype.names is not None:
        kind, more = f"Quantized{kind}", _quantizer_text(array)
        array = dequantize(array)
    tail = f"[ {kind}{{{','.join(map(str, array.shape))}}}{more} ]"
    values = (array.real if array.dtype.kind == "c" else array).astype(np.float64)
    if not array.ndim:
        return f"{_shortest(float(values))}\n{tail}"
    if not array.size:
        return tail
    if array.ndim == 1:
        form = _Form(values)
        return form.head() + "".join(f"{form.write(float(n))}\n" for n in values) + tail
    if array.ndim == 2:
        return _matrix(values, "") + tail
    blocks = []
    for place in np.ndindex(*array.shape[-3::-1]):  # the first dimension changes fastest
        title = ",".join(str(i + 1) for i in reversed(place))
        blocks.append(f"({title},.,.) = \n{_matrix(values[place[::-1]], ' ')}")
    return "\n".join(blocks) + tail


# --------------------------------------------------------------------------- any value


def format_for_print(value: object) -> str:
    """The text of a run-time value; strings have quotes nowhere, also not in containers."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value is None:
        return str(value)
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, complex):
        return _format_complex(value)
    if isinstance(value, np.ndarray):
        return format_tensor(value)
    if isinstance(value, list | tuple | dict):
        return fold(value, containers_in, _container_text)
    return _text_of_object(value)


def _text_of_object(value: Any) -> str:
    """A tensor's text by its array; of one without, and of other values, the text Python has."""
    try:
        return format_tensor(value._array)
    except (AttributeError, Elsewhere):
        return str(value)


LONGEST: Final = 1 << 27
"""The characters of the text of one list, tuple or dict."""


def _container_text(value: Any, known: dict[int, str]) -> str:
    """The text of a list, tuple or dict; `known` are those of what lies in it.

    Raises:
        OperatorError: it would be too long.
    """

    def text(part: object) -> str:
        return known[id(part)] if id(part) in known else format_for_print(part)

    if sum(len(known[id(part)]) for part in containers_in(value)) > LONGEST:
        raise OperatorError(f"the text of a value has more than {LONGEST} characters")
    if isinstance(value, list):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, tuple):
        inner = ", ".join(map(text, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return f"{{{', '.join(f'{text(k)}: {text(v)}' for k, v in value.items())}}}"

"""Text of run-time values as a script prints them: `print(x)`, `str(x)`, `"{}".format(x)`.

Tensors look as in C++: every row on its own line, the type and sizes last.

     1  2
     3  4
    [ CPULongType{2,2} ]

Layout found by printing tensors of all kinds with torch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from .dtype import Array, dtype_of

__all__ = ["format_for_print", "format_number", "format_tensor"]

LINE_SIZE: Final = 80


# --------------------------------------------------------------------------- numbers


def _significant(number: float, digits: int) -> str:
    """A float as C++ streams write it, with so many significant digits."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    return f"{number:.{digits}g}"


def format_number(number: float) -> str:
    """A float: `1.`, `0.10000000000000001`, `1e+20`; whole ones below 2**63 with all digits."""
    if math.isfinite(number) and abs(number) < 2**63 and number == int(number):
        return f"{int(number)}."
    return _significant(number, 17)


def _format_complex(number: complex) -> str:
    sign = "-" if math.copysign(1.0, number.imag) < 0 else "+"
    return f"{format_number(number.real)}{sign}{format_number(abs(number.imag))}j"


# --------------------------------------------------------------------------- tensors


def _magnitudes(array: Array) -> tuple[int, int]:
    """The decimal exponents of the smallest and the largest number by size, both counted up 1."""
    values = np.abs(array[np.isfinite(array)])
    if not values.size:
        return 1, 1
    low, high = float(values.min()), float(values.max())
    small = math.floor(math.log10(low)) + 1 if low else 1
    large = math.floor(math.log10(high)) + 1 if high else 1
    return small, large


class _Form:
    """How the numbers of one tensor are written: a scale taken out, width, digits, notation."""

    __slots__ = ("digits", "scale", "style", "width")

    def __init__(self, array: Array) -> None:
        self.scale, self.digits, self.style = 1.0, 0, "d"
        if not array.size:
            self.width = 0
            return
        whole = not np.any(np.isfinite(array) & (array != np.ceil(array)))
        small, large = _magnitudes(array)
        if whole:
            self.style, self.width = ("e", 11) if large > 9 else ("d", large + 1)
            self.digits = 4 if large > 9 else 0
        elif large - small > 4:
            self.style, self.digits = "e", 4
            self.width = 12 if large > 99 or small < -99 else 11
        else:
            self.style, self.digits = "f", 4
            if large > 5 or large < 0:
                self.scale, self.width = 10.0 ** (large - 1), 6
            else:
                self.width = 6 if large == 0 else large + 6
        if self.style == "e" and whole and self.width == 11 and large > 99:
            self.width = 12

    def write(self, number: float) -> str:
        """A number in its column."""
        number = number / self.scale
        if not math.isfinite(number):
            return f"{_significant(number, 6):>{self.width}}"
        if self.style == "d":
            return f"{number:{self.width}.0f}"
        return f"{number:{self.width}.{self.digits}{self.style}}"


def _scale_line(form: _Form, indent: str = "") -> str:
    return f"{indent}{_significant(form.scale, 6)} *\n" if form.scale != 1.0 else ""


def _matrix(array: Array, indent: str) -> str:
    form = _Form(array)
    column = form.width + 1
    columns = max((LINE_SIZE - len(indent)) // column, 1)
    lines = []
    total = array.shape[1]
    for first in range(0, total, columns):
        last = min(first + columns, total) - 1
        if columns < total:
            if first:
                lines.append("\n")
            lines.append(f"Columns {first + 1} to {last + 1}")
            lines.append("\n")
        lines.append(_scale_line(form, indent))
        for row in array:
            cells = (form.write(float(cell)) for cell in row[first : last + 1])
            lines.append(indent + (" " if form.scale == 1.0 or True else "") + " ".join(cells))
            lines.append("\n")
    return "".join(lines)


def _slices(array: Array) -> Iterator[tuple[tuple[int, ...], Array]]:
    yield from (
        (place, array[place]) for place in np.ndindex(*array.shape[:-2])
    )


def format_tensor(array: Array) -> str:
    """A tensor as C++ prints it, without the newline at the end."""
    dtype = dtype_of(array)
    shape = ",".join(map(str, array.shape))
    kind = f"CPU{dtype.scalar_name}Type"
    tail = f"[ {kind}{{{shape}}} ]"
    values = array.astype(np.float64) if dtype.kind != "c" else array
    if not array.ndim:
        return f"{_significant_scalar(array)}\n{tail}"
    if not array.size and array.ndim == 1:
        return tail
    if array.ndim == 1:
        form = _Form(values)
        rows = "".join(f"{form.write(float(v))}\n" for v in values)
        return f"{_scale_line(form)}{rows}{tail}"
    if array.ndim == 2:
        return f"{_matrix(values, '')}{tail}"
    blocks = [
        f"({','.join(str(i + 1) for i in place)},.,.) = \n{_matrix(part, '  ')}"
        for place, part in _slices(values)
    ]
    return "\n".join(blocks) + tail


def _significant_scalar(array: Array) -> str:
    return _significant(float(array), 6)


# --------------------------------------------------------------------------- any value


def format_for_print(value: Any) -> str:
    """The text of a run-time value; strings have quotes nowhere, also not in containers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, complex):
        return _format_complex(value)
    if isinstance(value, np.ndarray):
        return format_tensor(value)
    if isinstance(value, list):
        return f"[{', '.join(map(format_for_print, value))}]"
    if isinstance(value, tuple):
        inner = ", ".join(map(format_for_print, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, dict):
        pairs = (f"{format_for_print(k)}: {format_for_print(v)}" for k, v in value.items())
        return f"{{{', '.join(pairs)}}}"
    return str(value)

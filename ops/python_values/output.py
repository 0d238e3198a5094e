"""Text: printing, formatting, warnings."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ..arithmetic.scalar import signed_nan
from ..memory.allocation import note_output
from ..memory.dtype import Device
from ..memory.errors import OperatorError
from ..table.inline import inline, native
from ..table.table import operator
from .display_aten import format_for_print
from .strings import from_bytes, joined, to_bytes


@operator("prim::Print(...) -> ()", effects=True, native=native("printed({all})", writes=True))
def print_values(*values: object) -> None:
    text = " ".join(map(format_for_print, values)) + "\n"
    note_output(len(text))
    if not text.isascii():
        _check_characters(text)
    if sys.stdout is not None:  # as where a process was started without one
        sys.stdout.write(text)


def _check_characters(text: str) -> None:
    """Refuse bytes that are no characters, which parts of strings may be."""
    try:
        to_bytes(text).decode()
    except UnicodeDecodeError as error:
        raise OperatorError(f"UnicodeDecodeError: {error}") from None


@operator(
    "aten::str(t elem) -> str",
    inline=inline("str({0})", "type({0}) is int"),
    native=native("shown({0})"),
)
def text_of(elem: object) -> str:
    return format_for_print(elem)


@operator(
    "aten::warn(str message, int stacklevel=2) -> ()",
    effects=True,
    told="place",
    native=native("fail()", writes=True),
)
def warn(
    message: str,
    stacklevel: int,
    file: str | None = None,
    line: int = 0,
    warned: list[int] | None = None,
    number: int = 0,
) -> None:
    """Warn; the place is that of the script's line, if it is told.

    `warned` has the numbers of what has warned in this call of a script: each does once.
    """
    note_output(len(message))
    if file is None or warned is None:
        warnings.warn(message, UserWarning, stacklevel=stacklevel)
    elif number not in warned:
        warned.append(number)
        warnings.warn_explicit(message, UserWarning, file, line)


@operator("aten::format(str self, ...) -> str", native=native("formatted({all})"))
def format_values(self: str, *values: object) -> str:
    """Every `{}` replaced by a value; further values are left out."""
    pieces = self.split("{}")
    if len(pieces) - 1 > len(values):
        raise OperatorError(
            f"Too few arguments for format string: {self}",
            headline=f"the format string has {len(pieces) - 1} places for {len(values)} values",
        )
    text = pieces[0]
    for piece, value in zip(pieces[1:], values, strict=False):
        text += format_for_print(value) + piece
    return joined(text)


def _too_few() -> OperatorError:
    return OperatorError("Too few arguments for format string")


_KINDS: tuple[tuple[type, str], ...] = (
    *(
        (str, "String"),
        (bool, "Bool"),
        (float, "Double"),
        (complex, "ComplexDouble"),
        (type(None), "None"),
    ),
    *((np.ndarray, "Tensor"), (list, "GenericList"), (tuple, "Tuple"), (Device, "Device")),
)


def _kind(value: object) -> str:
    """torch's word for the kind of a run-time value."""
    if isinstance(value, Mapping):
        return "GenericDict"
    return next((word for cls, word in _KINDS if isinstance(value, cls)), "Object")


def _specified(specifier: str, value: Any) -> str:
    if specifier == "s":
        return format_for_print(value)
    if specifier in "dieEfF" and not isinstance(value, int | float):
        raise OperatorError(
            f"%{specifier} requires a number for formatting, but got {_kind(value)}"
        )
    if specifier in "di":
        return str(_c_int(value) if isinstance(value, float) else int(value))
    if specifier in "eEfF":
        return _as_c_float(specifier, value)
    if specifier == "c":
        return _character(value)
    raise OperatorError(
        f"The specifier %{specifier} is not supported in TorchScript format strings",
        headline=f"`%{specifier}` is not one of %s %d %i %f %F %e %E %c",
    )


_BEYOND: Final = 2.0**31


def _c_int(number: float) -> int:
    """A float cut to C's `int`; the lowest one where it does not fit, as on x86."""
    return int(number) if -_BEYOND - 1 < number < _BEYOND else -(1 << 31)


def _as_c_float(specifier: str, number: float) -> str:
    """A number rounded to C's `float`; `%F` is written as `%f`."""
    with np.errstate(over="ignore"):
        rounded = float(np.float32(number))
    lower = specifier.replace("F", "f")
    text = signed_nan(rounded) or f"{rounded:{lower}}"
    return text.upper() if specifier == "E" else text


def _character(value: object) -> str:
    """What `%c` writes: a string of one byte, or the low byte of a whole number."""
    if isinstance(value, str) and len(to_bytes(value)) == 1:
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise OperatorError(f"%c requires an int or char for formatting, but got {_kind(value)}")
    return from_bytes(bytes([value & 0xFF]))


_SPECIFIER: Final = re.compile("%(.?)", re.DOTALL)


@operator("aten::percentFormat(str self, ...) -> str", native=native("percent({all})"))
def percent_format(self: str, *values: Any) -> str:
    """The `%` operator of a string; one tuple stands for its elements."""
    if len(values) == 1 and isinstance(values[0], tuple):
        (values,) = values
    parts, count = _SPECIFIER.split(self), 0
    for place in range(1, len(parts), 2):
        specifier = parts[place]
        if not specifier:
            raise OperatorError("Incomplete format specifier")
        if specifier == "%":
            continue
        if count == len(values):
            raise _too_few()
        parts[place] = _specified(specifier, values[count])
        count += 1
    if count < len(values):
        raise OperatorError("Too many arguments for format string")
    return joined("".join(parts))

"""Numbers and strings as graphs and schemas spell them."""

from __future__ import annotations

import math

__all__ = ["complex_text", "escape", "float_text", "unescape"]

_ESCAPES = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}
_NAMED = {escaped[1]: char for char, escaped in _ESCAPES.items()}


def float_text(value: float) -> str:
    """`2.` for whole numbers below 1e10, 17 significant digits for all others, a NaN's sign."""
    if value != value:
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    if math.isfinite(value) and abs(value) < 1e10 and value == int(value):
        return f"{'-' if math.copysign(1, value) < 0 else ''}{abs(int(value))}."
    return f"{value:.17g}"


def complex_text(value: complex) -> str:
    """`1.+2.j`."""
    sign = "-" if math.copysign(1, value.imag) < 0 else "+"
    return f"{float_text(value.real)}{sign}{float_text(abs(value.imag))}j"


def escape(text: str) -> str:
    """A string in double quotes.

    Bytes outside ASCII become three characters, the digits of the byte as a signed number in base
    eight counted from "0" (which is why they are not all digits).
    """
    parts = []
    for char in text:
        if char in _ESCAPES:
            parts.append(_ESCAPES[char])
        elif " " <= char <= "~":
            parts.append(char)
        else:
            parts.extend(map(_octal, _bytes(char)))
    return f'"{"".join(parts)}"'


def _bytes(char: str) -> bytes:
    """A letter's bytes; half of a pair stands for one that is no letter, or for its own three."""
    is_byte = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if is_byte else "surrogatepass")


def _octal(byte: int) -> str:
    number = byte - 256 if byte > 127 else byte
    sign = -1 if number < 0 else 1
    number = abs(number)
    digits = (number // 64, number // 8 % 8, number % 8)
    return "\\" + "".join(chr(ord("0") + sign * digit) for digit in digits)


def unescape(text: str) -> str:
    """The string that `escape` or a plain octal escape spelled, without the quotes.

    Raises:
        ValueError: a backslash stands before nothing that an escape has.
    """
    data = bytearray()
    i = 0
    while i < len(text):
        if text[i] != "\\":
            data += _bytes(text[i])
            i += 1
        elif text[i + 1 : i + 2] in _NAMED:
            data += _NAMED[text[i + 1]].encode()
            i += 2
        else:
            digits = [ord(c) - ord("0") for c in text[i + 1 : i + 4]]
            if len(digits) < 3 or not all(-7 <= digit <= 7 for digit in digits):
                raise ValueError("a string has a backslash before what is no escape")
            data.append((digits[0] * 64 + digits[1] * 8 + digits[2]) % 256)
            i += 4
    return data.decode("utf-8", "surrogateescape")

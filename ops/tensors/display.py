"""The text of tensors in Python, `repr(tensor)`, and `set_printoptions`.

Layout found by printing tensors of all kinds with torch 2.13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..memory.dtype import Array, DType, default_dtype, dtype_of
from ..quantized_tensors.arrays import dequantize, quantizer_of
from ..table.promotion import kind

__all__ = ["PRINT_OPTIONS", "format_array", "format_elements", "is_unsaid", "set_printoptions"]


class _Options:
    """How tensors are shown; changed by `set_printoptions`."""

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(self) -> None:
        self.precision = 4
        self.threshold: float = 1000
        self.edgeitems = 3
        self.linewidth = 80
        self.sci_mode: bool | None = None


PRINT_OPTIONS: Final = _Options()

_PROFILES: Final[dict[str, tuple[int, float, int, int]]] = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are shown.

    Args:
        precision: digits after the point.
        threshold: how many elements are shown in full.
        edgeitems: how many are shown at each end of a dimension that is cut short.
        linewidth: characters a line.
        profile: `default`, `short` or `full`; the other arguments count on top of it.
        sci_mode: whether to use scientific notation; None decides by the numbers.
    """
    options = PRINT_OPTIONS
    if profile in _PROFILES:
        chosen = _PROFILES[profile]
        options.precision, options.threshold, options.edgeitems, options.linewidth = chosen
    for name, value in (
        *(("precision", precision), ("threshold", threshold)),
        *(("edgeitems", edgeitems), ("linewidth", linewidth)),
    ):
        if value is not None:
            setattr(options, name, value)
    options.sci_mode = sci_mode


class _Form:
    """How the numbers of one tensor are written: all in one width and notation."""

    __slots__ = ("floating", "scientific", "whole", "width")

    def __init__(self, values: Array) -> None:
        self.floating = kind(values.dtype) == 2
        self.scientific, self.whole, self.width = False, True, 1
        if not self.floating:
            self.width = max((len(str(value)) for value in values.tolist()), default=1)
            return
        counted = values[np.isfinite(values) & (values != 0)]
        if not counted.size:
            self.scientific = bool(PRINT_OPTIONS.sci_mode)
            return
        sizes = np.abs(counted.astype(np.float64))
        low, high = float(sizes.min()), float(sizes.max())
        self.whole = not np.any(counted != np.ceil(counted))
        self.scientific = high / low > 1000.0 or high > 1.0e8 or (not self.whole and low < 1.0e-4)
        if PRINT_OPTIONS.sci_mode is not None:
            self.scientific = PRINT_OPTIONS.sci_mode
        numbers = counted.tolist()
        self.width = max(1, max(len(self._measure(number)) for number in numbers))

    def _measure(self, number: float) -> str:
        if self.scientific:
            return f"{number:.{PRINT_OPTIONS.precision}e}"
        return f"{number:.0f}." if self.whole else f"{number:.{PRINT_OPTIONS.precision}f}"

    def write(self, number: float) -> str:
        """A number in its column."""
        if not self.floating:
            text = str(number)
        elif self.scientific:
            text = f"{number:.{PRINT_OPTIONS.precision}e}"
        elif self.whole:
            text = f"{number:.0f}" + ("." if math.isfinite(number) else "")
        else:
            text = f"{number:.{PRINT_OPTIONS.precision}f}"
        return text.rjust(self.width)


class _ComplexForm:
    """How complex numbers are written: both parts in a form of their own."""

    __slots__ = ("imaginary", "real", "width")

    def __init__(self, values: Array) -> None:
        self.real, self.imaginary = _Form(values.real), _Form(values.imag)
        self.width = self.real.width + self.imaginary.width + 1

    def write(self, number: complex) -> str:
        """A number in its column."""
        imaginary = self.imaginary.write(number.imag).lstrip() + "j"
        sign = "" if imaginary[0] in "+-" else "+"
        return self.real.write(number.real) + sign + imaginary


def _ends(array: Array) -> Array:
    """The elements that a tensor cut short shows."""
    edge = PRINT_OPTIONS.edgeitems
    for axis in range(array.ndim):
        if array.shape[axis] > 2 * edge:
            places = [*range(edge), *range(array.shape[axis] - edge, array.shape[axis])]
            array = array[(slice(None),) * axis + (places,)]  # `take` would copy all of it
    return array


def _row(array: Array, indent: int, cut: bool, form: _Form | _ComplexForm) -> str:
    edge = PRINT_OPTIONS.edgeitems
    if cut and array.shape[0] > 2 * edge:
        cells = [form.write(n) for n in array[:edge].tolist()]
        cells += [" ...", *(form.write(n) for n in array[-edge:].tolist())]
    else:
        cells = [form.write(n) for n in array.tolist()]
    a_line = max(1, (PRINT_OPTIONS.linewidth - indent) // (form.width + 2))
    lines = [", ".join(cells[i : i + a_line]) for i in range(0, len(cells), a_line)]
    return "[" + f",\n{' ' * (indent + 1)}".join(lines) + "]"


def _block(array: Array, indent: int, cut: bool, form: _Form | _ComplexForm) -> str:
    if not array.ndim:
        return form.write(array.item())
    if array.ndim == 1:
        return _row(array, indent, cut, form)
    edge = PRINT_OPTIONS.edgeitems
    if cut and array.shape[0] > 2 * edge:
        parts = [_block(part, indent + 1, cut, form) for part in array[:edge]]
        parts += ["...", *(_block(part, indent + 1, cut, form) for part in array[-edge:])]
    else:
        parts = [_block(part, indent + 1, cut, form) for part in array]
    between = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + between.join(parts) + "]"


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    """The text, then its suffixes; one that would pass the line's end starts a new line."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > PRINT_OPTIONS.linewidth:
            text += ",\n" + " " * indent + suffix
            length = indent + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


def _quantized(array: Array, extra: Sequence[str], prefix: str) -> str:
    """The values, then how they are kept."""
    quantizer, indent = quantizer_of(array, "repr"), len(prefix)
    scale, zero_point = quantizer.scale, quantizer.zero_point
    suffixes = [f"size={tuple(array.shape)}", f"dtype={dtype_of(array)}"]
    suffixes.append(f"quantization_scheme=torch.{quantizer.scheme}")
    if quantizer.axis is None:
        suffixes += [f"scale={scale}", f"zero_point={zero_point}"]
    else:
        suffixes += [f"scale={format_array(scale)}", f"zero_point={format_array(zero_point)}"]
        suffixes.append(f"axis={quantizer.axis}")
    values = dequantize(array)
    cut = array.size > PRINT_OPTIONS.threshold
    shown = (_ends(values) if cut else values).reshape(-1)
    body = _block(values, indent, cut, _Form(shown)) if array.size else "[]"
    return _with_suffixes(prefix + body, [*suffixes, *extra], indent)


def format_elements(array: Array, indent: int) -> str:
    """The elements in nested brackets, lines after the first indented so far."""
    if kind(array.dtype) == 2 and array.itemsize < 4:
        array = array.astype(np.float32)
    elif kind(array.dtype) == 3 and array.dtype.kind != "c":
        array = array.astype(np.complex64)
    cut = array.size > PRINT_OPTIONS.threshold
    shown = (_ends(array) if cut else array).reshape(-1)
    form = _ComplexForm(shown) if array.dtype.kind == "c" else _Form(shown)
    return _block(array, indent, cut, form)


def is_unsaid(dtype: DType) -> bool:
    """Whether a dtype is not told where a tensor with elements is printed."""
    is_default = dtype.numpy in (default_dtype.float, default_dtype.complex)
    return is_default or dtype.name in ("int64", "bool")


def format_array(array: Array, extra: Sequence[str] = (), prefix: str = "tensor(") -> str:
    """A tensor as Python shows it; `extra` are further suffixes such as `requires_grad=True`."""
    indent = len(prefix)
    dtype = dtype_of(array)
    suffixes: list[str] = []
    if array.dtype.names is not None:
        return _quantized(array, extra, prefix)
    if not array.size:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if array.dtype != default_dtype.float:
            suffixes.append(f"dtype={dtype}")
        body = "[]"
    else:
        if not is_unsaid(dtype):
            suffixes.append(f"dtype={dtype}")
        body = format_elements(array, indent)
    return _with_suffixes(prefix + body, [*suffixes, *extra], indent)

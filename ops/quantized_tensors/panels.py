"""Weights of linear layers as native code takes them, and the products by it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from ..kernels import family
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from .arrays import Quantizer, numbers_of, quantizer_of
from .packed_weights import PackedConvolution, PackedLinear

__all__ = [
    *("DEEPEST", "LEAST", "Requantizing", "bytes_by_panels", "floats_by_panels"),
    *("requantizing", "wholes_by_panels"),
]

F32: Final = np.float32
DEEPEST: Final = 1 << 15
"""Elements of a row whose products with weights cannot add up to more than an int32 holds."""
LEAST: Final = 1 << 24
"""Products of numbers that are worth another thread."""


@dataclass(frozen=True, eq=False)
class Requantizing:
    """What makes numbers of quint8 of exact sums; see `requantize`."""

    factors: Array
    """float32, one for all or for each column."""
    bias: Array | None
    scale: float
    zero_point: int
    relu: bool
    columns: int

    @property
    def form(self) -> str:
        """The form of kernels."""
        return "bytes" if self.bias is None else "bytes-bias"

    @property
    def found(self) -> list[float]:
        """The inverse of the scale, the zero point and the least number."""
        low = self.zero_point if self.relu else 0
        return [float(F32(1) / F32(self.scale)), float(self.zero_point), float(low)]

    @cached_property
    def padded(self) -> Array:
        """The factors of the columns, and room for whole vectors behind them."""
        made = np.zeros(self.columns + 32, F32)
        made[: self.columns] = self.factors
        return made

    @cached_property
    def numbers(self) -> list[float]:
        """`found`, made once."""
        return self.found


def requantizing(
    packed: PackedLinear | PackedConvolution,
    given: Quantizer,
    scale: float,
    zero_point: int,
    relu: bool,
) -> Requantizing | None:
    """What makes bytes of a layer's sums over numbers of one range; None for a bias that does not
    fit."""
    key = (given.scale, scale, zero_point, relu)
    if packed.kept is None or packed.kept[0] != key:
        columns = packed.weight.shape[0]
        bias = None if packed.bias is None else np.ascontiguousarray(packed.bias, F32)
        if bias is not None and bias.shape != (columns,):
            return None
        of_weight = np.asarray(quantizer_of(packed.weight, "layer").scale, F32)
        factors = F32(given.scale) * of_weight
        packed.kept = key, Requantizing(factors, bias, scale, zero_point, relu, columns)
    made: Requantizing = packed.kept[1]
    return made


@dataclass(eq=False)
class _Panels:
    """Packed weights [out, in] whose zero points are 0."""

    inputs: int
    depth: int
    """Bytes of a row: the inputs, filled up to a multiple of four."""
    columns: int
    weights: Array
    sums: Array
    """The sum of each column's weights."""
    scales: Array

    def multiply(
        self,
        form: str,
        rows: Array,
        found: Array,
        bias: Array | None,
        factors: Array | None = None,
    ) -> Array:
        """uint8 [rows, depth] times the weights, by a kernel of `code.integers`.

        `found` holds the rows' scale and zero point.
        """
        integers = family("integers")
        height = rows.shape[0]
        kinds = {"wholes": np.int32, "floats": F32, "bias": F32}
        out = np.empty((height, self.columns), kinds.get(form, np.uint8))
        integers.run(
            *(integers.panel_product(form), len(self.weights)),
            *(max(4, LEAST // (rows.size * integers.PANEL)), height, self.depth // 4),
            *(self.columns, rows, self.weights, self.sums, found),
            *(self.scales if factors is None else factors, out if bias is None else bias, out),
        )
        return out


def _panels(packed: PackedLinear) -> _Panels | None:
    """The weights of a layer in panels, made once; None if they are not for native code."""
    if packed.panels is None:
        packed.panels = _made(packed) or False
    return packed.panels or None


def _made(packed: PackedLinear) -> _Panels | None:
    integers = family("integers")
    weight = packed.weight
    quantizer = quantizer_of(weight, "linear")
    columns, depth = weight.shape
    if (
        integers is None
        or weight.dtype.names != ("qint8",)
        or quantizer.is_float
        or quantizer.axis not in (None, 0)
        or np.any(quantizer.zero_point)
        or not (columns and 0 < depth <= DEEPEST)
    ):
        return None
    numbers = numbers_of(weight)
    panels = integers.packed_columns(numbers)
    filled = panels.shape[0] * integers.PANEL
    sums, scales = np.zeros(filled, np.int32), np.zeros(filled, F32)
    sums[:columns] = numbers.sum(axis=1, dtype=np.int32)
    scales[:columns] = quantizer.scale
    return _Panels(depth, panels.shape[1] * 4, columns, panels, sums, scales)


def floats_by_panels(x: Array, packed: PackedLinear, most: int) -> Array | None:
    """A layer over float32 [..., in], quantized by their range to numbers from 0 to `most`.

    None if there is no native code for it.

    Raises:
        OperatorError: there is a NaN among the elements, so they have no range.
    """
    panels = _panels(packed) if x.size else None
    quantize = panels and family("integers").row_quantizer()
    if not (panels and quantize):
        return None
    rows = np.ascontiguousarray(x)[...]
    bias = None if packed.bias is None else np.ascontiguousarray(packed.bias, F32)[...]
    if rows.shape[-1] != panels.inputs or (bias is not None and bias.shape != (panels.columns,)):
        return None  # they were changed
    numbers, found = np.zeros((rows.size // panels.inputs, panels.depth), np.uint8), np.empty(2)
    counts = (len(numbers), len(numbers) + 1, panels.inputs, panels.depth, most)
    family("integers").run(quantize, *counts, rows, numbers, found)
    if found[0] != found[0]:
        raise OperatorError("the input of a dynamically quantized layer holds NaN")
    made = panels.multiply("floats" if bias is None else "bias", numbers, found, bias)
    return made.reshape(*x.shape[:-1], panels.columns)


def wholes_by_panels(numbers: Array, zero_point: int, packed: PackedLinear) -> Array | None:
    """The exact products of uint8 [..., in], less their zero point, as int32.

    None if there is no native code for it.
    """
    return _by_panels(numbers, zero_point, packed, None)


def bytes_by_panels(
    numbers: Array, zero_point: int, packed: PackedLinear, requantizing: Requantizing
) -> Array | None:
    """The same as numbers of another scale and zero point, uint8."""
    integers = family("integers")
    if integers is None or not integers.requantizes():
        return None
    return _by_panels(numbers, zero_point, packed, requantizing)


def _by_panels(
    numbers: Array, zero_point: int, packed: PackedLinear, requantizing: Requantizing | None
) -> Array | None:
    panels = _panels(packed) if numbers.size else None
    if panels is None:
        return None
    rows = numbers.reshape(-1, numbers.shape[-1])
    if rows.shape[1] != panels.inputs:
        return None  # the weights were changed
    if rows.shape[1] != panels.depth or not rows.flags.c_contiguous:
        filled = np.zeros((rows.shape[0], panels.depth), np.uint8)
        filled[:, : rows.shape[1]] = rows
        rows = filled
    if requantizing is None:
        found = np.array([1.0, zero_point])
        made = panels.multiply("wholes", rows[...], found, None)
    else:
        found = np.array([1.0, zero_point, *requantizing.numbers])
        bias = requantizing.bias
        made = panels.multiply(requantizing.form, rows[...], found, bias, requantizing.padded)
    return made.reshape(*numbers.shape[:-1], panels.columns)

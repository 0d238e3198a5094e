"""Weights of linear layers as native code takes them, and the products by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from ..kernels import Prepared, family, in_order
from ..kernels.flags import new_flag
from ..memory.dtype import Array, dtype_by_name
from ..memory.errors import OperatorError
from .arrays import QuantizedArray, Quantizer, numbers_of, per_tensor, quantized_array, quantizer_of
from .packed_weights import PackedConvolution, PackedLinear

__all__ = [
    *("DEEPEST", "LEAST", "Requantizing", "as_before", "bytes_by_panels", "constant"),
    *("floats_by_panels", "requantizing"),
]

F32: Final = np.float32
DEEPEST: Final = 1 << 15
"""Elements of a row whose products with weights cannot add up to more than an int32 holds."""
LEAST: Final = 1 << 19
"""Products of bytes that are worth another thread, which takes a microsecond or two for them."""


def constant(array: Array) -> Array:
    """A view that cannot be written to, so that calls which read it may be learned."""
    view = array[...]
    view.flags.writeable = False
    return view


@dataclass(eq=False)
class Requantizing:
    """What makes numbers of quint8 of exact sums over numbers of one range; see `requantize`."""

    given: Quantizer
    """That of what is given, for all its numbers."""
    asked: tuple[float, int, bool]
    """Scale and zero point of the result, and whether it ends at zero."""
    form: str
    """The form of kernels."""
    found: Array
    """float64: 1, the zero point of what is given; the inverse of the scale of the result, its zero
    point and its least number."""
    factors: Array
    """float32, one for each column, and room for whole vectors behind them."""
    bias: Array
    """float32, one for each column, if the form has it."""
    prepared: Prepared | None = None
    sizes: tuple[int, ...] = ()
    """Those of the numbers that the layer was last over."""

    def __post_init__(self) -> None:
        self.dtype = dtype_by_name("quint8")
        self.made = per_tensor(*self.asked[:2])

    def layer(self, function: Callable[[Requantizing, Array], Array], numbers: Array) -> Array:
        """The bytes that a layer's function makes of numbers, always the same one."""
        if self.prepared is None:
            self.prepared = Prepared(partial(function, self))
        made: Array = self.prepared.call(numbers)
        self.sizes = numbers.shape
        return made

    def is_for(self, given: Quantizer, asked: tuple[float, int, bool]) -> bool:
        """Whether these are the ranges of what is given and of what is asked for."""
        mine = self.given
        return self.asked == asked and (
            given is mine
            or (
                given.axis is None
                and given.scale == mine.scale
                and given.zero_point == mine.zero_point
            )
        )


def requantizing(
    packed: PackedLinear | PackedConvolution,
    given: Quantizer,
    scale: float,
    zero_point: int,
    relu: bool,
) -> Requantizing | None:
    """What makes bytes of a layer's sums over numbers of one range; None for numbers of several, or
    a bias that does not fit."""
    if given.axis is not None:
        return None
    asked = (scale, zero_point, relu)
    kept: Requantizing | None = packed.kept
    if kept is not None and kept.is_for(given, asked):
        return kept
    columns = packed.weight.shape[0]
    if packed.bias is not None and packed.bias.shape != (columns,):
        return None
    of_weight = np.asarray(quantizer_of(packed.weight, "layer").scale, F32)
    factors = np.zeros(columns + 32, F32)
    factors[:columns] = F32(given.scale) * of_weight
    inverse = float(F32(1) / F32(scale))
    low = zero_point if relu else 0
    found = np.array([1.0, given.zero_point, inverse, zero_point, low], np.float64)
    bias = factors if packed.bias is None else np.ascontiguousarray(packed.bias, F32)
    form = "bytes" if packed.bias is None else "bytes-bias"
    made = Requantizing(given, asked, form, constant(found), constant(factors), constant(bias))
    packed.kept = made
    return made


def as_before(
    x: Array, packed: PackedLinear | PackedConvolution, scale: float, zero_point: int, relu: bool
) -> Array | None:
    """A layer over numbers that have the range and the sizes of the last ones; None over others.

    All that is asked of operands is known of these: finding it out again takes longer than small
    layers do.
    """
    kept: Requantizing | None = packed.kept
    if kept is None or type(x) is not QuantizedArray or x.shape != kept.sizes:
        return None
    given, prepared = x.quantizer, kept.prepared
    if given is None or prepared is None or x.dtype != kept.dtype.numpy:
        return None
    if not kept.is_for(given, (scale, zero_point, relu)):
        return None
    return quantized_array(prepared.call(numbers_of(x)), kept.dtype, kept.made)


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

    def __post_init__(self) -> None:
        self.dynamic = Prepared(self.floats)
        self.weights, self.sums, self.scales = map(constant, (self.weights, self.sums, self.scales))

    def bytes(self, wanted: Requantizing, numbers: Array) -> Array:
        """The layer over uint8 [..., in], as bytes."""
        rows = self._filled(numbers)
        out = np.empty((*numbers.shape[:-1], self.columns), np.uint8)
        self._multiply(wanted.form, rows, wanted.found, wanted.factors, wanted.bias, out)
        return out

    def floats(self, rows: Array, bias: Array | None, most: int) -> Array:
        """The layer over float32 [..., in], quantized by their range to numbers up to `most`."""
        numbers, found = self._quantized(rows, most)
        out = np.empty((*rows.shape[:-1], self.columns), F32)
        form = "floats" if bias is None else "bias"
        self._multiply(form, numbers, found, self.scales, out if bias is None else bias, out)
        return out

    def _multiply(
        self, form: str, rows: Array, found: Array, factors: Array, bias: Array, out: Array
    ) -> None:
        """uint8 [rows, depth] times the weights, by a kernel of `code.integers`.

        `found` holds the rows' scale and zero point.
        """
        integers = family("quantized.integers")
        least = max(1, LEAST // (rows.size * integers.PANEL * integers.PANELS))
        integers.run(
            *(integers.panel_product(form), -(-len(self.weights) // integers.PANELS)),
            *(least, rows.size // self.depth),
            *(self.depth // 4, self.columns, rows, self.weights, self.sums, found, factors, bias),
            out,
        )

    def _filled(self, numbers: Array) -> Array:
        """Rows of as many bytes as the weights are for; what is behind the inputs is anything."""
        rows = in_order(numbers)[...]
        if self.inputs == self.depth:
            return rows
        height = rows.size // self.inputs
        made, patches = np.empty((height, self.depth), np.uint8), family("quantized.patches")
        counts = (height, LEAST // self.depth + 1, height, 1, self.inputs, self.depth, 0, 0, 0)
        patches.run(patches.bordered(is_last=True), *counts, rows, made)
        return made

    def _quantized(self, rows: Array, most: int) -> tuple[Array, Array]:
        """The bytes uint8 [rows, depth] of all rows, and their scale and zero point."""
        integers = family("quantized.integers")
        height = rows.size // self.inputs
        stretches = -(-rows.size // integers.STRETCH)
        numbers, found = np.empty((height, self.depth), np.uint8), np.empty(2)
        ends, wrong = np.empty((stretches, 2)), new_flag()
        integers.run(integers.extremes(), stretches, 1, rows.size, rows, ends)
        least = max(1, integers.STRETCH // self.inputs)
        counts = (height, least, stretches, self.inputs, self.depth, most)
        integers.run(integers.row_quantizer(), *counts, rows, ends, numbers, found, wrong)
        if wrong[0]:
            raise OperatorError("the input of a dynamically quantized layer holds NaN")
        return numbers, found


def _panels(packed: PackedLinear) -> _Panels | None:
    """The weights of a layer in panels, made once; None if they are not for native code."""
    if packed.panels is None:
        packed.panels = _made(packed) or False
    return packed.panels or None


def _made(packed: PackedLinear) -> _Panels | None:
    integers = family("quantized.integers")
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
    if panels is None or not family("quantized.integers").row_quantizer():
        return None
    rows = in_order(x)[...]
    bias = None if packed.bias is None else constant(np.ascontiguousarray(packed.bias, F32))
    if rows.shape[-1] != panels.inputs or (bias is not None and bias.shape != (panels.columns,)):
        return None  # they were changed
    made: Array = panels.dynamic.call(rows, bias, most)
    return made


def bytes_by_panels(numbers: Array, packed: PackedLinear, wanted: Requantizing) -> Array | None:
    """A layer over uint8 [..., in], as numbers of another scale and zero point, uint8.

    None if there is no native code for it.
    """
    integers = family("quantized.integers")
    if integers is None or not integers.requantizes():
        return None
    panels = _panels(packed) if numbers.size else None
    if panels is None or numbers.shape[-1] != panels.inputs:
        return None  # the weights were changed
    return wanted.layer(panels.bytes, numbers)

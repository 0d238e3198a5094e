"""Gradients of pointwise operators, where they need no gradients themselves: one kernel for all.

A form is the formula of the operator's row once more, as the steps of a kernel.  The first call
with operands of some dtypes, sizes and strides goes by the formula; the kernel does the next ones
if it gives the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from ...kernels import family, in_order
from ...memory.dtype import Array
from ...table.direct import note_of
from ...table.formula import Part
from ...table.pointwise import cast
from ...table.updates import Program, Value
from ...tensors.tensor import Tensor
from ..formulas.activation import KAPPA, gelu_slope
from ..table.rows import ROWS, direct

_WIDE: Final = "fd"


class Slope:
    """The gradient of one argument, by a formula of arrays that lie alike, and as a program.

    That of 16-bit floats is rounded `once`, or after each step, as the formula's operators do.
    """

    def __init__(
        self,
        formula: Callable[..., Tensor],
        arrays: int,
        write: Callable[[Program], Value],
        numbers: Sequence[float] = (),
        *,
        once: bool = True,
    ) -> None:
        self._formula, self._once = formula, once
        self._numbers = list(numbers)
        self._program = Program(arrays, len(numbers))
        write(self._program)
        self._call: Callable[..., Array] | None = None

    def __call__(self, *tensors: Tensor) -> Tensor:
        if self._call is None:
            module = family("calls.prepared")
            own = self._on_arrays
            self._call = own if module is None else module.prepared(own, self._explained)
        return Tensor._of(self._call(*[each._array for each in tensors]))

    def _on_arrays(self, *arrays: Array) -> Array:
        return cast(self._formula(*map(Tensor._of, arrays))._array, arrays[-1].dtype)

    def _explained(self, values: Sequence[Array], result: Array) -> list[tuple[object, ...]] | None:
        """The run of a kernel that gives the result; None if there is none."""
        arrays = family("elementwise.arrays")
        letter = "" if arrays is None else arrays.LETTERS[result.dtype]
        if not letter or not result.size:
            return None
        if any(each.dtype is not result.dtype or each.shape != result.shape for each in values):
            return None
        inner = "f" if self._once and letter not in _WIDE else letter
        steps = [(name, inner, operands) for name, operands in self._program.steps]
        note = note_of(arrays, Part(steps, [*values, *self._numbers], result))
        return None if note is None else [note]


def _declare(name: str, reads: str, slope: Slope) -> None:
    """Declare the form of an operator of one tensor, which reads that or its result."""

    def of_result(g: Tensor | None, result: Tensor) -> tuple[Tensor] | None:
        return None if g is None else (slope(g, result),)

    def of_self(g: Tensor | None, self: Tensor | None) -> tuple[Tensor] | None:
        return None if g is None or self is None else (slope(g, self),)

    direct(f"aten::{name}", of="self")(of_self if reads == "self" else of_result)


def _formula(name: str) -> Callable[..., Tensor]:
    found: Callable[..., Tensor] = ROWS[f"aten::{name}"].formulas["self"]
    return found


def _relu(program: Program) -> Value:
    g, result, zero = 0, 1, 2
    return program("fill", g, program("less_equal", result, zero), zero)


def _tanh(program: Program) -> Value:
    g, result, one = 0, 1, 2
    squared = program("multiply", result, result)
    return program("multiply", g, program("subtract", one, squared))


def _sigmoid(program: Program) -> Value:
    g, result, one = 0, 1, 2
    rest = program("multiply", result, program("subtract", one, result))
    return program("multiply", g, rest)


def _silu(program: Program) -> Value:
    g, x, one = 0, 1, 2
    share = program("sigmoid", x)
    bent = program("multiply", x, program("subtract", one, share))
    return program("multiply", g, program("multiply", share, program("add", bent, one)))


def _gelu(program: Program) -> Value:
    g, x, inner, one, half, minus_half, height = range(7)
    bent = program("add", program("erf", program("multiply", x, inner)), one)
    share = program("multiply", bent, half)
    squared = program("multiply", program("multiply", x, x), minus_half)
    density = program("multiply", program("exp", squared), height)
    return program("multiply", g, program("add", share, program("multiply", x, density)))


def _gelu_of_tanh(program: Program) -> Value:
    g, x, beta, kappa, thrice, one, half = range(7)
    square = program("multiply", x, x)
    bulge = program("multiply", program("multiply", square, x), kappa)
    bent = program("tanh", program("multiply", program("add", x, bulge), beta))
    rest = program("subtract", one, program("multiply", bent, bent))
    steep = program("add", program("multiply", square, thrice), one)
    slope = program("multiply", rest, program("multiply", steep, beta))
    share = program("multiply", program("add", bent, one), half)
    inner = program("multiply", program("multiply", x, slope), half)
    return program("multiply", g, program("add", share, inner))


_declare("relu", "result", Slope(_formula("relu"), 2, _relu, [0.0]))
_declare("tanh", "result", Slope(_formula("tanh"), 2, _tanh, [1.0]))
_declare("sigmoid", "result", Slope(_formula("sigmoid"), 2, _sigmoid, [1.0]))
_declare("silu", "self", Slope(_formula("silu"), 2, _silu, [1.0]))

_OF_GELU: Final = [math.sqrt(0.5), 1.0, 0.5, -0.5, 1 / math.sqrt(2 * math.pi)]
_OF_TANH: Final = [math.sqrt(2 / math.pi), KAPPA, 3 * KAPPA, 1.0, 0.5]
_GELUS: Final = {
    "none": Slope(gelu_slope, 2, _gelu, _OF_GELU),
    "tanh": Slope(partial(gelu_slope, approximate="tanh"), 2, _gelu_of_tanh, _OF_TANH),
}


@direct("aten::gelu", of="self")
def gelu(g: Tensor | None, self: Tensor | None, approximate: str) -> tuple[Tensor] | None:
    slope = _GELUS.get(approximate)
    return None if g is None or self is None or slope is None else (slope(g, self),)


def _square(program: Program) -> Value:
    g, x, two = 0, 1, 2
    return program("multiply", g, program("multiply", x, two))


def _cube(program: Program) -> Value:
    g, x, three = 0, 1, 2
    return program("multiply", g, program("multiply", program("multiply", x, x), three))


_OF_POWERS: Final[dict[float, Slope]] = {
    2: Slope(lambda g, x: _formula("pow")(g, x, 2), 2, _square, [2.0], once=False),
    3: Slope(lambda g, x: _formula("pow")(g, x, 3), 2, _cube, [3.0], once=False),
}


@direct("aten::pow", of="self")
def power(g: Tensor | None, self: Tensor | None, exponent: object) -> tuple[Tensor] | None:
    """Those of squares and cubes; others are left to the formula, whose power takes most time."""
    slope = _OF_POWERS.get(exponent) if isinstance(exponent, (int, float)) else None
    if slope is None or not isinstance(g, Tensor) or not isinstance(self, Tensor):
        return None
    return (slope(g, self),)


_OF_FIRST: Final = [("sigmoid", (1,)), ("multiply", (0, 2))]
_OF_SECOND: Final = [
    *(("sigmoid", (2,)), ("multiply", (0, 1)), ("multiply", (5, 4)), ("subtract", (3, 4))),
    ("multiply", (6, 7)),
]
"""Steps of formulas: of a gradient and the second half; of that, both halves, and 1."""


@direct("aten::glu", of="self")
def glu(g: Tensor, self: Tensor, dim: int) -> tuple[Tensor] | None:
    """One half times the sigmoid of the other: each half has a kernel."""
    arrays, x, slope = family("elementwise.arrays"), self._array[...], g._array[...]
    letter = {"f": "f", "d": "d"}.get(x.dtype.char)
    if arrays is None or letter is None or slope.dtype is not x.dtype or not x.size:
        return None
    first, second = np.split(x, 2, dim)
    steps = [[(name, letter, places) for name, places in each] for each in (_OF_FIRST, _OF_SECOND)]
    slope = in_order(slope)
    halves = (
        arrays.evaluate(steps[0], letter, slope, second),
        arrays.evaluate(steps[1], letter, slope, first, second, 1.0),
    )
    return (Tensor._of(np.concatenate(halves, dim)),)

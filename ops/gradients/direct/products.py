"""Gradients of products, where they need no gradients themselves: one call for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...kernels import Prepared
from ...kernels.products import dot, matmul
from ...memory.dtype import Array
from ...reductions.reduce import sum_over
from ...tensors.tensor import Tensor
from ..table.rows import direct

Three = tuple[Tensor | None, Tensor | None, Tensor | None]


def _linear(
    g: Array, x: Array, weight: Array, of_input: bool, of_weight: bool, of_bias: bool
) -> Any:
    rows = g if g.ndim == 2 else g.reshape(-1, g.shape[-1])
    made = []
    if of_input:
        made.append(dot(rows, weight).reshape(*g.shape[:-1], weight.shape[1]))
    if of_weight:
        made.append(dot(rows.T, x if x.ndim == 2 else x.reshape(-1, x.shape[-1])))
    if of_bias:
        made.append(sum_over(rows, [0], False, None))
    return tuple(made)


LINEAR: Final = Prepared(_linear)


@direct("aten::linear", of="input weight bias")
def linear(
    g: Tensor | None,
    asked: tuple[bool, ...],
    input: Tensor | None,
    weight: Tensor | None,
    bias_sizes: Sequence[int] | None,
) -> Three | None:
    """The gradients of rows, of the matrix they are multiplied by, and of an added vector."""
    if g is None:
        return None
    grad = g._array
    of_input, of_weight, of_bias = asked
    x = grad if input is None else input._array
    w = grad if weight is None else weight._array
    is_known = grad.dtype is x.dtype is w.dtype and grad.dtype.char in "fd"
    if of_bias and len(bias_sizes or ()) > 1:
        return None
    if not is_known or grad.ndim < 2 or (of_input and w.ndim != 2) or not (x.size and grad.size):
        return None
    made = iter(LINEAR.call(grad, x, w, of_input, of_weight, of_bias))
    found = [Tensor._of(next(made)) if each else None for each in asked]
    return found[0], found[1], found[2]


# --------------------------------------------------------------------------- two factors


def _factors(
    g: Array, a: Array, b: Array, of_a: bool, of_b: bool, turns_a: bool, turns_b: bool
) -> tuple[Array, ...]:
    """The gradients of two factors, transposed where that is said."""
    times = dot if g.ndim == 2 else matmul
    turned, made = g.swapaxes(-1, -2), []
    if of_a:
        made.append(times(b, turned) if turns_a else times(g, b.swapaxes(-1, -2)))
    if of_b:
        made.append(times(turned, a) if turns_b else times(a.swapaxes(-1, -2), g))
    return tuple(made)


FACTORS: Final = Prepared(_factors)


def _of_product(
    g: Tensor | None,
    asked: tuple[bool, ...],
    a: Tensor | None,
    b: Tensor | None,
    turns: tuple[bool, bool] = (False, False),
) -> tuple[Tensor | None, ...] | None:
    """The gradients of two matrices that were multiplied, by columns where it `turns`, or of as
    many in batches."""
    if g is None:
        return None
    grad, (of_a, of_b) = g._array, asked
    first, second = (grad if each is None else each._array for each in (a, b))
    if not first.dtype is second.dtype is grad.dtype or grad.dtype.char not in "fd":
        return None
    lead = grad.shape[:-2]
    alike = first.ndim == second.ndim == grad.ndim > 1
    if not alike or first.shape[:-2] != lead or second.shape[:-2] != lead:
        return None
    if not (grad.size and first.size and second.size) or (grad.ndim > 2 and any(turns)):
        return None
    made = iter(FACTORS.call(grad, first, second, of_a, of_b, *turns))
    return tuple(
        (Tensor._of(next(made).T if by_columns else next(made)) if each else None)
        for each, by_columns in zip(asked, turns, strict=True)
    )


@direct("aten::bmm", of="self mat2")
def bmm(
    g: Tensor | None, asked: tuple[bool, ...], self: Tensor | None, mat2: Tensor | None
) -> tuple[Tensor | None, ...] | None:
    """The products of matrices in two batches."""
    return _of_product(g, asked, self, mat2)


@direct("aten::mm", of="self mat2")
def mm(
    g: Tensor | None,
    asked: tuple[bool, ...],
    self: Tensor | None,
    mat2: Tensor | None,
    self_columns: bool,
    mat2_columns: bool,
) -> tuple[Tensor | None, ...] | None:
    """The product of matrices."""
    return _of_product(g, asked, self, mat2, (self_columns, mat2_columns))


@direct("aten::matmul", of="self other")
def product(
    g: Tensor | None,
    asked: tuple[bool, ...],
    self: Tensor | None,
    other: Tensor | None,
    self_columns: bool,
    other_columns: bool,
) -> tuple[Tensor | None, ...] | None:
    """The product of what may also be vectors, which are left to formulas."""
    return _of_product(g, asked, self, other, (self_columns, other_columns))

"""Gradients of products, where they need no gradients themselves: one call for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...kernels import Prepared
from ...kernels.products import dot, matmul
from ...memory.dtype import Array
from ...memory.quiet import QUIET, enter, leave
from ...reductions.reduce import sum_over
from ...tensors.tensor import Tensor
from ..table.rows import direct

Three = tuple[Tensor | None, Tensor | None, Tensor | None]


def _linear(
    g: Array, x: Array, weight: Array, of_input: bool, of_weight: bool, of_bias: bool
) -> tuple[Array, ...]:
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
    grad, (of_a, of_b), (turns_a, turns_b) = g._array, asked, turns
    first = grad if a is None else a._array
    second = grad if b is None else b._array
    dtype, rank = grad.dtype, grad.ndim
    if not first.dtype is second.dtype is dtype or dtype.char not in "fd":
        return None
    if rank == 1:
        return _of_vectors(grad, first, second, asked, turns_b)
    if not first.ndim == second.ndim == rank > 1:
        return None
    if rank > 2:
        lead = grad.shape[:-2]
        if first.shape[:-2] != lead or second.shape[:-2] != lead or turns_a or turns_b:
            return None
    if not (grad.size and first.size and second.size):
        return None
    made = FACTORS.call(grad, first, second, of_a, of_b, turns_a, turns_b)
    if of_a and of_b:
        of_first, of_second = made
    else:
        of_first = of_second = made[0]
    return (
        Tensor._of(of_first.T if turns_a else of_first) if of_a else None,
        Tensor._of(of_second.T if turns_b else of_second) if of_b else None,
    )


def _of_vectors(
    g: Array, a: Array, b: Array, asked: tuple[bool, ...], turns: bool
) -> tuple[Tensor | None, ...] | None:
    """The same of a matrix and a vector, or of a vector and a matrix that lies by columns where it
    `turns`; the gradient stands for a factor that was not kept."""
    (of_a, of_b), found, other = asked, None, None
    is_matrix = a.ndim == 2 or (a is g and b.ndim == 1)
    if not (g.size and a.size and b.size) or {a.ndim, b.ndim} - {1, 2} or a.ndim == b.ndim == 2:
        return None
    if is_matrix:
        found = _outer(g, b) if of_a else None
        other = dot(a.T, g) if of_b else None
    else:
        found = dot(g[None], b.T)[0] if of_a else None
        if of_b:
            other = _outer(g, a).T if turns else _outer(a, g)
    return (
        None if found is None else Tensor._of(found),
        None if other is None else Tensor._of(other),
    )


def _outer(one: Array, other: Array) -> Array:
    """Each number of a vector times each of another one."""
    state = enter(QUIET)
    try:
        made: Array = np.multiply(one[:, None], other)
    finally:
        leave(state)
    return made


@direct("aten::bmm", of="self mat2")
def bmm(
    g: Tensor | None, asked: tuple[bool, ...], self: Tensor | None, mat2: Tensor | None
) -> tuple[Tensor | None, ...] | None:
    """The products of matrices in two batches."""
    return _of_product(g, asked, self, mat2)


@direct("aten::mv", of="self vec")
def mv(
    g: Tensor | None, asked: tuple[bool, ...], self: Tensor | None, vec: Tensor | None
) -> tuple[Tensor | None, ...] | None:
    """The product of a matrix and a vector."""
    return _of_product(g, asked, self, vec)


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
    """The product of what may also be vectors."""
    return _of_product(g, asked, self, other, (self_columns, other_columns))

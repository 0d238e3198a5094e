"""Weights given by a direction and a length for each slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..kernels import Prepared, family, is_real
from ..linear_algebra.distance import vector_length
from ..memory.dims import wrap_dim
from ..memory.dtype import Array, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..reductions.folding import folded
from ..reductions.reduce import sum_over
from ..table.pointwise import as_array
from ..table.table import operator

__all__ = ["weight_norm_gradients"]

_Steps = Sequence[tuple[str, tuple[int, ...]]]


@operator("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor", out="")
def norm_except_dim(v: Array, pow: int, dim: int) -> Array:
    """The norm over all dimensions but one, which stay with size 1; over all of them for -1."""
    axis = wrap_dim(dim, v.ndim)
    if dim != -1 and not v.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    if v.dtype.kind in "biu":
        raise OperatorError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {dtype_of(v).scalar_name} instead.",
            code="dtype-mismatch",
        )
    if dim == -1:
        return vector_length(v.reshape(-1), pow, -1)
    others = tuple(other for other in range(v.ndim) if other != axis)
    return vector_length(v, pow, others, True) if others else as_array(np.abs(v))


def _is_known(v: Array, g: Array, dim: int) -> bool:
    """Whether kernels compute it: of floats in one piece, with a length for each slice."""
    fits = v.ndim > 1 and is_real(v) and is_real(g) and g.dtype is v.dtype
    lengths = v.shape[dim] if dim in (0, v.ndim - 1) else 1
    return fits and dim in (0, v.ndim - 1, -1) and g.size == lengths and _has_kernels()


def _has_kernels() -> bool:
    return family("elementwise.arrays") is not None


def _computed(steps: _Steps, *operands: Array) -> Array:
    """What steps of formulas give in the dtype of the operands."""
    letter = operands[0].dtype.char
    written = [(name, letter, places) for name, places in steps]
    found: Array = family("elementwise.arrays").evaluate(written, letter, *operands)
    return found


def _others(v: Array, dim: int) -> tuple[int, ...]:
    """The dimensions of a slice."""
    return tuple(range(v.ndim)) if dim == -1 else tuple(d for d in range(v.ndim) if d != dim)


def _by_kernels(v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """Of `_is_known` arguments the weight, and the lengths that there were."""
    squares = folded(v, _others(v, dim), True, "squares")
    assert squares is not None
    norms = _computed([("sqrt", (0,))], squares)
    steps: _Steps = [("divide", (2, 1)), ("multiply", (0, 3))]
    return _computed(steps, v, norms, g.reshape(norms.shape)), norms


def _slopes(grad: Array, v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    others = _others(v, dim)
    squares = folded(v, others, True, "squares")
    assert squares is not None
    along = sum_over(_computed([("multiply", (0, 1))], grad, v), list(others), True, None)
    of_g = _computed([("sqrt", (1,)), ("divide", (0, 2))], along, squares)
    steps: _Steps = [("divide", (2, 3)), ("multiply", (1, 5)), ("subtract", (0, 6))]
    steps = [*steps, ("sqrt", (3,)), ("divide", (4, 8)), ("multiply", (7, 9))]
    return _computed(steps, grad, v, along, squares, g.reshape(along.shape)), of_g.reshape(g.shape)


_known: Final = Prepared(_by_kernels)
_known_slopes: Final = Prepared(_slopes)


def weight_norm_gradients(grad: Array, v: Array, g: Array, dim: int) -> tuple[Array, Array] | None:
    """The gradients of direction and length, given that of the weight; None for what no kernels
    are for."""
    grad, v, g = grad[...], v[...], g[...]  # which no other thread can change
    fits = _is_known(v, g, dim) and is_real(grad) and grad.dtype is v.dtype
    if not fits or grad.shape != v.shape:
        return None
    found: tuple[Array, Array] = _known_slopes.call(grad, v, g, dim)
    return found


@operator(
    "aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)",
    prepared=True,
)
def weight_norm_and_norms(v: Array, g: Array, dim: int) -> tuple[Array, Array]:
    """The weight `v * (g / norm)` and the norms."""
    v, g = v[...], g[...]  # which no other thread can change
    if _is_known(v, g, dim) and dim != -1:
        found: tuple[Array, Array] = _known.call(v, g, dim)
        return found
    norms = norm_except_dim(v, 2, dim)
    if g.size == norms.size and dim in (0, v.ndim - 1):
        g = g.reshape(norms.shape)
    return as_array(v * (g / norms)), norms


@operator("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor", out="", prepared=True)
def weight_norm(v: Array, g: Array, dim: int) -> Array:
    return weight_norm_and_norms(v, g, dim)[0]

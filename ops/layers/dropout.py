"""Dropout: of elements or whole features, with values that keep mean and variance, with masks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ...frontend.foundations.declared import Declared
from ..kernels import Prepared, by_formula
from ..memory.dtype import Array, default_dtype
from ..memory.errors import OperatorError
from ..random_numbers.random_ops import bernoulli_
from ..reductions.loss_reduction import floats
from ..table.layouts import like
from ..table.pointwise import as_array, cast_error
from ..table.promotion import kind
from ..table.table import operator

__all__ = ["FACTORS", "dropped"]

_ALPHA: Final = 1.7580993408473766
"""What alpha dropout puts in place of a value: the negative limit of selu."""


def _noise_of_features(input: Array) -> Array:
    """Room for one number a sample and channel."""
    if input.ndim < 2:
        raise OperatorError(
            "Feature dropout requires at least 2 dimensions in the input", code="shape-mismatch"
        )
    return np.empty((*input.shape[:2], *(1,) * (input.ndim - 2)), input.dtype)


Factors = tuple[Array, ...]


def _factors(input: Array, p: float, train: bool, features: bool, alpha: bool) -> Factors | None:
    """What the input is multiplied by, and for alpha dropout what is added then; None if nothing is
    dropped."""
    if not 0 <= p <= 1:
        raise OperatorError(
            f"dropout probability has to be between 0 and 1, but got {p:g}",
            headline=f"`p` is a probability, {p:g} is not",
        )
    if p == 0 or not train or not input.size:
        return None
    if p == 1:
        return (as_array(input.dtype.type(0)),)
    if kind(input.dtype) < 2:  # the noise has the input's dtype, and is divided in place
        raise cast_error(default_dtype.float, input.dtype)
    room = _noise_of_features(input) if features else input
    found: Factors = (_ALPHA_NOISE if alpha else _NOISE).call(room, p)
    return found


def _noise(room: Array, p: float) -> Factors:
    """The noise of dropout, in memory like that of `room`, which stays as it is."""
    noise = bernoulli_(like(room, room.dtype), 1 - p, None)
    return (_with("divide", np.true_divide, noise, room.dtype.type(1 - p)),)


def _alpha_noise(room: Array, p: float) -> Factors:
    """The same of alpha dropout, and what is added to the product."""
    noise, number = bernoulli_(like(room, room.dtype), 1 - p, None), room.dtype.type
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    shift = _with("subtract", np.subtract, noise, number(1))
    shift = _with("multiply", np.multiply, shift, number(_ALPHA * scale))
    shift = _with("add", np.add, shift, number(_ALPHA * scale * p))
    return _with("multiply", np.multiply, noise, number(scale)), shift


_NOISE: Final = Prepared(_noise)
_ALPHA_NOISE: Final = Prepared(_alpha_noise)


def _computed(name: str, function: np.ufunc, one: Array, other: Array) -> Array:
    """A function of two arrays of one dtype, by its formula where that pays, which gives the same
    bits."""
    found = by_formula(name, one, other) if one.size >= other.size else None
    return as_array(function(one, other)) if found is None else found


def _with(name: str, function: np.ufunc, array: Array, number: np.generic) -> Array:
    """The same of an array and a number of its dtype."""
    other = as_array(number)
    other.setflags(write=False)  # a constant of calls that are learned
    return _computed(name, function, array, other)


def _declare(name: str, features: bool, alpha: bool) -> Callable[[Array, float, bool], Array]:
    """Declare a form of dropout and its twin in place; gives what computes it."""

    def factors(input: Array, p: float, train: bool) -> Factors | None:
        return _factors(input, p, train, features, alpha)

    def forward(input: Array, p: float, train: bool) -> Array:
        found = factors(input, p, train)
        if found is None:
            return input
        made = _computed("multiply", np.multiply, input, found[0])
        return made if len(found) == 1 else _computed("add", np.add, made, found[1])

    def forward_in_place(self: Array, p: float, train: bool) -> Array:
        result = forward(self, p, train)
        if result is not self:
            self[...] = result
        return self

    input, self = "Tensor input, float p, bool train", "Tensor(a!) self, float p, bool train"
    operator(f"aten::{name}({input}) -> Tensor", random=True, out="", layout="L", prepared=True)(
        forward
    )
    operator(f"aten::{name}_({self}) -> Tensor(a!)", random=True, face="function")(forward_in_place)
    FACTORS.put([f"aten::{name}"], factors)
    return forward


FACTORS: Final[Declared[str, Callable[[Array, float, bool], Factors | None]]] = Declared()
"""What dropout is made of, by operator: gradients go through the product and the sum."""

dropped = _declare("dropout", False, False)
_declare("feature_dropout", True, False)
_declare("alpha_dropout", False, True)
_declare("feature_alpha_dropout", True, True)


@operator(
    "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", random=True
)
def native_dropout(input: Array, p: float, train: bool | None) -> tuple[Array, Array]:
    """The result and the mask of what was kept."""
    if train is False or not input.size:
        return input.copy(), np.ones(input.shape, bool)
    if p == 1:
        return np.zeros_like(input), np.zeros(input.shape, bool)
    kept = bernoulli_(np.empty_like(input), 1 - p, None)
    result = as_array(input * kept * input.dtype.type(1 / (1 - p)))
    return result, kept.astype(bool)


@operator(
    "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    face="operator",
)
def native_dropout_backward(grad_output: Array, mask: Array, scale: float) -> Array:
    """The gradient where the mask kept values, scaled."""
    grad_output = floats(grad_output)
    dtype = grad_output.dtype
    return as_array(grad_output * (mask.astype(dtype) * dtype.type(scale)))

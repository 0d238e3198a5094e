"""Losses of numbers against numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ..arithmetic.elementwise import check_subtraction, difference
from ..kernels import family, in_order, is_whole
from ..layers.activation import log_sigmoid
from ..memory.dtype import Array, Dtype, dtype_of, of_numpy
from ..memory.errors import OperatorError
from ..memory.order import beside, dims_in_memory
from ..reductions.loss_reduction import floats, reduced, widened
from ..table.pointwise import (
    as_array,
    binary,
    cast,
    check_cast,
    check_result_shape,
    checked_broadcast,
    with_number,
)
from ..table.promotion import common_dtype, kind, result_dtype
from ..table.refusals import Refusal, not_implemented
from ..table.table import operator

__all__ = ["hinge_embedding_loss", "l1_loss"]

_FLOAT32: Final = np.dtype(np.float32)
_HALVES: Final = "float16 bfloat16"


def _of_pairs(
    function: Callable[..., object], name: str, dtype: Dtype
) -> Callable[[Array, Array], Array]:
    """`function` of two floats of `dtype`, the 16-bit ones computed in float32.

    Raises:
        UnsupportedDtype: they are no floats, or such of 8 bits.
    """
    if kind(dtype) != 2 or dtype.itemsize == 1:
        raise not_implemented(name, dtype)

    def kernel(a: Array, b: Array) -> Array:
        return as_array(function(widened(a), widened(b)))

    return kernel


def _natively(
    form: str, self: Array, target: Array, level: float = 1.0, by_steps: str = ""
) -> Array | None:
    """Losses of floats by native code, which lie in the order of the first ones; None of others."""
    self, target = self[...], target[...]  # which no other thread can change
    if self.shape != target.shape or self.dtype is not target.dtype or kind(self.dtype) != 2:
        return None
    turned = None if is_whole(self) or 0 in self.strides else dims_in_memory(self)
    if turned is not None:
        self, target = in_order(self.transpose(turned)), target.transpose(turned)
    kernels = family("elementwise.pair_losses") if is_whole(self) else None
    if kernels is None:
        return None
    target = in_order(target)
    steps = of_numpy(self.dtype).name in by_steps.split()
    found: Array | None = kernels.pair_losses(form, self, target, level, by_steps=steps)
    if turned is None or found is None:
        return found
    return found.transpose(tuple(map(turned.index, range(len(turned)))))


def _pairwise(
    self: Array,
    target: Array,
    reduction: int,
    name: str,
    function: Callable[..., object],
    by_steps: str,
    native: tuple[str, float],
) -> Array:
    """The reduced losses, by the form and level of `native` code where there is some; 16-bit floats
    named in `by_steps` are rounded after every step."""
    found = _natively(native[0], self, target, native[1], by_steps) if native[0] else None
    if found is not None:
        return reduced(found, reduction)
    if self.dtype is _FLOAT32 is target.dtype:
        return reduced(binary(function, self, target), reduction, _FLOAT32)
    dtype = common_dtype(self, target)
    kernel = _of_pairs(function, name, dtype)
    losses = binary(function if of_numpy(dtype).name in by_steps.split() else kernel, self, target)
    return reduced(as_array(losses).astype(dtype, copy=False), reduction, dtype)


def _squared_difference(a: Array, b: Array) -> Array:
    apart = as_array(a - b)
    return np.multiply(apart, apart, apart)


@operator(
    "aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full",
    face="layer",
)
def mse_loss(self: Array, target: Array, reduction: int) -> Array:
    """Squared differences."""
    native = "squared", 1.0
    return _pairwise(self, target, reduction, "mse_cpu", _squared_difference, _HALVES, native)


@operator(
    "aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full",
    out="",
    face="layer",
)
def l1_loss(self: Array, target: Array, reduction: int) -> Array:
    """Absolute differences."""
    found = _natively("absolute", self, target)
    if found is not None:
        return reduced(found, reduction)
    return reduced(np.abs(difference(self, target)), reduction)


@operator(
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full",
    face="layer",
)
def smooth_l1_loss(self: Array, target: Array, reduction: int, beta: float) -> Array:
    """Squares up to `beta`, absolute differences from there on."""
    if beta < 0:
        raise OperatorError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(self, target, reduction)

    def losses(a: Array, b: Array) -> object:
        size = np.abs(as_array(a - b))
        half, level = size.dtype.type(0.5), size.dtype.type(beta)
        return np.where(size < level, half * size * size / level, size - half * level)

    native = "smooth", float(beta)
    return _pairwise(self, target, reduction, "smooth_l1_cpu", losses, "float16", native)


@operator(
    "aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor",
    prepared=True,
    autocast="full",
    face="layer",
)
def huber_loss(self: Array, target: Array, reduction: int, delta: float) -> Array:
    """Squares up to `delta`, lines from there on."""
    if not delta > 0:
        raise OperatorError("huber_loss does not support non-positive values for delta.")

    def losses(a: Array, b: Array) -> object:
        size = np.abs(as_array(a - b))
        half, level = size.dtype.type(0.5), size.dtype.type(delta)
        return np.where(size <= level, half * size * size, level * (size - half * level))

    check_cast(common_dtype(self, target), self.dtype)
    native = "huber", float(delta)
    found = _pairwise(self, target, reduction, "huber_cpu", losses, "bfloat16", native)
    return found.astype(self.dtype, copy=False)


@operator(
    "aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    face="layer",
)
def soft_margin_loss(self: Array, target: Array, reduction: int) -> Array:
    """`log(1 + exp(-target * self))`, rounded to the dtype of `self` after every step, each of
    which is written in its place."""
    check_result_shape(self.shape, checked_broadcast(self.shape, target.shape))
    product, dtype = as_array(np.negative(binary(np.multiply, self, target))), self.dtype
    check_cast(result_dtype([product, 1.0]), dtype)
    product = cast(product, dtype)
    grown = as_array(np.exp(widened(product))).astype(dtype)
    return reduced(as_array(np.log1p(widened(grown))).astype(dtype), reduction)


# --------------------------------------------------------------------------- probabilities


@operator(
    "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="banned",
    refuses=Refusal("biuqc", "binary_cross_entropy"),
    face="layer",
)
def binary_cross_entropy(self: Array, target: Array, weight: Array | None, reduction: int) -> Array:
    """`-(target * log(self) + (1 - target) * log(1 - self))`, logarithms held above -100."""
    if self.dtype != target.dtype:
        raise OperatorError(
            f"Found dtype {dtype_of(target).scalar_name} but expected {dtype_of(self).scalar_name}",
            code="dtype-mismatch",
        )
    for array, name in ((self, "input"), (target, "target")):
        if not bool(((array >= 0) & (array <= 1)).all()):
            raise OperatorError(f"all elements of {name} should be between 0 and 1")
    least, one = self.dtype.type(-100), self.dtype.type(1)
    yes = np.maximum(np.log(self), least)
    no = np.maximum(np.log1p(-self), least)
    losses = as_array((target - one) * no - target * yes)  # 16-bit floats round at every step
    if weight is not None:
        losses = as_array(losses * weight).astype(self.dtype)
    return reduced(losses, reduction)


def _rounding(dtype: Dtype) -> Callable[[Array], Array]:
    """Rounds what was computed in float32 to a 16-bit dtype, as each of torch's steps does."""
    if dtype.itemsize >= 4 or kind(dtype) != 2:
        return lambda value: value
    return lambda value: as_array(value).astype(dtype).astype(np.float32)


def _dtype_of_targets(logits: Array, target: Array) -> Dtype:
    """The dtype of the losses, all of which are computed in the place of the targets.

    Raises:
        OperatorError: the logits, or the losses, do not go into it.
    """
    if kind(logits.dtype) != 2:
        raise not_implemented("log_sigmoid_cpu", logits.dtype)
    check_subtraction(target.dtype, target.dtype)
    check_cast(result_dtype([target, logits]), target.dtype)
    return target.dtype


@operator(
    "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor",
    prepared=True,
    autocast="full",
    autocast_in_graphs="full",
    face="function",
)
def binary_cross_entropy_with_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: int
) -> Array:
    """Binary cross entropy of `sigmoid(self)`, without computing that."""
    if weight is None is pos_weight:
        found = _natively("logits", self, target, by_steps=_HALVES)
        if found is not None:
            return reduced(found, reduction)
    dtype = _dtype_of_targets(self, target)
    step = _rounding(dtype)
    x, wanted = widened(self), widened(target)
    log = step(log_sigmoid(x))
    losses = step(step(1 - wanted) * x)
    if pos_weight is not None:
        heavier = step(widened(pos_weight) - 1)
        log = step(step(step(heavier * wanted) + 1) * log)
    losses = step(losses - log)
    if weight is not None:
        losses = losses * widened(weight)
    losses = as_array(losses).astype(dtype)
    return reduced(losses if reduction else beside(losses, target, self), reduction)


def _times_log(target: Array) -> object:
    """`target * log(target)`, zero at zero."""
    return np.where(target == 0, target.dtype.type(0), target * np.log(target))


@operator(
    "aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    out="",
    face="function",
)
def kl_div(self: Array, target: Array, reduction: int, log_target: bool) -> Array:
    """`target * (log(target) - self)`; the target may be logarithms itself."""
    kinds = kind(self.dtype), kind(target.dtype)
    if max(kinds) > 2:
        raise OperatorError("kl_div: Complex inputs not supported.", code="dtype-mismatch")
    if min(kinds) < 2:
        raise OperatorError("kl_div: Integral inputs not supported.", code="dtype-mismatch")
    dtype = common_dtype(self, target)

    def losses(b: Array, a: Array) -> object:
        return np.exp(b) * (b - a) if log_target else _times_log(b) - b * a

    return reduced(binary(losses, target, self), reduction, dtype)


@operator(
    "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, "
    "int reduction) -> Tensor",
    autocast="full",
    out="",
)
def poisson_nll_loss(
    input: Array, target: Array, log_input: bool, full: bool, eps: float, reduction: int
) -> Array:
    """Minus the logarithm of a Poisson probability; `full` adds Stirling's approximation."""
    if log_input or full or kind(common_dtype(input, target)) < 2:
        input, target = floats(input), floats(target)
    dtype = common_dtype(input, target)
    checked_broadcast(target.shape, input.shape, ("target", "input"))

    def losses(a: Array, b: Array) -> object:
        step = _rounding(a.dtype)
        a, b = widened(a), widened(b)
        if log_input:
            loss = step(step(np.exp(a)) - step(b * a))
        else:
            loss = step(a - step(b * step(np.log(step(a + a.dtype.type(eps))))))
        if full:
            stirling = step(step(b * step(np.log(b))) - b)
            stirling = step(stirling + step(0.5 * step(np.log(step(2 * math.pi * b)))))
            loss = loss + np.where(b <= 1, b.dtype.type(0), stirling)
        return loss

    return reduced(binary(losses, input, target), reduction, dtype)


# --------------------------------------------------------------------------- margins


@operator(
    "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) "
    "-> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    out="",
    face="function",
)
def hinge_embedding_loss(self: Array, target: Array, margin: float, reduction: int) -> Array:
    """The value where the target is 1, what it lacks to `margin` where it is -1."""
    dtype = common_dtype(self, target)

    def losses(b: Array, a: Array) -> object:
        lack = np.maximum(a.dtype.type(margin) - a, a.dtype.type(0))
        return np.where(b != 1, lack, 0) + np.where(b != -1, a, 0)

    return reduced(binary(losses, target, self), reduction, dtype)


@operator(
    "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., "
    "int reduction=1) -> Tensor",
    autocast="full",
    autocast_in_graphs="full",
    out="",
)
def margin_ranking_loss(
    input1: Array, input2: Array, target: Array, margin: float, reduction: int
) -> Array:
    """What `target * (input1 - input2)` lacks to `margin`."""
    apart = difference(input1, input2)
    product = binary(np.multiply, as_array(np.negative(target)), apart)
    return reduced(np.maximum(with_number(np.add, product, margin), 0), reduction)

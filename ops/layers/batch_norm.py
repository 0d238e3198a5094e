"""Normalisation of each channel over the batch, with running statistics."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import (
    Prepared,
    cast_by_kernel,
    family,
    in_order,
    is_ready,
    is_real,
    is_whole,
    of_floats,
    written_by_numpy,
)
from ..memory.dtype import Array, dtype_of
from ..memory.errors import BadNumber, IndexOutOfRange, OperatorError
from ..shapes.windows import ends_in_channels, wide_dtype
from ..table.pointwise import cast
from ..table.refusals import not_implemented
from ..table.table import operator
from ..table.without_data import rows_of
from .batch_norm_of_halves import (
    apply_to_halves,
    halves_natively,
    has_fma,
    scales_of_halves,
)
from .batch_statistics import (
    follow,
    kernels_for,
    moments,
    moments_of_planes,
    rounded_moments,
)
from .normalize import statistics_dtype

__all__ = ["batch_norm_gradients"]

_NO_BYTES: Final = np.dtype(np.uint8)


def _check(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
) -> None:
    """Refuse parameters that are no vectors over the channels.

    Raises:
        OperatorError: a parameter does not fit, or statistics are missing.
    """
    if input.ndim < 2:
        low, high = (-input.ndim, input.ndim - 1) if input.ndim else (-1, 0)
        raise IndexOutOfRange(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got 1)"
        )
    if training and (running_mean is None) != (running_var is None):
        raise BadNumber("running_mean and running_var must either both be None or neither be None")
    channels = input.shape[1]
    statistics = ("running_mean", running_mean), ("running_var", running_var)
    for name, parameter in (*statistics, ("weight", weight), ("bias", bias)):
        if parameter is None:
            if not training and name.startswith("running"):
                raise OperatorError(
                    f"{name} must be defined in evaluation mode",
                    headline=f"`{name}` is needed when not training",
                )
        elif parameter.size != channels:
            raise OperatorError(
                f"{name} should contain {channels} elements not {parameter.size}",
                code="shape-mismatch",
                headline=f"`input` has {channels} channels, `{name}` has {parameter.size} elements",
                roles={
                    "input": f"has {channels} channels",
                    name: f"has {parameter.size} elements",
                },
            )
    if not dtype_of(input).is_floating_point:
        raise not_implemented("batch_norm", input.dtype)


def _normalized(
    input: Array, mean: Array, variance: Array, eps: float, weight: Array | None, bias: Array | None
) -> Array:
    """`(input - mean) / sqrt(variance + eps) * weight + bias`, by channel."""
    kernels = kernels_for(input)
    if kernels is not None:
        made: Array = _KNOWN_PLANES.call(input, mean, variance, weight, bias, eps)
        return made
    found = _rows_natively(input, mean, variance, eps, weight, bias)
    if found is None:
        scales = scales_of_halves(input, mean, variance, eps, weight, bias)
        found = None if scales is None else halves_natively(input, *scales)
    if found is not None:
        return found
    scale = 1 / np.sqrt(variance.astype(np.float64, copy=False) + eps)
    return _apply(input, mean, scale, weight, bias)


def _planes(
    input: Array, mean: Array, variance: Array, weight: Array | None, bias: Array | None, eps: float
) -> object:
    return family("convolutions.batch_norms").normalized(input, mean, variance, weight, bias, eps)


_KNOWN_PLANES: Final = Prepared(_planes)


def _trained(
    input: Array, weight: Array | None, bias: Array | None, eps: float
) -> tuple[object, Array, Array]:
    """Planes normalised by what they hold, and that: means and variances."""
    mean, variance = moments_of_planes(input)
    return _planes(input, mean, variance, weight, bias, eps), mean, variance


_KNOWN_TRAINED: Final = Prepared(_trained)


def _trained_of_halves(
    input: Array, weight: Array, bias: Array, eps: float
) -> tuple[Array, Array, Array]:
    """The same of planes of bfloat16, by weights of float32."""
    mean, variance = moments(cast_by_kernel(input, wide_dtype(input.dtype)))
    return _normalized(input, mean, variance, eps, weight, bias), mean, variance


_KNOWN_HALVES: Final = Prepared(_trained_of_halves)


def _are_halves(input: Array, weight: Array | None, bias: Array | None) -> bool:
    """Whether all steps of that are by kernels."""
    if input.dtype.name != "bfloat16" or input.ndim < 3 or weight is None or bias is None:
        return False
    fits = is_whole(input) and is_ready(weight) and is_ready(bias)
    return fits and family("convolutions.batch_norms") is not None


_FACTOR: Final = [("add", "d", (0, 1)), ("rsqrt", "d", (3,)), ("multiply", "d", (4, 2))]
_TERM: Final = [
    *(("add", "d", (0, 1)), ("rsqrt", "d", (5,)), ("multiply", "d", (6, 2))),
    *(("multiply", "d", (3, 7)), ("subtract", "d", (4, 8))),
]
"""Steps of formulas, of variances, a number, weights, means and biases."""


def _rows_natively(
    input: Array, mean: Array, variance: Array, eps: float, weight: Array | None, bias: Array | None
) -> Array | None:
    """Rows of float32 by kernels alone, so that calls are learned: factors and terms of channels in
    float64, then a product and a sum."""
    if weight is None or bias is None or input.ndim != 2:
        return None
    is_known = all(map(is_ready, (input, weight, bias))) and all(map(is_real, (mean, variance)))
    known = family("elementwise.arrays") if is_known else None
    return _KNOWN_ROWS.call(input, mean, variance, eps, weight, bias) if known else None


def _rows(
    input: Array, mean: Array, variance: Array, eps: float, weight: Array, bias: Array
) -> Array:
    arrays = family("elementwise.arrays")
    factor = arrays.evaluate(_FACTOR, "f", variance, eps, weight)
    term = arrays.evaluate(_TERM, "f", variance, eps, weight, mean, bias)
    made: Array = arrays.evaluate([("add_products", "f", (2, 0, 1))], "f", input, factor, term)
    return made


_KNOWN_ROWS: Final = Prepared(_rows)


def _apply(
    input: Array, mean: Array, scale: Array, weight: Array | None, bias: Array | None
) -> Array:
    """`(input - mean) * scale * weight + bias`, one factor and one term a channel."""
    wide = wide_dtype(input.dtype)
    if input.itemsize == 2:
        return apply_to_halves(input, mean, scale, weight, bias)
    factor = scale if weight is None else scale * weight
    term = mean * factor if bias is None else bias - mean * factor
    if bias is None:
        np.negative(term, term)
    shape = (1, -1, *(1,) * (input.ndim - 2))
    factor, term = (each.astype(wide).reshape(shape) for each in (factor, term))
    made: Array | None = of_floats("add_products", term, input, factor) if is_ready(input) else None
    if made is not None:
        return made
    result = input.astype(wide, order="K" if ends_in_channels(input) else "C")
    result *= factor
    result += term
    return result.astype(input.dtype, copy=False)


def _with_usual_strides(input: Array) -> Array:
    """Channels that lie last with strides that tell so, where dimensions of size 1 hide it."""
    if input.ndim not in (4, 5) or input.flags.c_contiguous or ends_in_channels(input):
        return input
    moved = np.moveaxis(input, 1, -1)
    return np.moveaxis(moved.copy(), -1, 1) if moved.flags.c_contiguous else input


def _batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    *,
    keeps: bool = True,
) -> tuple[Array, Array, Array]:
    """The result, and what is kept of the batch unless it does not matter."""
    _check(input, weight, bias, running_mean, running_var, training)
    input = _with_usual_strides(input)
    saved = statistics_dtype(
        input, weight, bias, running_mean, running_var, read_first=2 if training else 0
    )
    if not training:
        assert running_mean is not None
        assert running_var is not None
        result = _normalized(input, running_mean, running_var, eps, weight, bias)
        return result, np.empty(0, saved), np.empty(0, saved)
    channels = input.shape[1]
    if not input.size:
        return input.copy(), np.zeros(channels, saved), np.zeros(channels, saved)
    count = input.size // channels
    more = count / (count - 1) if count > 1 else np.nan
    still = input[...]  # which no other thread can change
    known = _KNOWN_TRAINED if kernels_for(still) is not None else None
    if known is None and saved.itemsize > 2 and _are_halves(still, weight, bias):
        known = _KNOWN_HALVES
    if known is not None and not keeps:
        result, mean, variance = known.call(still, weight, bias, eps)
        follow(running_mean, mean, momentum)
        follow(running_var, variance, momentum, more)
        return result, mean, variance
    wide = cast(input, wide_dtype(input.dtype))
    if saved.itemsize == 2 and saved.name == "bfloat16":
        mean, variance, followed = rounded_moments(wide, saved, count)
        more = 1.0
    else:
        mean, variance = moments(wide)
        followed = variance
    follow(running_mean, mean, momentum)
    follow(running_var, followed, momentum, more)
    mean = mean.astype(np.float64, copy=False)
    if not keeps and saved.itemsize > 2:
        none = np.empty(0, saved)
        return _normalized(input, mean, variance, eps, weight, bias), none, none
    scale = 1 / np.sqrt(variance + eps)
    kept = mean.astype(saved), scale.astype(saved)
    if saved.itemsize == 2:  # and computes with what it keeps
        mean, scale = (each.astype(np.float64) for each in kept)
        return _apply(input, mean, scale, weight, bias), *kept
    return _normalized(input, mean, variance, eps, weight, bias), *kept


def batch_norm_gradients(
    g: Array,
    input: Array,
    weight: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    eps: float,
) -> tuple[Array, Array, Array] | None:
    """The gradients of `batch_norm` in input, weight and bias by native code; None if there is none
    for such operands."""
    g, input = g[...], input[...]  # which no other thread can change
    weight = None if weight is None else weight[...]
    of_batch = training or running_mean is None or running_var is None
    is_known = is_ready(input) and family("convolutions.batch_norms") is not None
    if not is_known or g.dtype is not input.dtype or g.shape != input.shape:
        return None
    if weight is not None and weight.dtype is not input.dtype:
        return None
    given = (None, None) if of_batch else (running_mean, running_var)
    known = [each[...] for each in given if each is not None]
    if not all(is_real(each) and each.dtype is known[0].dtype for each in known):
        return None
    found: tuple[Array, Array, Array] = _KNOWN_SLOPES.call(in_order(g), input, weight, eps, *known)
    return found


def _slopes(
    g: Array, input: Array, weight: Array | None, eps: float, *known: Array
) -> tuple[Array, Array, Array]:
    mean, variance = known or moments(input)
    found: tuple[Array, Array, Array] = family("convolutions.batch_norms").gradients(
        g, input, mean, variance, weight, eps, of_batch=not known
    )
    return found


_KNOWN_SLOPES: Final = Prepared(_slopes)


# --------------------------------------------------------------------------- operators

_PARAMETERS: Final = "Tensor input, Tensor? weight, Tensor? bias, "
_MAYBE: Final = "Tensor? running_mean, Tensor? running_var, "
_WRITTEN: Final = "Tensor(a!) running_mean, Tensor(b!) running_var, "
_GIVEN: Final = "Tensor running_mean, Tensor running_var, "
_THREE: Final = "(Tensor, Tensor, Tensor)"


def _scales(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> tuple[Array, Array] | None:
    """Factor and term of each channel, if `batch_norm` is computed by them."""
    kernels = kernels_for(input)
    is_of_halves = input.dtype.name == "bfloat16" and is_whole(input) and has_fma()
    if training or not (kernels or is_of_halves):
        return None
    _check(input, weight, bias, running_mean, running_var, training)
    statistics_dtype(input, weight, bias, running_mean, running_var, read_first=0)
    if kernels is None:
        if running_mean is None or running_var is None:
            return None
        return scales_of_halves(input, running_mean, running_var, eps, weight, bias)
    made: tuple[Array, Array] = kernels.factors(
        input.shape[1], running_mean, running_var, weight, bias, eps
    )
    return made


@operator(
    f"aten::batch_norm({_PARAMETERS}{_MAYBE}bool training, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor",
    layout="e",
    out="",
    rows=rows_of("input"),
    scales=_scales,
    trains_by="training",
)
def batch_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Array:
    if not input.size:
        return input.copy()
    settings = training, momentum, eps
    return _batch_norm(input, weight, bias, running_mean, running_var, *settings, keeps=False)[0]


operator(
    f"aten::native_batch_norm({_PARAMETERS}{_MAYBE}bool training, float momentum, float eps) "
    f"-> {_THREE}",
    out="out out save_mean save_invstd",
    trains_by="training",
)(_batch_norm)
operator(
    f"aten::_native_batch_norm_legit({_PARAMETERS}{_WRITTEN}bool training, float momentum, "
    f"float eps) -> {_THREE}",
    out="out out:d save_mean:e save_invstd:f",
)(_batch_norm)


@operator(
    f"aten::_native_batch_norm_legit.no_stats({_PARAMETERS}bool training, float momentum, "
    f"float eps) -> {_THREE}",
    out="no_stats_out out save_mean save_invstd",
)
def without_statistics(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    return _batch_norm(input, weight, bias, None, None, training, momentum, eps)


@operator(
    f"aten::_native_batch_norm_legit_no_training({_PARAMETERS}{_GIVEN}float momentum, "
    f"float eps) -> {_THREE}",
)
def without_training(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, Array, Array]:
    return _batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)


@operator(
    f"aten::_native_batch_norm_legit_functional({_PARAMETERS}{_GIVEN}bool training, "
    "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, "
    "Tensor running_var_out)",
    face="operator",
    out="",
)
def functional(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    mean, variance = running_mean.copy(), running_var.copy()
    made = _batch_norm(input, weight, bias, mean, variance, training, momentum, eps)
    return (*made, mean, variance)


def _reserve() -> Array:
    return np.empty(0, _NO_BYTES)


@operator(
    f"aten::_batch_norm_with_update({_PARAMETERS}{_WRITTEN}float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    face="operator",
    out="out out:d save_mean:e save_invstd:f reserve:g",
    order="out -",
)
def with_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    made = _batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return (*made, _reserve())


@operator(
    f"aten::_batch_norm_with_update_functional({_PARAMETERS}{_GIVEN}float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
    face="operator",
    out="",
)
def with_update_functional(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array,
    running_var: Array,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    mean, variance = running_mean.copy(), running_var.copy()
    made = _batch_norm(input, weight, bias, mean, variance, True, momentum, eps)
    return (*made, _reserve(), mean, variance)


@operator(
    f"aten::_batch_norm_no_update({_PARAMETERS}{_MAYBE}float momentum, float eps) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
    face="operator",
)
def without_update(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    momentum: float,
    eps: float,
) -> tuple[Array, ...]:
    made = _batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    return (*made, _reserve())


@operator(
    f"aten::_batch_norm_impl_index({_PARAMETERS}{_MAYBE}bool training, float momentum, "
    "float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)",
    trains_by="training",
)
def impl_index(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> tuple[object, ...]:
    made = _batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return (*made, _reserve(), 0)


# --------------------------------------------------------------------------- instances


def _repeated(parameter: Array | None, batch: int) -> Array | None:
    """The same for each sample; that of a single one is the parameter itself."""
    if parameter is None or parameter.ndim != 1:
        return None if parameter is None else np.tile(parameter, batch)
    return in_order(np.broadcast_to(parameter, (batch, *parameter.shape))).reshape(-1)


@operator(
    f"aten::instance_norm({_PARAMETERS}{_MAYBE}bool use_input_stats, float momentum, float eps, "
    "bool cudnn_enabled) -> Tensor",
    out="",
    prepared=True,
    rows=rows_of("input"),
    trains_by="use_input_stats",
)
def instance_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    running_mean: Array | None,
    running_var: Array | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Array:
    """Batch normalisation in which every sample's channel is a channel of its own."""
    if not use_input_stats and (running_mean is None or running_var is None):
        raise OperatorError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    if input.ndim < 2:
        raise IndexOutOfRange(
            f"Dimension out of range (expected to be in range of [{-max(input.ndim, 1)}, "
            f"{max(input.ndim, 1) - 1}], but got 1)"
        )
    batch, channels, *space = input.shape
    mean, variance = (
        None if each is None else np.tile(each, batch) for each in (running_mean, running_var)
    )
    made = _batch_norm(
        np.ascontiguousarray(input).reshape(1, batch * channels, *space),
        _repeated(weight, batch),
        _repeated(bias, batch),
        mean,
        variance,
        use_input_stats,
        momentum,
        eps,
    )[0]
    for running, now in ((running_mean, mean), (running_var, variance)):
        if running is not None and now is not None and batch:
            written_by_numpy()  # and is no result
            running[...] = now.reshape(batch, -1).mean(0)
    return made.reshape(input.shape)

"""Normalisation over layers, groups of channels and root mean squares.

Means and variances are summed in float64 where torch's own sums are that accurate; 16-bit floats
are normalised in float32 and rounded once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from ..arithmetic.convert import is_channels_last
from ..kernels import (
    Prepared,
    blas,
    cast_by_kernel,
    family,
    in_order,
    is_half,
    is_last_whole,
    is_real,
    is_whole,
)
from ..memory.dtype import Array, Dtype, dtype_of
from ..memory.errors import IndexOutOfRange, OperatorError
from ..memory.remembered import remembered
from ..shapes.windows import Ints, channels_last, ends_in_channels, wide_dtype
from ..table.layouts import contiguous
from ..table.pointwise import cast, operand
from ..table.refusals import not_held, not_implemented
from ..table.table import operator
from ..table.without_data import rows_of

__all__ = ["check_normalized_shape", "normalized", "statistics_dtype"]

_add: Final = np.add
_subtract: Final = np.subtract
_multiply: Final = np.multiply
_divide: Final = np.true_divide
_total: Final[Callable[..., Array]] = np.add.reduce
_FLOAT32: Final = np.dtype(np.float32)
_NONE: Final = np.empty(0, _FLOAT32)


def statistics_dtype(input: Array, *parameters: Array | None, read_first: int = 0) -> Dtype:
    """The dtype of saved means: float32 if the parameters are in it, else that of the input.

    So many of the last parameters are looked at first where torch reads them before the others.

    Raises:
        OperatorError: the parameters are in another dtype than the input, and it is not float32.
    """
    if input.dtype is _FLOAT32 and all(p is None or p.dtype is _FLOAT32 for p in parameters):
        return _FLOAT32
    given = [p for p in parameters if p is not None]
    if all(p.dtype == input.dtype for p in given):
        return input.dtype
    in_single = all(p.dtype == _FLOAT32 for p in given)
    if in_single and input.dtype.itemsize == 2:
        return _FLOAT32
    if given[0].dtype == input.dtype:
        rest = len(parameters) - read_first
        read = [p for p in (*parameters[rest:], *parameters[:rest]) if p is not None]
        other = next(p for p in read if p.dtype != input.dtype)
        wanted, found = (dtype_of(each).scalar_name for each in (input, other))
        sentence = f"expected scalar type {wanted} but found {found}"
    elif in_single:
        sentence = "mixed dtype (CPU): all inputs must share same datatype."
    else:
        sentence = "mixed dtype (CPU): expect parameter to have scalar type of Float"
    raise OperatorError(
        sentence,
        code="dtype-mismatch",
        headline=f"`input` is `{dtype_of(input)}`, a parameter is not",
    )


def normalized(rows: Array, eps: float) -> tuple[Array, Array, Array]:
    """(what is left, mean, 1 / deviation) of every row of a matrix of float32 or float64."""
    count = operand(rows.shape[-1], rows.dtype)
    mean = _total(rows, -1, None, None, True)
    _divide(mean, count, mean)
    centered = _subtract(rows, mean, order="C")
    squares = blas.vecdot(centered, centered)[:, None]
    if squares.size and not squares.item(squares.argmax()) < math.inf:
        squares = np.square(centered, dtype=np.float64).sum(-1, keepdims=True)
    if rows.shape[-1]:
        _divide(squares, count, squares)
    _add(squares, operand(eps, squares.dtype), squares)
    scale = np.reciprocal(np.sqrt(squares, squares), squares).astype(rows.dtype, copy=False)
    _multiply(centered, scale, centered)
    return centered, mean, scale


def _check_float(input: Array, kernel: str) -> None:
    if input.dtype is not _FLOAT32 and not dtype_of(input).is_floating_point:
        raise not_implemented(kernel, input.dtype)


def _affine(result: Array, weight: Array | None, bias: Array | None) -> Array:
    if weight is not None:
        _multiply(result, weight.astype(result.dtype, copy=False), result)
    if bias is not None:
        _add(result, bias.astype(result.dtype, copy=False), result)
    return result


def _fused(x: Array, factor: Array | None, term: Array | None) -> Array:
    """`factor * x + term` in float32 with one rounding, as torch's native code multiplies and adds;
    the product is exact in float64."""
    wide = x.astype(np.float64)
    if factor is not None:
        wide *= factor.astype(np.float64)
    if term is not None:
        wide += term.astype(np.float64)
    return wide.astype(_FLOAT32)


@remembered(1 << 21)
def vector_of(number: float, count: int, dtype: Dtype = _FLOAT32) -> Array:
    """A vector of one number that nobody writes to."""
    made = np.full(count, number, dtype)
    made.flags.writeable = False
    return made


def _vectors(weight: Array | None, bias: Array | None, count: int) -> tuple[Array, Array]:
    """Weight and bias as vectors of so many numbers, both or neither of them empty."""
    if weight is None and bias is None:
        return _NONE, _NONE
    factor = vector_of(1.0, count) if weight is None else weight.reshape(-1)
    term = vector_of(0.0, count) if bias is None else bias.reshape(-1)
    return np.ascontiguousarray(factor), np.ascontiguousarray(term)


# --------------------------------------------------------------------------- layers


def check_normalized_shape(
    input: Array, shape: tuple[int, ...], weight: Array | None, bias: Array | None, star: str
) -> None:
    """Check that the last dimensions are those that are brought to mean 0, and those of weight and
    bias.

    Raises:
        OperatorError: they are not.
    """
    if not shape:
        raise OperatorError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got normalized_shape = []"
        )
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            raise OperatorError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {list(parameter.shape)} and normalized_shape = {list(shape)}",
                code="shape-mismatch",
                headline=f"`{name}` needs the shape {list(shape)}, it has {list(parameter.shape)}",
                roles={name: f"has shape {list(parameter.shape)}"},
            )
    if input.shape[input.ndim - len(shape) :] != shape or input.ndim < len(shape):
        sizes = ", ".join(map(str, shape))
        raise OperatorError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{star}{sizes}], "
            f"but got input of size{list(input.shape)}",
            code="shape-mismatch",
            headline=f"the last dimensions of `input` are not {list(shape)}",
            roles={"input": f"has shape {list(input.shape)}"},
        )


@operator(
    "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, "
    "Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
    autocast_in_graphs="full",
    prepared=True,
    rows=rows_of("input"),
)
def native_layer_norm(
    input: Array, normalized_shape: Ints, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    return _known_layer_norm.call(input, normalized_shape, weight, bias, eps)  # type: ignore[no-any-return]


def _any_layer_norm(
    input: Array, normalized_shape: Ints, weight: Array | None, bias: Array | None, eps: float
) -> tuple[Array, Array, Array]:
    input, shape = input[...], tuple(normalized_shape)  # which no other thread can change
    weight, bias = (None if each is None else each[...] for each in (weight, bias))
    check_normalized_shape(input, shape, weight, bias, ", ")
    _check_float(input, "LayerNormKernelImpl")
    input = in_order(input)
    saved = statistics_dtype(input, weight, bias)
    rows = input.reshape(-1, prod(shape)) if input.size else input.reshape(0, max(1, prod(shape)))
    outer: tuple[int, ...] = (*input.shape[: input.ndim - len(shape)], *(1,) * len(shape))
    if is_real(input):
        kernels = family("rows.rows")
        if kernels is not None:
            made, mean, scale = kernels.layer_norm(
                rows, *_vectors(weight, bias, rows.shape[-1]), eps
            )
            return made.reshape(input.shape), mean.reshape(outer), scale.reshape(outer)
    # of one element nothing but what steps are rounded by is left: that is torch's below
    is_narrow = is_half(input.dtype) and is_whole(input) and rows.shape[1] > 1
    kernels = family("rows.rows") if is_narrow else None
    if kernels is not None:
        factors = [
            each if each.dtype is _FLOAT32 else cast_by_kernel(each, _FLOAT32)
            for each in _vectors(weight, bias, rows.shape[1])
        ]
        result, mean, scale = kernels.layer_norm(rows, *factors, eps)
        return (
            result.reshape(input.shape),
            cast(mean.reshape(outer), saved),
            cast(scale.reshape(outer), saved),
        )
    left, mean, scale = normalized(rows.astype(wide_dtype(input.dtype), copy=False), eps)
    if input.itemsize == 2:
        left = _fused(rows, scale, -mean * scale)
        if weight is not None or bias is not None:
            given = (None if p is None else p.reshape(-1) for p in (weight, bias))
            left = _fused(left, *given)
        result = left.reshape(input.shape).astype(input.dtype)
    else:
        result = _affine(left.reshape(input.shape), weight, bias)
    if not input.size and 0 not in outer:
        zeros = np.zeros(outer, saved)
        return result, zeros, zeros.copy()
    return result, mean.reshape(outer).astype(saved), scale.reshape(outer).astype(saved)


_known_layer_norm: Final = Prepared(_any_layer_norm)


@operator(
    "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
    "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
    autocast_in_graphs="full",
    prepared=True,
    out="",
    rows=rows_of("input"),
    on_slices="norms",
)
def layer_norm(
    input: Array,
    normalized_shape: Ints,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    cudnn_enable: bool,
) -> Array:
    return native_layer_norm(input, normalized_shape, weight, bias, eps)[0]


def _root_mean_square(
    input: Array, normalized_shape: Ints, weight: Array | None, eps: float | None
) -> tuple[Array, Array]:
    input, shape = input[...], tuple(normalized_shape)  # which no other thread can change
    weight = None if weight is None else weight[...]
    check_normalized_shape(input, shape, weight, None, "")
    if input.dtype.kind in "biu":
        _check_float(input, "rms_norm")
    if not ends_in_channels(input):
        input = in_order(input)
    wide = cast(input, wide_dtype(input.dtype))
    if eps is None:
        eps = float(np.finfo(wide.dtype).eps)
    axes = tuple(range(input.ndim - len(shape), input.ndim))
    fits = is_real(wide) and is_whole(input) and (weight is None or weight.dtype == input.dtype)
    rows = family("rows.rows") if fits else None
    if rows is not None:
        count = prod(shape)
        factor = vector_of(1.0, count) if weight is None else cast(weight.reshape(-1), wide.dtype)
        made, scale = rows.rms_norm(wide.reshape(-1, count), factor, eps)
        outer = (*input.shape[: input.ndim - len(shape)], *(1,) * len(shape))
        return cast(made.reshape(input.shape), input.dtype), scale.reshape(outer)
    mean = np.square(wide).mean(axes, keepdims=True)
    scale = (1 / np.sqrt(mean + mean.dtype.type(eps))).astype(wide.dtype)
    result = wide * scale
    if weight is not None:
        result = result * weight
    result = result.astype(input.dtype, copy=False)
    return result if ends_in_channels(input) else contiguous(result), scale


@operator(
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
    "float? eps=None) -> Tensor",
    out="",
    prepared=True,
    rows=rows_of("input"),
    on_slices="norms",
)
def rms_norm(
    input: Array, normalized_shape: Ints, weight: Array | None, eps: float | None
) -> Array:
    return _fused_rms_norm(input, normalized_shape, weight, eps)[0]


@operator(
    "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) "
    "-> (Tensor, Tensor)",
    prepared=True,
    rows=rows_of("input"),
    out="",
)
def _fused_rms_norm(
    input: Array, normalized_shape: Ints, weight: Array | None, eps: float | None
) -> tuple[Array, Array]:
    return _known_rms_norm.call(input, normalized_shape, weight, eps)  # type: ignore[no-any-return]


_known_rms_norm: Final = Prepared(_root_mean_square)


# --------------------------------------------------------------------------- groups


def _check_group_parameters(
    shape: Sequence[int], weight: Array | None, bias: Array | None, channels: int
) -> None:
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != (channels,):
            # torch names the weight's shape in both messages.
            given = list(weight.shape) if weight is not None else [0]
            raise OperatorError(
                f"Expected {name} to be a vector of size equal to the number of channels in "
                f"input, but got {name} of shape {given} and input of shape {list(shape)}",
                code="shape-mismatch",
                headline=f"`{name}` needs {channels} elements, its shape is "
                f"{list(parameter.shape)}",
                roles={name: f"has shape {list(parameter.shape)}"},
            )


def _check_groups(input: Array, channels: int, groups: int) -> None:
    if groups <= 0:
        raise OperatorError(f"Expected num groups to be greater than 0, got {groups}")
    if channels % groups:
        raise OperatorError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {list(input.shape)} and num_groups={groups}",
            code="shape-mismatch",
            headline=f"{channels} channels do not divide into {groups} groups",
            roles={"input": f"has {channels} channels"},
        )


@operator(
    "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
    "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
    prepared=True,
    rows=rows_of("input"),
)
def native_group_norm(
    input: Array,
    weight: Array | None,
    bias: Array | None,
    batch: int,
    channels: int,
    space: int,
    group: int,
    eps: float,
) -> tuple[Array, Array, Array]:
    input = input[...]  # which no other thread can change
    weight, bias = (None if each is None else each[...] for each in (weight, bias))
    _check_groups(input, channels, group)
    _check_group_parameters(input.shape, weight, bias, channels)
    _check_float(input, "GroupNormKernelImpl")
    lies = input.flags.c_contiguous or is_channels_last(input)
    for what, holds in (
        ("X.numel() == N * C * HxW", batch * channels * space == input.size),
        ("X.is_contiguous(memory_format)", lies),
    ):
        if not holds:
            raise not_held(what)
    saved = statistics_dtype(input, weight, bias)
    found = _groups_of_last(input, weight, bias, group, eps)
    if found is not None:
        result, mean, scale = found
        return result, cast(mean, saved), cast(scale, saved)
    rows: Array = in_order(input).reshape(batch * group, channels // group * space)
    if is_half(rows.dtype):
        rows = cast_by_kernel(rows, _FLOAT32)
    kernels = family("rows.rows") if is_real(rows) else None
    if kernels is None:
        result, mean, scale = normalized(rows.astype(wide_dtype(input.dtype), copy=False), eps)
        given = (None if p is None else p.reshape(1, -1, 1) for p in (weight, bias))
        result = _affine(result.reshape(batch, channels, space), *given)
    elif weight is None and bias is None:
        result, mean, scale = kernels.layer_norm(rows, _NONE, _NONE, eps)
    else:
        vectors = _vectors(weight, bias, channels)
        result, mean, scale = kernels.group_norm(rows, *vectors, eps, space, group)
    result = result.reshape(input.shape)
    if result.dtype != input.dtype:
        result = cast_by_kernel(result, input.dtype)
    if not input.flags.c_contiguous:
        result = channels_last(result)
    if not rows.size:
        mean, scale = np.zeros((batch, group), saved), np.full((batch, group), np.nan, saved)
    return (
        result,
        cast(mean.reshape(batch, group), saved),
        cast(scale.reshape(batch, group), saved),
    )


def _groups_of_last(
    input: Array, weight: Array | None, bias: Array | None, groups: int, eps: float
) -> tuple[Array, Array, Array] | None:
    """The same where channels lie last, as they lie; None of others, and of float64."""
    kernels = family("rows.last_groups") if is_last_whole(input) else None
    if kernels is None:
        return None
    order = 0, *range(2, input.ndim), 1
    pixels = input.transpose(order)
    given = (None if p is None else cast(np.ascontiguousarray(p), _FLOAT32) for p in (weight, bias))
    rows = pixels.reshape(input.shape[0], -1, input.shape[1])
    found = kernels.group_norm(rows, *given, eps, groups)
    if found is None:
        return None
    made, mean, scale = found
    return made.reshape(pixels.shape).transpose(0, -1, *range(1, input.ndim - 1)), mean, scale


@operator(
    "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor",
    autocast_in_graphs="full",
    prepared=True,
    out="",
    rows=rows_of("input"),
    on_slices="groups",
)
def group_norm(
    input: Array,
    num_groups: int,
    weight: Array | None,
    bias: Array | None,
    eps: float,
    cudnn_enabled: bool,
) -> Array:
    if input.ndim < 2:
        raise IndexOutOfRange(
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)"
        )
    batch, channels, *rest = input.shape
    if not input.flags.c_contiguous and not is_channels_last(input):
        input = np.ascontiguousarray(input)
    return native_group_norm(input, weight, bias, batch, channels, prod(rest), num_groups, eps)[0]

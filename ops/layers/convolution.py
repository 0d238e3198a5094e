"""Convolutions over one, two or three dimensions, transposed ones too."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np

from ..kernels import LARGE, family, in_order, is_last_whole
from ..kernels.precision import PRECISION
from ..memory.dtype import Array, Dtype
from ..memory.errors import OperatorError
from ..memory.remembered import Recent
from ..shapes.windows import (
    Ints,
    Pads,
    check_room,
    ends_in_channels,
    follow_format,
    wide_dtype,
)
from ..table.layouts import contiguous
from ..table.record import Known
from ..table.refusals import Refusal
from ..table.table import operator
from ..table.without_data import rows_of
from .convolution_checks import (
    check_bias_dtype,
    check_convolution,
    check_dims,
    check_ranks,
    expanded,
    transposed_sizes,
)
from .plain_convolution import forward, sizes_of
from .transposed_convolution import by_columns

__all__ = ["batched", "convolution"]

_FLOAT32: Final = np.dtype(np.float32)
_FAR: Final = 1 << 15
"""Padding that is looked at: what it makes may be larger than any memory."""


def _transposed(
    input: Array,
    weight: Array,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    output_padding: Ints,
    groups: int,
    kept: Dtype,
) -> Array:
    """The transposed convolution without bias: every input adds a scaled kernel to the output.

    The sums are `kept` in this dtype; torch rounds those of float16 after every addition.
    """
    stride, padding, dilation = tuple(stride), tuple(padding), tuple(dilation)
    output = transposed_sizes(
        input.shape[2:], weight.shape[2:], stride, padding, dilation, tuple(output_padding)
    )
    check_room(_wide_sizes(input, weight, output, padding, groups), input.dtype)
    if not (input.size and weight.size and all(output)):
        return np.zeros((input.shape[0], weight.shape[1] * groups, *output), kept)
    return by_columns(input, weight, stride, padding, dilation, output, groups, kept)


# --------------------------------------------------------------------------- all of them


def _finish(result: Array, bias: Array | None, input: Array, weight: Array) -> Array:
    if bias is not None:
        space = (1,) * (result.ndim - 2)
        np.add(result, bias.astype(result.dtype, copy=False).reshape(-1, *space), out=result)
    if result.dtype is not input.dtype:
        result = result.astype(input.dtype)
    if result.ndim == 5 and result.dtype == np.float64:
        return contiguous(result)
    laid_out = follow_format(result, input)
    return follow_format(result, weight) if laid_out is result else laid_out


def _natively(
    input: Array,
    weight: Array,
    bias: Array | None,
    output: Ints,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
) -> Any:
    """The convolution over one to three dimensions by native code, if there is any.

    Input, weight and bias are of one dtype, float32 or bfloat16, to which sums of float32 are
    rounded.  It is to be filled; its `out` is the result.
    """
    native = family("convolutions.convolutions")
    if native is None or weight.ndim > 5:
        return None
    x, weight = in_order(input[...]), in_order(weight[...])  # ours alone
    bias = None if bias is None else np.ascontiguousarray(bias[...])
    short = native.shortness(x, weight, groups)
    if bias is not None and x.itemsize == 2:
        bias = family("products.pairs").widened(bias)
    settings = tuple(output), tuple(stride), tuple(pads), tuple(dilation), groups
    settled = native.settled(x.shape, weight.shape, *settings, short)
    if not settled.items:
        return None
    x, weight = settled.seen(x), settled.weights_seen(weight)
    return native.Convolution(settled, x, weight, bias, short, input.dtype)


def _filled(made: Any) -> Array | None:
    """The result of what `_natively` gives; None if that is nothing."""
    if made is None:
        return None
    made.fill()
    out: Array = made.out
    return out


def _convolve(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
) -> Array:
    """A checked convolution with bias, batched."""
    if any(before > _FAR for before, _ in pads):
        space = (n + sum(pair) for n, pair in zip(input.shape[2:], pads, strict=True))
        check_room((*input.shape[:2], *space), input.dtype)
    output = sizes_of(input, weight.shape[2:], stride, pads, dilation)
    if not input.shape[1]:  # what has no channels has none in torch's result either
        return np.zeros((input.shape[0], 0, *output), input.dtype)
    if bias is not None:
        bias = bias.astype(input.dtype, copy=False)
    if input.dtype is _FLOAT32 is weight.dtype and input.size * weight.size and min(output) > 0:
        made = _filled(_natively(input, weight, bias, output, stride, pads, dilation, groups))
        if made is not None:
            return _finish(made, None, input, weight)
    found = _of_halves(input, weight, bias, output, stride, pads, dilation, groups)
    if found is not None:
        return found
    wide = wide_dtype(input.dtype)
    a, b = input.astype(wide, copy=False), weight.astype(wide, copy=False)
    return _finish(forward(a, b, stride, pads, dilation, groups), bias, input, weight)


def _of_halves(
    input: Array,
    weight: Array,
    bias: Array | None,
    output: Ints,
    stride: Ints,
    pads: Pads,
    dilation: Ints,
    groups: int,
) -> Array | None:
    """A large convolution of bfloat16, whose sums are rounded once; None of others."""
    if input.dtype.name != "bfloat16" or not _is_quick_of_halves(input, weight, output):
        return None
    made = _filled(_natively(input, weight, bias, output, stride, pads, dilation, groups))
    return None if made is None else _finish(made, None, input, weight)


def _is_quick_of_halves(input: Array, weight: Array, output: Ints) -> bool:
    """Whether a convolution of bfloat16 is large enough for kernels, if there are any."""
    least = min(input.size * weight.shape[0], prod(output) * weight.size, min(output) * LARGE)
    is_of_halves = input.dtype is weight.dtype and least >= LARGE
    return is_of_halves and family("products.pairs") is not None


def _later(
    dims: int,
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints | str,
    dilation: Ints,
    groups: int,
) -> Any:
    """A convolution of a batch that can wait for what is done to its result."""
    input, weight = input[...], weight[...]  # which no other thread can change
    bias = None if bias is None else bias[...]
    is_whole = input.dtype is _FLOAT32
    if not (is_whole or input.dtype.name == "bfloat16") or weight.dtype is not input.dtype:
        return None
    if bias is not None and bias.dtype is not input.dtype:
        return None
    if input.ndim != dims + 2 or weight.ndim != dims + 2:
        return None
    is_last = ends_in_channels(input) or ends_in_channels(weight)
    key = None
    if is_whole and not PRECISION.convolutions_may_be_short:
        shapes = input.shape, weight.shape, None if bias is None else bias.shape
        key = shapes, tuple(stride), tuple(padding), tuple(dilation), groups
        known, native = _SETTLED.get(key), family("convolutions.convolutions")
        if known is not None and native is not None and not is_last:
            bias = None if bias is None else np.ascontiguousarray(bias)
            return native.Convolution(known, in_order(input), in_order(weight), bias)
    stride = expanded(stride, dims, "stride")
    padding = padding if isinstance(padding, str) else expanded(padding, dims, "padding")
    dilation = expanded(dilation, dims, "dilation")
    pads = _pads_of(padding, weight, dilation)
    largest = [after for _, after in pads]
    check_convolution(input, weight, bias, stride, largest, dilation, False, groups)
    output = sizes_of(input, weight.shape[2:], stride, pads, dilation)
    if min(output) < 1 or max(largest) > _FAR or not input.size * weight.size:
        return None
    if not is_whole and (is_last or not _is_quick_of_halves(input, weight, output)):
        return None
    native = family("convolutions.last_channels") if is_last else None
    if native is not None and is_last_whole(input):
        if _is_of_pixels(weight, stride, pads, groups):
            return native.Pixels(input, in_order(weight), bias)
        if dims == 2 and groups == input.shape[1] == weight.shape[0]:
            depthwise = family("convolutions.last_depthwise").Depthwise
            return depthwise(input, in_order(weight), bias, stride, pads, dilation, output)
    made = _natively(input, weight, bias, output, stride, pads, dilation, groups)
    if made is not None and native is not None:
        return native.Turned(made)
    if made is not None and key is not None:
        _SETTLED.keep(key, made.settled)
    return made


def _is_of_pixels(weight: Array, stride: Ints, pads: Pads, groups: int) -> bool:
    """Whether windows are single numbers, each in its place."""
    is_one = prod(weight.shape[2:]) == 1 == groups and not any(map(any, pads))
    return is_one and all(step == 1 for step in stride)


def _later_transposed(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    groups: int,
    dilation: Ints,
) -> object:
    """The same of a transposed convolution."""
    input, weight = input[...], weight[...]  # which no other thread can change
    bias = None if bias is None else bias[...]
    if input.dtype is not _FLOAT32 or weight.dtype is not _FLOAT32:
        return None
    if not 3 <= input.ndim == weight.ndim <= 5 or not input.size * weight.size:
        return None
    native = family("convolutions.transposed")
    if native is None:
        return None
    dims = weight.ndim - 2
    stride, padding = expanded(stride, dims, "stride"), expanded(padding, dims, "padding")
    dilation = expanded(dilation, dims, "dilation")
    more = expanded(output_padding, dims, "output_padding")
    check_convolution(input, weight, bias, stride, padding, dilation, True, groups)
    output = transposed_sizes(input.shape[2:], weight.shape[2:], stride, padding, dilation, more)
    check_room(_wide_sizes(input, weight, output, padding, groups), input.dtype)
    is_known = all(output) and (bias is None or bias.dtype is _FLOAT32)
    settings = stride, padding, dilation, output, groups
    plan = native.planned(input.shape, weight.shape, *settings) if is_known else None
    if plan is None:
        return None
    bias = None if bias is None else np.ascontiguousarray(bias)
    made = native.Transposed(plan, in_order(input), in_order(weight), bias)
    if ends_in_channels(input) or ends_in_channels(weight):
        return family("convolutions.last_channels").Turned(made)
    return made


def _wide_sizes(
    input: Array, weight: Array, output: Ints, padding: Ints, groups: int
) -> tuple[int, ...]:
    """The sizes of a transposed convolution's result before it is cut."""
    space = (o + 2 * p for o, p in zip(output, padding, strict=True))
    return (input.shape[0], weight.shape[1] * groups, *space)


def _later_of_any(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    *ways: bool,
) -> Any:
    """The same of any convolution."""
    if not 3 <= weight.ndim <= 5:
        return None
    if transposed:
        settings = stride, padding, output_padding, groups, dilation
        return _later_transposed(input, weight, bias, *settings)
    if len(output_padding) not in (1, weight.ndim - 2):
        return None
    return _later(weight.ndim - 2, input, weight, bias, stride, padding, dilation, groups)


def _later_by_word(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: str,
    dilation: Ints,
    groups: int,
) -> Any:
    """The same of one whose padding has a name."""
    if padding not in _WORDS or not 3 <= weight.ndim <= 5:
        return None
    if padding == "same" and any(step != 1 for step in stride):
        return None
    return _later(weight.ndim - 2, input, weight, bias, stride, padding, dilation, groups)


_WORDS: Final = ("valid", "same")


def _pads_of(padding: Ints | str, weight: Array, dilation: Ints) -> list[tuple[int, int]]:
    """The pads of each dimension; by name, `valid` are none, and `same` as many as keep the sizes,
    an odd one at the end."""
    if not isinstance(padding, str):
        return [(p, p) for p in padding]
    if padding == "valid":
        return [(0, 0)] * (weight.ndim - 2)
    needed = [d * (k - 1) for k, d in zip(weight.shape[2:], dilation, strict=True)]
    return [(max(0, n) // 2, max(0, n) - max(0, n) // 2) for n in needed]


_SETTLED: Final[Recent[Hashable, object]] = Recent(200)
"""What is known of convolutions that were checked, by shapes and settings."""


@operator(
    "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups) -> Tensor",
    autocast_in_graphs="lower",
    cost="convolved",
    later=_later_of_any,
    rows=rows_of("input"),
)
def convolution(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> Array:
    """Any convolution: the others say what they mean in its terms."""
    quick = _filled(
        _later_of_any(
            *(input, weight, bias, stride, padding, dilation),
            *(transposed, output_padding, groups),
        )
    )
    if quick is not None:
        return quick
    input, weight = input[...], weight[...]  # which no other thread can change
    bias = None if bias is None else bias[...]
    check_dims(weight)
    dims = weight.ndim - 2
    stride = expanded(stride, dims, "stride")
    padding = expanded(padding, dims, "padding")
    dilation = expanded(dilation, dims, "dilation")
    output_padding = expanded(output_padding, dims, "output_padding")
    check_convolution(input, weight, bias, stride, padding, dilation, transposed, groups)
    if not transposed:
        pads = [(p, p) for p in padding]
        return _convolve(input, weight, bias, stride, pads, dilation, groups)
    wide = wide_dtype(input.dtype)
    a, b = input.astype(wide, copy=False), weight.astype(wide, copy=False)
    kept = input.dtype if input.dtype == np.float16 else wide
    result = _transposed(a, b, stride, padding, dilation, output_padding, groups, kept)
    return _finish(result, bias, input, weight)


@operator(
    "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, "
    "SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    out="",
    order="deprecated -",
    cost="convolved",
    later=_later_of_any,
    rows=rows_of("input"),
)
@operator(
    "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) "
    "-> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    cost="convolved",
    later=_later_of_any,
    rows=rows_of("input"),
)
def _convolution(*given: Any) -> Array:
    return convolution(*given[:9])  # the rest says how other libraries shall do it


@operator(
    "aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
    "str padding, SymInt[] dilation, SymInt groups) -> Tensor",
    out="",
    cost="convolved",
    later=_later_by_word,
)
def _convolution_mode(
    input: Array,
    weight: Array,
    bias: Array | None,
    stride: Ints,
    padding: str,
    dilation: Ints,
    groups: int,
) -> Array:
    """Padding by name (see `_pads_of`)."""
    if padding not in _WORDS:
        raise OperatorError(f"Invalid padding string: '{padding}'")
    if padding == "valid":
        return convolution(input, weight, bias, stride, [0], dilation, False, [0], groups)
    check_ranks(input, weight)
    dims = weight.ndim - 2
    stride = expanded(stride, dims, "stride")
    dilation = expanded(dilation, dims, "dilation")
    pads = _pads_of(padding, weight, dilation)
    largest = [after for _, after in pads]
    check_convolution(input, weight, bias, stride, largest, dilation, False, groups)
    if any(s != 1 for s in stride):
        raise OperatorError("padding='same' is not supported for strided convolutions")
    return _convolve(input, weight, bias, stride, pads, dilation, groups)


# --------------------------------------------------------------------------- by dimensions


def batched(input: Array, dims: int, name: str) -> tuple[Array, bool]:
    """The input with a batch dimension, and whether it had one."""
    if input.ndim == dims + 2:
        return input, True
    if input.ndim == dims + 1:
        return input[None], False
    raise OperatorError(
        f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {name}, "
        f"but got input of size: {list(input.shape)}",
        code="shape-mismatch",
        headline=f"`{name}` takes inputs of {dims + 1} or {dims + 2} dimensions, not {input.ndim}",
        roles={"input": f"has shape {list(input.shape)}"},
    )


_OPERANDS: Final = "(Tensor input, Tensor weight, Tensor? bias=None, "


_KNOWN: Final[Known] = {
    "cost": "convolved",
    "out": "",
    "rows": rows_of("input"),
    "autocast": "lower",
    "autocast_in_graphs": "lower",
    "traced": "convolution",
}


def _declare(dims: int) -> None:
    """Declare conv<dims>d, plain and with padding by name."""
    name, later = f"conv{dims}d", partial(_later, dims)

    def plain(
        input: Array,
        weight: Array,
        bias: Array | None,
        stride: Ints,
        padding: Ints,
        dilation: Ints,
        groups: int,
    ) -> Array:
        check_bias_dtype(input, bias)
        quick = _filled(later(input, weight, bias, stride, padding, dilation, groups))
        if quick is not None:
            return quick
        batch, had = batched(input, dims, name)
        made = convolution(batch, weight, bias, stride, padding, dilation, False, [0], groups)
        return made if had else made[0]

    def by_name(input: Array, *how: Any) -> Array:
        batch, had = batched(input, dims, name)
        made = _convolution_mode(batch, *how)
        return made if had else made[0]

    space, ones = f"SymInt[{dims}]", [1] * dims
    numbers = f"{space} stride={ones}, {space} padding={[0] * dims}, "
    end = f"{space} dilation={ones}, SymInt groups=1) -> Tensor"
    of_numbers: Known = {**_KNOWN, "later": later}
    of_words: Known = {**_KNOWN, "later": _later_by_word}
    operator(f"aten::{name}{_OPERANDS}{numbers}{end}", **of_numbers)(plain)
    by_word = f'aten::{name}.padding{_OPERANDS}{space} stride={ones}, str padding="valid", {end}'
    operator(by_word, **of_words)(by_name)


def _declare_transposed(dims: int) -> None:
    """Declare conv_transpose<dims>d."""
    name = f"conv_transpose{dims}d"

    def transposed(
        input: Array,
        weight: Array,
        bias: Array | None,
        stride: Ints,
        padding: Ints,
        output_padding: Ints,
        groups: int,
        dilation: Ints,
    ) -> Array:
        quick = _filled(
            later(input, weight, bias, stride, padding, output_padding, groups, dilation)
        )
        if quick is not None:
            return quick
        batch, had = batched(input, dims, name)
        made = convolution(
            batch, weight, bias, stride, padding, dilation, True, output_padding, groups
        )
        return made if had else made[0]

    def later(input: Array, weight: Array, *rest: Any) -> Any:
        is_batch = input.ndim == dims + 2 == weight.ndim
        return _later_transposed(input, weight, *rest) if is_batch else None

    space, ones, zeros = f"SymInt[{dims}]", [1] * dims, [0] * dims
    refuses = Refusal("=Byte,Char,Short,Int", "slow_conv_transpose2d_out_cpu")
    known: Known = {**_KNOWN, "refuses": refuses, "later": later}
    known |= {"layout": "C"} if dims == 1 else {"autocast_in_graphs": ""}
    operator(
        f"aten::{name}{'.input' if dims > 1 else ''}{_OPERANDS}{space} stride={ones}, "
        f"{space} padding={zeros}, {space} output_padding={zeros}, SymInt groups=1, "
        f"{space} dilation={ones}) -> Tensor",
        **known,
    )(transposed)


for _dims in (1, 2, 3):
    _declare(_dims)
    _declare_transposed(_dims)

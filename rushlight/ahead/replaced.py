"""Operators that no kernel does alone, as graphs of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ..frontend.foundations.declared import Declared
from ..ir.graphs.graph import Graph
from ..ir.tracing.trace_arguments import IN_PARTS
from ..jit.trace import create_graph
from ..ops.eager.dispatch import eager_function
from ..ops.table.grad_mode import no_grad
from ..ops.table.table import Operator
from ..ops.tensors.tensor import Tensor

__all__ = ["replacement"]


Replacement = Callable[..., Any]
_REPLACED: Final[Declared[str, Replacement]] = Declared(IN_PARTS)
"""By the operator's full name."""


def _stands_for(*names: str) -> Callable[[Replacement], Replacement]:
    """Register what computes operators by others; it is given their arguments, tensors as such."""
    return _REPLACED.of(*names)


def replacement(entry: Operator, values: Sequence[object]) -> Graph | None:
    """The graph of other operators for a call; its inputs are the tensors among the arguments, in
    order, its output is the result.  None if there is none."""
    function = _REPLACED.get(entry.full_name)
    if function is None:
        return None
    arrays: list[Any] = []
    _collect(values, arrays)

    def run(*tensors: Tensor) -> Any:
        given = iter(tensors)
        return function(*(_filled(each, given) for each in values))

    try:
        with no_grad():
            return create_graph(run, tuple(Tensor._of(each.copy()) for each in arrays), [], False)
    except NotImplementedError:
        return None


def _collect(values: Any, arrays: list[object]) -> None:
    for each in values:
        if isinstance(each, np.ndarray):
            arrays.append(each)
        elif isinstance(each, (list, tuple)):
            _collect(each, arrays)


def _filled(value: object, tensors: Any) -> object:
    if isinstance(value, np.ndarray):
        return next(tensors)
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(each, tensors) for each in value)
    return value


def _call(name: str, *args: object, **named: object) -> Any:
    return eager_function(f"aten::{name}")(*args, **named)


@_stands_for("aten::softmax.int")
def _softmax(x: Tensor, dim: int, dtype: object) -> object:
    if dtype is not None:
        raise NotImplementedError("softmax with a dtype")
    raised = _call("exp", _call("sub", x, _call("amax", x, [dim], True)))
    return _call("div", raised, _call("sum", raised, [dim], True))


@_stands_for("aten::log_softmax.int")
def _log_softmax(x: Tensor, dim: int, dtype: object) -> object:
    if dtype is not None:
        raise NotImplementedError("log_softmax with a dtype")
    below = _call("sub", x, _call("amax", x, [dim], True))
    return _call("sub", below, _call("log", _call("sum", _call("exp", below), [dim], True)))


def _folded(name: str) -> Callable[..., object]:
    """A fold over any dimensions as one over rows that lie in one piece."""

    def run(x: Tensor, dims: Any, keeps: bool = False, dtype: object = None) -> Any:
        rank = x._array.ndim
        axes = [d % rank for d in ([dims] if isinstance(dims, int) else dims or range(rank))]
        kept = [d for d in range(rank) if d not in axes]
        if [*kept, *axes] == list(range(rank)) and len(axes) == 1 and rank == 2:
            raise NotImplementedError(name)  # it is of that form
        shape = [x._array.shape[d] for d in kept]
        rows = _call("contiguous", _call("permute", x, [*kept, *axes]))
        rows = _call("view", rows, [int(np.prod(shape, dtype=int)), -1])
        if dtype is not None:
            rows = _call("to", rows, dtype=dtype)
        result = _call(name, rows, [1], False)
        wide = [1 if d in axes else n for d, n in enumerate(x._array.shape)]
        return _call("view", result, wide if keeps else shape)

    return run


def _variance(x: Tensor, dims: Any, correction: float, keeps: bool) -> object:
    rank = x._array.ndim
    axes = [d % rank for d in ([dims] if isinstance(dims, int) else dims or range(rank))]
    count = int(np.prod([x._array.shape[d] for d in axes], dtype=int))
    from_mean = _call("sub", x, _mean(x, axes, True, None))
    total = _call("sum", _call("mul", from_mean, from_mean), axes, keeps)
    return _call("div", total, max(0.0, count - correction))


def _deviations(root: bool) -> dict[str, Callable[..., object]]:
    """The overloads of `var`, or of `std`."""
    name = "aten::std" if root else "aten::var"

    def ended(variance: object) -> Any:
        return _call("sqrt", variance) if root else variance

    return {
        name: lambda x, unbiased: ended(_variance(x, None, float(unbiased), False)),
        f"{name}.dim": lambda x, dim, unbiased, keeps: ended(
            _variance(x, dim, float(unbiased), keeps)
        ),
        f"{name}.correction": lambda x, dim, correction, keeps: ended(
            _variance(x, dim, 1.0 if correction is None else float(correction), keeps)
        ),
    }


@_stands_for("aten::norm.Scalar", "aten::norm.ScalarOpt_dim", "aten::linalg_vector_norm")
def _norm(
    x: Tensor, p: Any = 2, dims: Any = None, keeps: bool = False, dtype: object = None
) -> object:
    """The norms of order 1 and 2, and the largest magnitude."""
    order = 2.0 if p is None else float(p)
    axes = [dims] if isinstance(dims, int) else list(dims or range(x._array.ndim))
    if dtype is not None or order not in (1.0, 2.0, float("inf")):
        raise NotImplementedError("norm")
    if order == 2.0:
        return _call("sqrt", _call("sum", _call("mul", x, x), axes, keeps))
    return _call("sum" if order == 1.0 else "amax", _call("abs", x), axes, keeps)


@_stands_for("aten::prelu")
def _prelu(x: Tensor, weight: Tensor) -> object:
    rank = x._array.ndim
    if weight._array.size > 1 and rank > 1:
        weight = _call("view", weight, [1, -1, *[1] * (rank - 2)])
    return _call("where", _call("gt", x, 0), x, _call("mul", x, weight))


@_stands_for("aten::mean.dim")
def _mean(x: Tensor, dims: list[int] | None, keeps: bool, dtype: object) -> object:
    shape = x._array.shape
    axes = [d % max(1, len(shape)) for d in (dims or range(len(shape)))]
    count = 1
    for axis in axes:
        count *= shape[axis]
    return _call("div", _call("sum", x, axes, keeps), float(count))


@_stands_for("aten::mean")
def _mean_of_all(x: Tensor, dtype: object) -> object:
    return _mean(x, None, False, dtype)


@_stands_for("aten::pad")
def _pad(x: Tensor, sizes: list[int], mode: str, value: float | None) -> object:
    if mode != "constant":
        kind = "replication" if mode == "replicate" else mode
        return _call(f"{kind}_pad{len(sizes) // 2}d", x, sizes)
    return _constant_pad(x, sizes, 0.0 if value is None else value)


@_stands_for("aten::constant_pad_nd")
def _constant_pad(x: Tensor, sizes: list[int], value: float) -> object:
    before = list(sizes[::2])[::-1]
    behind = list(sizes[1::2])[::-1]
    shape = list(x._array.shape)
    first = len(shape) - len(before)
    for place, (low, high) in enumerate(zip(before, behind, strict=True)):
        shape[first + place] += low + high
    whole = _call("full", shape, value, dtype=x.dtype)
    part = whole
    for place, (low, high) in enumerate(zip(before, behind, strict=True)):
        if low < 0 or high < 0:
            raise NotImplementedError("a padding that cuts")
        part = _call("slice", part, first + place, low, low + x._array.shape[first + place], 1)
    _call("copy_", part, x)
    return whole


@_stands_for("aten::avg_pool2d")
def _average(
    x: Tensor,
    sizes: list[int],
    steps: list[int],
    padding: list[int],
    ceil: bool,
    counts_padding: bool,
    divisor: int | None,
) -> object:
    """Averages as a convolution of each plane by itself."""
    if ceil or (any(padding) and not counts_padding) or x._array.ndim != 4:
        raise NotImplementedError("avg_pool2d")
    high, wide = sizes * 2 if len(sizes) == 1 else sizes
    planes = x._array.shape[1]
    weight = _call("full", [planes, 1, high, wide], 1.0 / (divisor or high * wide), dtype=x.dtype)
    strides = list(steps) or [high, wide]
    return _call("conv2d", x, weight, None, strides, list(padding), [1, 1], planes)


@_stands_for("aten::_native_multi_head_attention")
def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    width: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    mask: Tensor | None,
    *rest: object,
) -> tuple[Any, Any]:
    """Attention of several heads by its products; the weights are averaged over the heads."""
    if mask is not None:
        raise NotImplementedError("_native_multi_head_attention with a mask")
    deep = width // heads
    parts = []
    for place, each in enumerate((query, key, value)):
        own = (_call("slice", w, 0, place * width, (place + 1) * width, 1) for w in (weight, bias))
        made = _call("linear", each, *own)
        made = _call("view", made, [*each._array.shape[:2], heads, deep])
        parts.append(_call("contiguous", _call("transpose", made, 1, 2)))
    q, k, v = parts
    scores = _call("mul", _call("matmul", q, _call("transpose", k, 2, 3)), deep**-0.5)
    shares = _call("softmax", scores, 3)
    joined = _call("contiguous", _call("transpose", _call("matmul", shares, v), 1, 2))
    joined = _call("view", joined, [*query._array.shape[:2], width])
    return _call("linear", joined, out_weight, out_bias), _call("mean", shares, [1], False)


@_stands_for("aten::_transformer_encoder_layer_fwd")
def _encoder_layer(
    x: Tensor,
    width: int,
    heads: int,
    weight: Tensor,
    bias: Tensor,
    out_weight: Tensor,
    out_bias: Tensor,
    gelu: bool,
    norm_first: bool,
    eps: float,
    *rest: object,
) -> object:
    """A layer of an encoder by attention, norms and linear layers."""
    scales, inner, mask = rest[:4], rest[4:8], rest[8]
    if mask is not None:
        raise NotImplementedError("_transformer_encoder_layer_fwd with a mask")

    def norm(each: Tensor, number: int) -> Any:
        return _call("layer_norm", each, [width], *scales[2 * number : 2 * number + 2], eps)

    def attended(each: Tensor) -> Any:
        return _attention(each, each, each, width, heads, weight, bias, out_weight, out_bias, None)[
            0
        ]

    def forward(each: Tensor) -> Any:
        made = _call("linear", each, inner[0], inner[1])
        return _call("linear", _call("gelu" if gelu else "relu", made), inner[2], inner[3])

    if norm_first:
        x = _call("add", x, attended(norm(x, 0)))
        return _call("add", x, forward(norm(x, 1)))
    x = norm(_call("add", x, attended(x)), 0)
    return norm(_call("add", x, forward(x)), 1)


@_stands_for("aten::conv_transpose1d", "aten::conv_transpose2d.input")
def _transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    output_padding: list[int],
    groups: int,
    dilation: list[int],
) -> object:
    """A convolution with the kernel turned around, over the input with zeros between elements."""
    rank = weight._array.ndim - 2
    if x._array.ndim != rank + 2:
        raise NotImplementedError("a transposed convolution without a batch")
    steps, edges, more, far = (
        list(each) * (rank // len(each)) for each in (stride, padding, output_padding, dilation)
    )
    kernel = weight._array.shape[2:]
    before = [d * (k - 1) - p for d, k, p in zip(far, kernel, edges, strict=True)]
    behind = [b + o for b, o in zip(before, more, strict=True)]
    if min(before) < 0 or min(behind) < 0:
        raise NotImplementedError("a transposed convolution that cuts")
    spans = [(n - 1) * s + 1 for n, s in zip(x._array.shape[2:], steps, strict=True)]
    sizes = [a + n + b for a, n, b in zip(before, spans, behind, strict=True)]
    whole = _call("full", [*x._array.shape[:2], *sizes], 0.0, dtype=x.dtype)
    part = whole
    for n, (start, span, step) in enumerate(zip(before, spans, steps, strict=True)):
        part = _call("slice", part, 2 + n, start, start + span, step)
    _call("copy_", part, x)
    given, made = weight._array.shape[:2]
    parted = _call("view", weight, [groups, given // groups, made, *kernel])
    turned = _call("contiguous", _call("transpose", parted, 1, 2))
    turned = _call("view", turned, [groups * made, given // groups, *kernel])
    for n, size in enumerate(kernel):
        places = Tensor._of(np.arange(size)[::-1].copy())
        turned = _call("index_select", turned, 2 + n, places)
    ones, zeros = [1] * rank, [0] * rank
    return _call(f"conv{rank}d", whole, turned, bias, ones, zeros, far, groups)


@_stands_for(
    "aten::upsample_nearest1d.vec", "aten::upsample_nearest2d.vec", "aten::upsample_nearest3d.vec"
)
def _nearest(x: Tensor, sizes: Any, factors: Any) -> object:
    """The nearest element for each: rows and columns that are known."""
    shape = x._array.shape[2:]
    wanted = list(sizes or [int(n * f) for n, f in zip(shape, factors, strict=True)])
    for place, (old, new) in enumerate(zip(shape, wanted, strict=True)):
        step = 1 / factors[place] if factors else old / new
        at = [min(int(i * step), old - 1) for i in range(new)]
        x = _call("index_select", x, 2 + place, Tensor._of(np.array(at)))
    return x


def _layers(cell: str, states: int) -> Callable[..., object]:
    """A recurrent network as its cells, round by round."""

    def run(
        x: Tensor,
        start: Any,
        weights: Sequence[Tensor],
        has_biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        both_ways: bool,
        batch_first: bool,
    ) -> Any:
        rows = _call("transpose", x, 0, 1) if batch_first else x
        begun = list(start) if states == 2 else [start]
        ways = 2 if both_ways else 1
        a_set = 4 if has_biases else 2
        ends: list[list[Tensor]] = [[] for _ in begun]
        for layer in range(layers):
            outputs = []
            for way in range(ways):
                at = layer * ways + way
                own = weights[at * a_set : (at + 1) * a_set]
                state = [_call("select", each, 0, at) for each in begun]
                found = []
                steps = range(rows._array.shape[0])
                for t in reversed(steps) if way else steps:
                    given: object = state if states == 2 else state[0]
                    made = IN_PARTS[f"aten::{cell}"](_call("select", rows, 0, t), given, *own)
                    state = list(made) if states == 2 else [made]  # type: ignore[call-overload]
                    found.append(state[0])
                outputs.append(_call("stack", found[::-1] if way else found, 0))
                for end, each in zip(ends, state, strict=True):
                    end.append(each)
            rows = outputs[0] if ways == 1 else _call("cat", outputs, 2)
        result = _call("transpose", rows, 0, 1) if batch_first else rows
        return (result, *(_call("stack", each, 0) for each in ends))

    return run


for _cell in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _states = 2 if _cell == "lstm" else 1
    _stands_for(f"aten::{_cell}.input")(_layers(f"{_cell}_cell", _states))
for _name in ("amax", "amin"):
    _stands_for(f"aten::{_name}")(_folded(_name))
_stands_for("aten::sum.dim_IntList")(_folded("sum"))
_REPLACED.update(_deviations(root=False) | _deviations(root=True))

"""Operators that no kernel does alone, as graphs of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import numpy as np

from ..frontend.foundations.declared import Declared
from ..ir.graphs.graph import Graph
from ..ir.tracing.trace_arguments import IN_PARTS
from ..jit.trace import create_graph
from ..ops.eager.aten import aten
from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Array
from ..ops.table.grad_mode import no_grad
from ..ops.table.table import Operator
from ..ops.tensors.tensor import Tensor

__all__ = ["replacement"]


Replacement = Callable[..., object]
Replaced = TypeVar("Replaced", bound=Replacement)
Axes = int | Sequence[int] | None
_REPLACED: Final[Declared[str, Replacement]] = Declared(IN_PARTS)
"""By the operator's full name."""


def _stands_for(*names: str) -> Callable[[Replaced], Replaced]:
    """Register what computes operators by others; it is given their arguments, tensors as such."""

    def put(function: Replaced) -> Replaced:
        _REPLACED.put(names, function)
        return function

    return put


def replacement(entry: Operator, values: Sequence[object]) -> Graph | None:
    """The graph of other operators for a call; its inputs are the tensors among the arguments, in
    order, its output is the result.  None if there is none."""
    function = _REPLACED.get(entry.full_name)
    if function is None:
        return None
    arrays: list[Array] = []
    _collect(values, arrays)

    def run(*tensors: Tensor) -> object:
        given = iter(tensors)
        return function(*(_filled(each, given) for each in values))

    try:
        with no_grad():
            return create_graph(run, tuple(Tensor._of(each.copy()) for each in arrays), [], False)
    except NotImplementedError:
        return None


def _collect(values: Sequence[object], arrays: list[Array]) -> None:
    for each in values:
        if isinstance(each, np.ndarray):
            arrays.append(each)
        elif isinstance(each, (list, tuple)):
            _collect(each, arrays)


def _filled(value: object, tensors: Iterator[Tensor]) -> object:
    if isinstance(value, np.ndarray):
        return next(tensors)
    if isinstance(value, (list, tuple)):
        return type(value)(_filled(each, tensors) for each in value)
    return value


@_stands_for("aten::softmax.int")
def _softmax(x: Tensor, dim: int, dtype: object) -> object:
    if dtype is not None:
        raise NotImplementedError("softmax with a dtype")
    raised = aten.exp(aten.sub(x, aten.amax(x, [dim], True)))
    return aten.div(raised, aten.sum(raised, [dim], True))


@_stands_for("aten::log_softmax.int")
def _log_softmax(x: Tensor, dim: int, dtype: object) -> object:
    if dtype is not None:
        raise NotImplementedError("log_softmax with a dtype")
    below = aten.sub(x, aten.amax(x, [dim], True))
    return aten.sub(below, aten.log(aten.sum(aten.exp(below), [dim], True)))


def _folded(name: str) -> Replacement:
    """A fold over any dimensions as one over rows that lie in one piece."""
    fold: Callable[..., Tensor] = eager_function(f"aten::{name}")

    def run(x: Tensor, dims: Axes, keeps: bool = False, dtype: object = None) -> Tensor:
        rank = x._array.ndim
        axes = [d % rank for d in ([dims] if isinstance(dims, int) else dims or range(rank))]
        kept = [d for d in range(rank) if d not in axes]
        if [*kept, *axes] == list(range(rank)) and len(axes) == 1 and rank == 2:
            raise NotImplementedError(name)  # it is of that form
        shape = [x._array.shape[d] for d in kept]
        rows = aten.contiguous(aten.permute(x, [*kept, *axes]))
        rows = aten.view(rows, [int(np.prod(shape, dtype=int)), -1])
        if dtype is not None:
            rows = aten.to(rows, dtype=dtype)
        result = fold(rows, [1], False)
        wide = [1 if d in axes else n for d, n in enumerate(x._array.shape)]
        return aten.view(result, wide if keeps else shape)

    return run


def _variance(x: Tensor, dims: Axes, correction: float, keeps: bool) -> Tensor:
    rank = x._array.ndim
    axes = [d % rank for d in ([dims] if isinstance(dims, int) else dims or range(rank))]
    count = int(np.prod([x._array.shape[d] for d in axes], dtype=int))
    from_mean = aten.sub(x, _mean(x, axes, True, None))
    total = aten.sum(aten.mul(from_mean, from_mean), axes, keeps)
    return aten.div(total, max(0.0, count - correction))


def _deviations(root: bool) -> dict[str, Replacement]:
    """The overloads of `var`, or of `std`."""
    name = "aten::std" if root else "aten::var"

    def ended(variance: Tensor) -> Tensor:
        return aten.sqrt(variance) if root else variance

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
    x: Tensor, p: float | None = 2, dims: Axes = None, keeps: bool = False, dtype: object = None
) -> object:
    """The norms of order 1 and 2, and the largest magnitude."""
    order = 2.0 if p is None else float(p)
    axes = [dims] if isinstance(dims, int) else list(dims or range(x._array.ndim))
    if dtype is not None or order not in (1.0, 2.0, float("inf")):
        raise NotImplementedError("norm")
    if order == 2.0:
        return aten.sqrt(aten.sum(aten.mul(x, x), axes, keeps))
    fold = aten.sum if order == 1.0 else aten.amax
    return fold(aten.abs(x), axes, keeps)


@_stands_for("aten::prelu")
def _prelu(x: Tensor, weight: Tensor) -> object:
    rank = x._array.ndim
    if weight._array.size > 1 and rank > 1:
        weight = aten.view(weight, [1, -1, *[1] * (rank - 2)])
    return aten.where(aten.gt(x, 0), x, aten.mul(x, weight))


@_stands_for("aten::mean.dim")
def _mean(x: Tensor, dims: Sequence[int] | None, keeps: bool, dtype: object) -> Tensor:
    shape = x._array.shape
    axes = [d % max(1, len(shape)) for d in (dims or range(len(shape)))]
    count = 1
    for axis in axes:
        count *= shape[axis]
    return aten.div(aten.sum(x, axes, keeps), float(count))


@_stands_for("aten::mean")
def _mean_of_all(x: Tensor, dtype: object) -> object:
    return _mean(x, None, False, dtype)


@_stands_for("aten::pad")
def _pad(x: Tensor, sizes: list[int], mode: str, value: float | None) -> object:
    if mode != "constant":
        kind = "replication" if mode == "replicate" else mode
        return eager_function(f"aten::{kind}_pad{len(sizes) // 2}d")(x, sizes)
    return _constant_pad(x, sizes, 0.0 if value is None else value)


@_stands_for("aten::constant_pad_nd")
def _constant_pad(x: Tensor, sizes: list[int], value: float) -> object:
    before = list(sizes[::2])[::-1]
    behind = list(sizes[1::2])[::-1]
    shape = list(x._array.shape)
    first = len(shape) - len(before)
    for place, (low, high) in enumerate(zip(before, behind, strict=True)):
        shape[first + place] += low + high
    whole = aten.full(shape, value, dtype=x.dtype)
    part = whole
    for place, (low, high) in enumerate(zip(before, behind, strict=True)):
        if low < 0 or high < 0:
            raise NotImplementedError("a padding that cuts")
        part = aten.slice(part, first + place, low, low + x._array.shape[first + place], 1)
    aten.copy_(part, x)
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
    weight = aten.full([planes, 1, high, wide], 1.0 / (divisor or high * wide), dtype=x.dtype)
    strides = list(steps) or [high, wide]
    return aten.conv2d(x, weight, None, strides, list(padding), [1, 1], planes)


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
) -> tuple[Tensor, Tensor]:
    """Attention of several heads by its products; the weights are averaged over the heads."""
    if mask is not None:
        raise NotImplementedError("_native_multi_head_attention with a mask")
    deep = width // heads
    parts = []
    for place, each in enumerate((query, key, value)):
        own = (aten.slice(w, 0, place * width, (place + 1) * width, 1) for w in (weight, bias))
        made = aten.linear(each, *own)
        made = aten.view(made, [*each._array.shape[:2], heads, deep])
        parts.append(aten.contiguous(aten.transpose(made, 1, 2)))
    q, k, v = parts
    scores = aten.mul(aten.matmul(q, aten.transpose(k, 2, 3)), deep**-0.5)
    shares = aten.softmax(scores, 3)
    joined = aten.contiguous(aten.transpose(aten.matmul(shares, v), 1, 2))
    joined = aten.view(joined, [*query._array.shape[:2], width])
    return aten.linear(joined, out_weight, out_bias), aten.mean(shares, [1], False)


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

    def norm(each: Tensor, number: int) -> Tensor:
        return aten.layer_norm(each, [width], *scales[2 * number : 2 * number + 2], eps)

    def attended(each: Tensor) -> Tensor:
        layers = weight, bias, out_weight, out_bias
        return _attention(each, each, each, width, heads, *layers, None)[0]

    def forward(each: Tensor) -> Tensor:
        made = aten.linear(each, inner[0], inner[1])
        active = aten.gelu(made) if gelu else aten.relu(made)
        return aten.linear(active, inner[2], inner[3])

    if norm_first:
        x = aten.add(x, attended(norm(x, 0)))
        return aten.add(x, forward(norm(x, 1)))
    x = norm(aten.add(x, attended(x)), 0)
    return norm(aten.add(x, forward(x)), 1)


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
    whole = aten.full([*x._array.shape[:2], *sizes], 0.0, dtype=x.dtype)
    part = whole
    for n, (start, span, step) in enumerate(zip(before, spans, steps, strict=True)):
        part = aten.slice(part, 2 + n, start, start + span, step)
    aten.copy_(part, x)
    given, made = weight._array.shape[:2]
    parted = aten.view(weight, [groups, given // groups, made, *kernel])
    turned = aten.contiguous(aten.transpose(parted, 1, 2))
    turned = aten.view(turned, [groups * made, given // groups, *kernel])
    for n, size in enumerate(kernel):
        places = Tensor._of(np.arange(size)[::-1].copy())
        turned = aten.index_select(turned, 2 + n, places)
    ones, zeros = [1] * rank, [0] * rank
    convolve = eager_function(f"aten::conv{rank}d")
    return convolve(whole, turned, bias, ones, zeros, far, groups)


@_stands_for(
    "aten::upsample_nearest1d.vec", "aten::upsample_nearest2d.vec", "aten::upsample_nearest3d.vec"
)
def _nearest(x: Tensor, sizes: list[int] | None, factors: list[float] | None) -> Tensor:
    """The nearest element for each: rows and columns that are known."""
    shape = x._array.shape[2:]
    wanted = list(sizes or [int(n * f) for n, f in zip(shape, factors or (), strict=True)])
    for place, (old, new) in enumerate(zip(shape, wanted, strict=True)):
        step = 1 / factors[place] if factors else old / new
        at = [min(int(i * step), old - 1) for i in range(new)]
        x = aten.index_select(x, 2 + place, Tensor._of(np.array(at)))
    return x


def _layers(cell: str, states: int) -> Replacement:
    """A recurrent network as its cells, round by round."""
    step = IN_PARTS[f"aten::{cell}"]

    def run(
        x: Tensor,
        start: Tensor | Sequence[Tensor],
        weights: Sequence[Tensor],
        has_biases: bool,
        layers: int,
        dropout: float,
        train: bool,
        both_ways: bool,
        batch_first: bool,
    ) -> tuple[Tensor, ...]:
        rows = aten.transpose(x, 0, 1) if batch_first else x
        begun = [start] if isinstance(start, Tensor) else list(start)
        ways = 2 if both_ways else 1
        a_set = 4 if has_biases else 2
        ends: list[list[Tensor]] = [[] for _ in begun]
        for layer in range(layers):
            outputs = []
            for way in range(ways):
                at = layer * ways + way
                own = weights[at * a_set : (at + 1) * a_set]
                state = [aten.select(each, 0, at) for each in begun]
                found = []
                steps = range(rows._array.shape[0])
                for t in reversed(steps) if way else steps:
                    given = state if states == 2 else state[0]
                    made = step(aten.select(rows, 0, t), given, *own)
                    state = [made] if isinstance(made, Tensor) else list(made)
                    found.append(state[0])
                outputs.append(aten.stack(found[::-1] if way else found, 0))
                for end, each in zip(ends, state, strict=True):
                    end.append(each)
            rows = outputs[0] if ways == 1 else aten.cat(outputs, 2)
        result = aten.transpose(rows, 0, 1) if batch_first else rows
        return (result, *(aten.stack(each, 0) for each in ends))

    return run


for _cell in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
    _states = 2 if _cell == "lstm" else 1
    _stands_for(f"aten::{_cell}.input")(_layers(f"{_cell}_cell", _states))
for _name in ("amax", "amin"):
    _stands_for(f"aten::{_name}")(_folded(_name))
_stands_for("aten::sum.dim_IntList")(_folded("sum"))
_REPLACED.update(_deviations(root=False) | _deviations(root=True))

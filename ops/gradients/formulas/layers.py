"""Gradients of normalisations, attention and tables."""

from __future__ import annotations

import math

import numpy as np

from ...layers.attention import dropped
from ...layers.batch_norm import batch_norm_gradients
from ...memory.dtype import Array
from ...table.grad_mode import is_recording
from ...tensors.tensor import Tensor
from ..table.rows import (
    Ints,
    Tensors,
    Wanted,
    aten,
    composite,
    constant,
    giving_together,
    gradient,
    joint,
    lying,
    undifferentiated,
)
from ..table.rules import computed_wide, rounded_once
from .selection import sparse_rows

_NAMES = "input weight bias"

# --------------------------------------------------------------------------- normalisations


def _channels(x: Tensor, like: Tensor) -> Tensor:
    return x.reshape([1, -1 if x.numel() else 0] + [1] * (like.ndim - 2)) if like.ndim > 1 else x


def _batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor | None,
    var: Tensor | None, training: bool, eps: float,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    dims = [d for d in range(input.ndim) if d != 1]
    if training or mean is None or var is None:
        middle = input.mean(dims)
        apart = input - _channels(middle, input)
        scale = ((apart * apart).mean(dims) + eps).rsqrt()
    else:
        middle, scale = mean.detach(), (var.detach() + eps).rsqrt()
        apart = input - _channels(middle, input)
    found = apart * _channels(scale, input)
    if weight is not None:
        found = found * _channels(weight, input)
    if bias is not None:
        found = found + _channels(bias, input)
    return found, middle, scale


@joint("aten::batch_norm", of=_NAMES, name="NativeBatchNormBackward0")
@rounded_once
def batch_norm(
    g: Tensor, wanted: Wanted, input: Tensor, weight: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, eps: float,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    """Channels brought to mean 0 and variance 1."""
    if not is_recording():
        weights, mean, var = (
            None if each is None else each._array for each in (weight, running_mean, running_var)
        )
        quick = batch_norm_gradients(g._array, input._array, weights, mean, var, training, eps)
        if quick is not None:
            of_input, of_weight, of_bias = map(Tensor._of, quick)
            return of_input, of_weight, of_bias
    normal, scale = input, input.new_ones(input.shape[1:2])  # there is no mean of nothing
    if input.numel():
        normal, _, scale = _batch_norm(input, None, None, running_mean, running_var, training, eps)
    dims = [d for d in range(input.ndim) if d != 1]
    of_bias, of_weight = g.sum(dims), (g * normal).sum(dims)
    if not wanted["input"]:
        return None, of_weight, of_bias
    of_input = g
    if input.numel() and (training or running_mean is None or running_var is None):
        count = input.numel() // max([1, *input.shape[1:2]])
        apart, along = (_channels(each / count, input) for each in (of_bias, of_weight))
        of_input = g - apart - normal * along
    factor = scale if weight is None else scale * weight
    return of_input * _channels(factor, input), of_weight, of_bias


@composite("aten::native_batch_norm", "aten::_native_batch_norm_legit", apart=(1, 2))
@computed_wide
def native_batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, eps: float,
    running_mean: Tensor | None = None, running_var: Tensor | None = None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The same, with the means and the inverse deviations."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, eps)


@composite("aten::_batch_norm_with_update", apart=(1, 2, 3))
@computed_wide
def batch_norm_with_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...]:
    """The same in training."""
    return _batch_norm(input, weight, bias, None, None, True, eps)


@composite("aten::instance_norm", name="ViewBackward0")
@computed_wide
def instance_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, use_input_stats: bool, eps: float,
) -> Tensor:  # fmt: skip
    """Channels of each sample brought to mean 0 and variance 1."""
    if not use_input_stats:
        return _batch_norm(input, weight, bias, running_mean, running_var, False, eps)[0]
    dims = list(range(2, input.ndim))
    found = _normal(input, dims, eps)
    if weight is not None:
        found = found * _channels(weight, input)
    return found if bias is None else found + _channels(bias, input)


def _normal(x: Tensor, dims: list[int], eps: float) -> Tensor:
    apart = x - (x.mean(dims, True) if dims else x)  # no dimensions would be all
    if not dims:
        return apart
    return apart * ((apart * apart).mean(dims, True) + eps).rsqrt()


@composite("aten::layer_norm", name="NativeLayerNormBackward0")
@computed_wide
def layer_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """The last dimensions brought to mean 0 and variance 1."""
    found = _normal(input, list(range(-len(normalized_shape), 0)), eps)
    found = found if weight is None else found * weight
    return found if bias is None else found + bias


@composite("aten::native_layer_norm", apart=(1, 2))
@computed_wide
def native_layer_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, ...]:
    """The same, with the means and the inverse deviations."""
    dims = list(range(-len(normalized_shape), 0))
    mean = input.mean(dims, True)
    apart = input - mean
    scale = ((apart * apart).mean(dims, True) + eps).rsqrt()
    found = apart * scale
    found = found if weight is None else found * weight
    return (found if bias is None else found + bias), mean, scale


def _grouped(input: Tensor, groups: int) -> Tensor:
    return input.reshape([input.shape[0], groups, math.prod(input.shape[1:]) // groups])


@composite("aten::group_norm", name="NativeGroupNormBackward0")
@computed_wide
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> Tensor:
    """Groups of channels brought to mean 0 and variance 1."""
    found = _normal(_grouped(input, num_groups), [-1], eps).reshape(input.shape)
    found = found if weight is None else found * _channels(weight, input)
    return found if bias is None else found + _channels(bias, input)


@composite("aten::native_group_norm")
@computed_wide
def native_group_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float
) -> tuple[Tensor, ...]:
    """The same, with the means and the inverse deviations."""
    parts = _grouped(input, group)
    mean = parts.mean([-1], True)
    apart = parts - mean
    scale = ((apart * apart).mean([-1], True) + eps).rsqrt()
    found = (apart * scale).reshape(input.shape)
    found = found if weight is None else found * _channels(weight, input)
    found = found if bias is None else found + _channels(bias, input)
    return found, mean.squeeze(-1), scale.squeeze(-1)


@composite("aten::rms_norm", name="FusedRmsNormBackward0")
@computed_wide
def rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None, eps: float | None
) -> Tensor:
    """The last dimensions brought to mean square 1."""
    dims = list(range(-len(normalized_shape), 0))
    small = 2.220446049250313e-16 if input.dtype.itemsize == 8 else 1.1920928955078125e-07
    found = input * ((input * input).mean(dims, True) + (small if eps is None else eps)).rsqrt()
    return found if weight is None else found * weight


@composite("aten::_weight_norm", name="WeightNormInterfaceBackward0")
def weight_norm(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """A direction and a length apart."""
    dims = [d for d in range(v.ndim) if d != dim] if dim != -1 else list(range(v.ndim))
    return v * (g / (v * v).sum(dims, True).sqrt())


# --------------------------------------------------------------------------- attention, products


def likeness(
    query: Tensor, key: Tensor, attn_mask: Tensor | None, is_causal: bool, scale: float | None
) -> tuple[Tensor, float]:
    """The weights of the averages before dropout, and the factor that scales their products."""
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * factor
    if is_causal:
        keep = aten.ones(list(scores.shape[-2:]), dtype=None).tril() > 0
        scores = scores.masked_fill(keep.logical_not(), -math.inf)
    if attn_mask is not None:
        if attn_mask.dtype.is_floating_point:
            scores = scores + attn_mask
        else:
            scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)
    return aten._safe_softmax(scores, -1), factor


def attended(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float,
    is_causal: bool, scale: float | None, enable_gqa: bool, result: Tensor,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Values averaged by the likeness of keys to queries, and the weights of the averages."""
    if enable_gqa:
        times = query.shape[-3] // key.shape[-3]
        key, value = (x.repeat_interleave(times, -3) for x in (key, value))
    weights = likeness(query, key, attn_mask, is_causal, scale)[0]
    if dropout_p:
        weights = weights * Tensor._of(dropped(result._array)).to(weights.dtype)
    return weights @ value, weights


@composite(
    "aten::scaled_dot_product_attention", name="ScaledDotProductFlashAttentionForCpuBackward0"
)
def attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float,
    is_causal: bool, scale: float | None, enable_gqa: bool, result: Tensor,
) -> Tensor:  # fmt: skip
    """Values averaged by the likeness of keys to queries."""
    return attended(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, result)[
        0
    ]


@composite("aten::bilinear", lays="by rows")
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A product of two inputs and a weight for each result."""
    found = aten.einsum("...i,kij,...j->...k", [input1, weight, input2])
    return found if bias is None else found + bias


@composite("aten::cdist", "aten::_cdist_forward", "aten::_euclidean_dist", name="CdistBackward0")
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all rows to all others."""
    return aten.linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, [-1])


@composite("aten::pdist", "aten::_pdist_forward")
def pdist(self: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows."""
    count = self.shape[0]
    places = aten.triu_indices(count, count, 1)
    first = self.index_select(0, places.select(0, 0))
    second = self.index_select(0, places.select(0, 1))
    return aten.linalg_vector_norm(first - second, p, [-1])


@composite("aten::diff")
def diff(self: Tensor, n: int, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """Differences of neighbours."""
    if not n:
        return self * 1
    given = [t for t in (prepend, self, append) if t is not None]
    x = aten.cat(given, dim) if len(given) > 1 else self
    for _ in range(n):
        size = x.shape[dim]
        if not size:
            break
        x = x.narrow(dim, 1, size - 1) - x.narrow(dim, 0, size - 1)
    return x


# --------------------------------------------------------------------------- tables


@joint("aten::embedding_bag", of="weight per_sample_weights", name="EmbeddingBagBackward0")
def _bags(
    gs: Tensors, wanted: Wanted, weight: Tensor, indices: Tensor, offsets: Tensor, mode: int,
    per_sample_weights: Tensor | None, include_last_offset: bool, results: Tensors,
    scale_grad_by_freq: bool = False, padding_idx: int | None = None, sparse: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return _plain_bags(
        gs, wanted, weight, indices, offsets, mode, per_sample_weights, include_last_offset,
        results, scale_grad_by_freq, padding, sparse,
    )  # fmt: skip


@joint("aten::_embedding_bag", of="weight per_sample_weights", name="EmbeddingBagBackward0")
def _plain_bags(
    gs: Tensors, wanted: Wanted, weight: Tensor, indices: Tensor, offsets: Tensor, mode: int,
    per_sample_weights: Tensor | None, include_last_offset: bool, results: Tensors,
    scale_grad_by_freq: bool = False, padding_idx: int = -1, sparse: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Here a negative `padding_idx` says that there is none."""
    (g,) = gs[:1]
    flat = indices.reshape([-1]).long()
    starts = np.zeros(0, np.int64) if offsets is None else offsets._array
    count = g.shape[0]
    lengths = np.diff(starts, append=flat._array.size)
    bag = np.minimum(np.repeat(np.arange(len(starts)), lengths), count - 1)
    bags = Tensor._of(bag)
    hidden = flat._array == padding_idx  # no index is negative
    if mode == 2:
        filled = (results[2] > 0).unsqueeze(1)
        return _largest(g * filled, weight, results[3]), None
    if mode == 1:
        sizes = np.bincount(bag, ~hidden, count).clip(1)
        g = g / Tensor._of(sizes[:, None].astype(g._array.dtype))
    rows = g.index_select(0, bags)
    if hidden.any():
        rows = rows.masked_fill(Tensor._of(hidden[:, None]), 0)
    of_samples = None
    if per_sample_weights is not None:
        if wanted.get("per_sample_weights"):
            of_samples = (rows * weight.index_select(0, flat)).sum([1])
        rows = rows * per_sample_weights.reshape([-1, 1])
    if scale_grad_by_freq:
        rows = rows / _frequencies(flat).unsqueeze(1)
    if sparse:
        return sparse_rows(flat, rows, weight.shape, padding_idx), of_samples
    return g.new_zeros(list(weight.shape)).index_add(0, flat, rows), of_samples


def _frequencies(flat: Tensor) -> Tensor:
    """What torch divides the gradient of each row read by: how often another row is read.

    For the row that is n-th among those read it looks at the n-th of all sorted indices, not at
    the first index of that row.
    """
    indices: Array = flat._array
    _, place, counts = np.unique(indices, return_inverse=True, return_counts=True)
    return Tensor._of(counts[np.sort(place)[place]])


def _largest(g: Tensor, weight: Tensor, places: Tensor) -> Tensor:
    valid = places >= 0
    columns = aten.arange(weight.shape[1]).expand(list(places.shape))
    return g.new_zeros(list(weight.shape)).index_put(
        [places.masked_fill(valid.logical_not(), 0), columns], g * valid, True
    )


gradient(
    "aten::affine_grid_generator",
    theta=lambda g, size, align_corners: _of_theta(g, size, align_corners),
)


def _of_theta(g: Tensor, size: Ints, align_corners: bool) -> Tensor:
    count = len(size) - 2
    unit = aten.eye(count, count + 1, dtype=g.dtype).unsqueeze(0)
    base = aten.affine_grid_generator(unit, [1, *size[1:]], align_corners)
    ones = aten.ones_like(base.narrow(-1, 0, 1))
    places = aten.cat([base, ones], -1).reshape([-1, count + 1])
    return g.reshape([g.shape[0], -1, count]).transpose(1, 2) @ places


constant("embedding_renorm_", "_no_grad_embedding_renorm_")


giving_together(
    "input weight",
    *"layer_norm native_layer_norm batch_norm native_batch_norm _native_batch_norm_legit".split(),
)
lying("by rows", "native_layer_norm", "layer_norm", "instance_norm")
lying(
    "as images",
    *"native_group_norm group_norm batch_norm native_batch_norm _native_batch_norm_legit".split(),
    "_batch_norm_with_update",
)
_STATISTICS = "running_mean running_var"
undifferentiated(_STATISTICS, "batch_norm", "instance_norm", called="native_batch_norm")
undifferentiated(
    _STATISTICS, "native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update"
)

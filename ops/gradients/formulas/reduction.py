"""Gradients of sums, means, products, extremes and norms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...memory.dtype import Scalar
from ...reductions.totals import segment_lengths
from ...tensors.tensor import Tensor
from ..table.rows import Grads, Ints, Tensors, aten, composite, conj, constant, gradient, lying


def dims_of(dim: int | Ints | None, ndim: int) -> list[int]:
    """The dimensions meant by `dim`, all if it is None or empty; a single number has none."""
    if not ndim:
        return []
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return list(range(ndim))
    given = [dim] if isinstance(dim, int) else list(dim)
    return sorted(d % ndim for d in given)


def restored(x: Tensor, sizes: Ints, dim: int | Ints | None, keepdim: bool) -> Tensor:
    """A reduced tensor with the dimensions it lost, of size 1."""
    if keepdim or not sizes:
        return x
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return x.reshape([1] * len(sizes))
    for d in dims_of(dim, len(sizes)):
        x = x.unsqueeze(d)
    return x


def _spread(g: Tensor, self_sizes: Ints, dim: Ints | None = None, keepdim: bool = False) -> Tensor:
    return restored(g, self_sizes, dim, keepdim).expand(list(self_sizes))


def _count(sizes: Sequence[int], dim: Ints | None) -> int:
    return math.prod(sizes[d] for d in dims_of(dim, len(sizes))) if sizes else 1


def _mean(g: Tensor, self_sizes: Ints, dim: Ints | None = None, keepdim: bool = False) -> Tensor:
    return _spread(g, self_sizes, dim, keepdim) / _count(self_sizes, dim)


gradient("aten::sum", self=_spread)
gradient("aten::sum.dim_IntList", self=_spread, name="SumBackward1")
gradient("aten::mean", self=_mean)
gradient("aten::mean.dim", self=_mean, name="MeanBackward1")
gradient(
    "aten::sum_to_size", self=lambda g, self_sizes: g.expand(list(self_sizes)), name="SumBackward1"
)
gradient(
    "aten::nansum",
    self=lambda g, self, dim=None, keepdim=False: (
        _spread(g, self.shape, dim, keepdim) * self.isnan().logical_not()
    ),
)
composite("aten::nanmean")(
    lambda self, dim=None, keepdim=False: (
        aten.nansum(self, dim, keepdim)
        / self.isnan().logical_not().sum(dims_of(dim, self.ndim), keepdim)
    )
)


# --------------------------------------------------------------------------- products


def _product(
    g: Tensor, self: Tensor, result: Tensor, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    if not self.ndim:
        return g
    if dim is None:
        return _product_along(g, self.reshape([-1]), result, 0).reshape(self.shape)
    if not keepdim:
        g, result = g.unsqueeze(dim), result.unsqueeze(dim)
    return _product_along(g, self, result, dim % self.ndim)


def _product_along(g: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    if not bool((self == 0).any()):
        return g * conj(result / self)
    ones = aten.ones_like(self.narrow(dim, 0, 1))
    size = self.shape[dim]
    before = aten.cat([ones, self.narrow(dim, 0, size - 1)], dim).cumprod(dim)
    turned = self.flip([dim])
    after = aten.cat([ones, turned.narrow(dim, 0, size - 1)], dim).cumprod(dim).flip([dim])
    return g * conj(before * after)


gradient("aten::prod", self=_product)
gradient("aten::prod.dim_int", self=_product, name="ProdBackward1")


# --------------------------------------------------------------------------- spreads


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if correction is not None:
        return float(correction)
    return 1.0 if unbiased is None or unbiased else 0.0


def _variance(
    g: Tensor, self: Tensor, dim: Ints | None = None, unbiased: bool | None = None,
    correction: float | None = None, keepdim: bool = False,
) -> Tensor:  # fmt: skip
    dims = dims_of(dim, self.ndim)
    left = _count(self.shape, dims if self.ndim else None) - _correction(unbiased, correction)
    g = restored(g, self.shape, dim, keepdim)
    if not self.ndim:
        return g * (2.0 / left if left > 0 else math.inf) * (self - self)
    if dim is None and left <= 0:
        return (g * math.inf).expand(self.shape)
    return g * (2.0 / left if left else math.inf) * (self - self.mean(dims, True))


def _deviation(
    g: Tensor, self: Tensor, result: Tensor, dim: Ints | None = None, unbiased: bool | None = None,
    correction: float | None = None, keepdim: bool = False,
) -> Tensor:  # fmt: skip
    share = (g / (result * 2)).masked_fill(result == 0, 0)
    return _variance(share, self, dim, unbiased, correction, keepdim)


def _variance_with_mean(
    gs: Grads, self: Tensor, dim: Ints | None = None, unbiased: bool | None = None,
    correction: float | None = None, keepdim: bool = False,
) -> Tensor | None:  # fmt: skip
    total = None
    if gs[0] is not None:
        total = _variance(gs[0], self, dim, unbiased, correction, keepdim)
    return _and_mean(total, gs[1], self, dim, keepdim)


def _deviation_with_mean(
    gs: Grads, self: Tensor, results: Tensors, dim: Ints | None = None,
    unbiased: bool | None = None, correction: float | None = None, keepdim: bool = False,
) -> Tensor | None:  # fmt: skip
    total = None
    if gs[0] is not None:
        total = _deviation(gs[0], self, results[0], dim, unbiased, correction, keepdim)
    return _and_mean(total, gs[1], self, dim, keepdim)


def _and_mean(
    total: Tensor | None, g: Tensor | None, self: Tensor, dim: Ints | None, keepdim: bool
) -> Tensor | None:
    if g is None:
        return total
    part = _mean(g, self.shape, dim, keepdim)
    return part if total is None else total + part


gradient("aten::var", self=_variance)
gradient("aten::std", self=_deviation)
gradient("aten::var_mean", self=_variance_with_mean)
gradient("aten::std_mean", self=_deviation_with_mean)


# --------------------------------------------------------------------------- extremes


def _at_extremes(
    g: Tensor, self: Tensor, result: Tensor, dim: int | Ints | None = None, keepdim: bool = False
) -> Tensor:
    """Shared evenly among the elements that are extreme."""
    g, result = (restored(x, self.shape, dim, keepdim) for x in (g, result))
    mask = self == result
    dims = dims_of(dim, self.ndim)
    return g * mask / (mask.sum(dims, True) if self.ndim else 1)


def scattered(g: Tensor, sizes: Sequence[int], dim: int, index: Tensor, keepdim: bool) -> Tensor:
    """A gradient at the places `index` of a dimension."""
    if not sizes:
        return g
    if not keepdim:
        g, index = g.unsqueeze(dim), index.unsqueeze(dim)
    return g.new_zeros(list(sizes)).scatter_add(dim, index, g)


gradient("aten::amax", self=_at_extremes)
gradient("aten::amin", self=_at_extremes)
gradient(
    "aten::max.dim",
    "aten::min.dim",
    "aten::median.dim",
    "aten::nanmedian.dim",
    "aten::mode",
    "aten::kthvalue",
    self=lambda g, self_sizes, result1, dim=-1, keepdim=False: scattered(
        g, self_sizes, dim, result1, keepdim
    ),
)


def _at_equal(g: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """Shared evenly among the elements that equal the result, NaN or not."""
    mask = (self == result).logical_or(self.isnan().logical_and(result.isnan()))
    return g * mask / (mask.sum() if self.ndim else 1)


gradient("aten::max", self=_at_equal, name="MaxBackward1")
gradient("aten::min", self=_at_equal, name="MinBackward1")
gradient("aten::median", self=_at_equal)
gradient("aten::nanmedian", self=_at_equal)


def _both_extremes(
    gs: Grads, self: Tensor, results: Tensors, dim: int | None = None, keepdim: bool = False
) -> Tensor | None:
    total = None
    for g, result in zip(gs, results, strict=True):
        if g is not None:
            part = _at_extremes(g, self, result, dim, keepdim)
            total = part if total is None else total + part
    return total


gradient("aten::aminmax", self=_both_extremes)
gradient(
    "aten::topk",
    "aten::sort",
    self=lambda g, self_sizes, result1, dim=-1: scattered(g, self_sizes, dim, result1, True),
)
gradient(
    "aten::cummax",
    "aten::cummin",
    self=lambda g, self_sizes, result1, dim: scattered(g, self_sizes, dim, result1, True),
)
composite("aten::msort")(lambda self: aten.sort(self, 0)[0])
constant("argsort", "count_nonzero")

# --------------------------------------------------------------------------- running sums


def _running_from_end(x: Tensor, dim: int) -> Tensor:
    return x.flip([dim]).cumsum(dim).flip([dim]) if x.ndim else x


gradient("aten::cumsum", self=lambda g, dim: _running_from_end(g, dim))


@composite("aten::cumprod")
def cumprod(self: Tensor, dim: int, dtype: int | None = None) -> Tensor:
    """Running products, one after the other."""
    x = self if dtype is None else aten.to(self, dtype=dtype)
    if not x.ndim or not x.shape[dim]:
        return x * 1
    parts, found = [], None
    for part in x.unbind(dim):
        found = part if found is None else found * part
        parts.append(found)
    return aten.stack(parts, dim)


gradient(
    "aten::logcumsumexp",
    self=lambda g, self, result, dim: _log_running(g, self, result, dim),
    lays="by rows",
)


def _log_running(g: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    if not self.ndim:
        return g
    size = self.shape[dim]
    last = self.movedim(dim, -1)
    ends = result.movedim(dim, -1)
    pairs = (last.unsqueeze(-1) - ends.unsqueeze(-2)).exp()
    upper = Tensor._of(np.triu(np.ones((size, size), bool)))
    shares = conj(pairs.masked_fill(upper.logical_not(), 0))
    found = (shares * g.movedim(dim, -1).unsqueeze(-2)).sum(-1)
    return found.movedim(-1, dim)


def _log_sum(g: Tensor, self: Tensor, result: Tensor, dim: Ints, keepdim: bool) -> Tensor:
    g, result = (restored(x, self.shape, dim, keepdim) for x in (g, result))
    return g * conj((self - result).exp())


gradient("aten::logsumexp", self=_log_sum)


# --------------------------------------------------------------------------- segments


def _segments(
    g: Tensor, result: Tensor, data: Tensor, reduce: str, lengths: Tensor | None,
    offsets: Tensor | None, axis: int, initial: Scalar | None,
) -> Tensor:  # fmt: skip
    """The gradient of each run of a dimension, spread over what it was made of."""
    axis %= data.ndim
    sizes_of, places_of = (None if each is None else each._array for each in (lengths, offsets))
    counts = segment_lengths(data._array, sizes_of, places_of, axis, True)
    total, rest = int(counts.sum()), list(data.shape[axis + 1 :])
    places = Tensor._of(np.repeat(np.arange(counts.size), counts.reshape(-1)))

    def spread(x: Tensor) -> Tensor:
        return x.reshape([counts.size, *rest]).index_select(0, places)

    rows = data.reshape([-1, *rest])
    used = rows.narrow(0, 0, total)
    found = spread(g)
    if reduce == "mean":
        sizes = counts.astype(np.float64).reshape(-1, *[1] * len(rest))
        found = found / spread(Tensor._of(sizes).to(g.dtype).expand([counts.size, *rest]))
    elif reduce in ("max", "min", "amax", "amin"):
        ones = (used == spread(result)).logical_or(used.isnan()).to(g.dtype)
        shares = ones.new_zeros([counts.size, *rest]).index_add(0, places, ones)
        found = found * ones / spread(shares.clamp_min(1))
    elif reduce == "prod":
        zero, odd = used == 0, used.isnan()
        plain = used.masked_fill(zero.logical_or(odd), 1)
        options = {"lengths": Tensor._of(counts.reshape(-1)), "initial": initial}
        others = spread(aten.segment_reduce(plain, reduce, **options)) / plain
        for each, value in ((zero, 0), (odd, math.nan)):  # where another element is such
            own = each.to(g.dtype)
            count = g.new_zeros([counts.size, *rest]).index_add(0, places, own)
            others = others.masked_fill(spread(count) > own, value)
        found = found * others
    left = rows.shape[0] - total
    if left:
        found = aten.cat([found, found.new_zeros([left, *rest])], 0)
    return found.reshape(list(data.shape))


gradient("aten::segment_reduce", data=_segments)


# --------------------------------------------------------------------------- norms


def _norm(
    g: Tensor, self: Tensor, result: Tensor, ord: float | None = 2, dim: Ints | None = None,
    keepdim: bool = False,
) -> Tensor:  # fmt: skip
    g, norm = (restored(x, self.shape, dim, keepdim) for x in (g, result))
    order = 2.0 if ord is None else float(ord)
    if order == 0:
        return aten.zeros_like(self)
    if order == 1:
        return self.sgn() * g
    if order == 2:
        return self * (g / norm).masked_fill(norm == 0, 0)
    size = self.abs()
    if math.isinf(order):
        mask = size == norm
        dims = dims_of(dim, self.ndim)
        return self.sgn() * (mask * g / (mask.sum(dims, True) if self.ndim else 1))
    if order < 1:
        away = self.sgn() * size.pow(order - 1)
        return away.masked_fill(self == 0, 0) * g * norm.pow(1 - order)
    if order < 2:
        scale = (g / norm.pow(order - 1)).masked_fill(norm == 0, 0)
        return self.sgn() * size.pow(order - 1) * scale
    scale = (g / norm.pow(order - 1)).masked_fill(norm == 0, 0)
    return self * size.pow(order - 2) * scale


gradient("aten::linalg_vector_norm", self=_norm)
gradient(
    "aten::norm",
    "aten::native_norm",
    self=lambda g, self, result, p=2, dim=None, keepdim=False: _norm(
        g, self, result, p, dim, keepdim
    ),
    name="LinalgVectorNormBackward0",
)
gradient(
    "aten::frobenius_norm",
    self=lambda g, self, result, dim=None, keepdim=False: _norm(g, self, result, 2, dim, keepdim),
)
composite("aten::dist")(
    lambda self, other, p=2: aten.linalg_vector_norm((self - other).reshape([-1]), p)
)

lying("by rows", "max", "min", "median", "median.dim", "nanmedian", "nanmedian.dim")
lying("as the first", "prod")

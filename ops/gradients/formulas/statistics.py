"""Gradients of covariances, quantiles, differences and integrals along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

from ...memory.complex_parts import is_complex
from ...memory.dtype import Scalar
from ...tensors.tensor import Tensor
from ..table.rows import Ints, Tensors, aten, composite
from .linear import turned


def _mean_and_count(x: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor | int]:
    if weights is None:
        return x.mean([1], True), x.shape[1]
    total = weights.sum()
    return (x * weights).sum([1], True) / total, total


@composite("aten::cov", name="SqueezeBackward0")
def cov(
    self: Tensor, correction: int = 1, fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Covariances of the rows."""
    x = self if self.ndim > 1 else self.reshape([1, -1])
    weights = fweights
    if aweights is not None:
        weights = aweights if fweights is None else fweights * aweights
    mean, count = _mean_and_count(x, weights)
    if weights is None or aweights is None or correction == 0:
        norm = count - correction
    else:
        norm = count - correction * (weights * aweights).sum() / count
    x = x - mean
    other = x if weights is None else x * weights
    norm = max(norm, 0) if isinstance(norm, int) else norm.clamp_min(0)
    found = x @ turned(other) / norm
    return found.squeeze()


def _corrcoef_name(self: Tensor) -> str:
    if self.ndim < 2 or self._array.shape[0] == 1:
        return "DivBackward0"
    return "ComplexBackward0" if is_complex(self._array.dtype) else "ClampBackward1"


@composite("aten::corrcoef", name=_corrcoef_name)
def corrcoef(self: Tensor) -> Tensor:
    """Correlations of the rows."""
    found = aten.cov(self)
    if not found.ndim:
        return found / found
    deviation = aten.real(found.diagonal()).sqrt()
    found = found / deviation.unsqueeze(-1) / deviation.unsqueeze(0)
    if is_complex(self._array.dtype):
        return aten.complex(aten.real(found).clamp(-1, 1), aten.imag(found).clamp(-1, 1))
    return found.clamp(-1, 1)


def _ranks(x: Tensor, q: Tensor, skipping: bool) -> Tensor:
    """Where in its sorted row each quantile stands; a row with a NaN stands at its end."""
    last = x.shape[-1] - 1
    missing = x.isnan()
    if skipping:
        valid = (missing.logical_not().sum([-1], True) - 1).clamp_min(0)
        return q * valid
    return (q * last).masked_fill(missing.any(-1, True), last)


def _between(x: Tensor, ranks: Tensor, interpolation: str) -> Tensor:
    """The elements of sorted rows at ranks that need not be whole."""
    if interpolation == "nearest":
        return x.gather(-1, ranks.round().long())
    below = ranks.floor()
    weight = ranks - below
    above = below if interpolation == "lower" else ranks.ceil()
    if interpolation in ("lower", "higher"):
        return x.gather(-1, above.long())
    low, high = x.gather(-1, below.long()), x.gather(-1, above.long())
    return aten.lerp(low, high, 0.5 if interpolation == "midpoint" else weight)


def _quantile(
    self: Tensor, q: Tensor | float, dim: int | None, keepdim: bool, interpolation: str,
    skipping: bool,
) -> Tensor:  # fmt: skip
    several = not isinstance(q, float) and q.ndim > 0
    wanted = aten.full([1], q, dtype=self.dtype) if isinstance(q, float) else q.reshape([-1])
    x = self.reshape([-1]) if dim is None else self.unsqueeze(-1) if not self.ndim else self
    at = dim if dim is not None and self.ndim else -1
    x = aten.sort(x.movedim(at, -1))[0]
    found = _between(x, _ranks(x, wanted, skipping), interpolation)
    if keepdim and dim is None:
        found = found.reshape([1] * self.ndim + [-1])
    elif keepdim and self.ndim:
        found = found.unsqueeze(-2).movedim(-2, at % self.ndim)
    return found.movedim(-1, 0) if several else found.squeeze(-1)


@composite("aten::quantile", name="SqueezeBackward4")
def quantile(
    self: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False,
    interpolation: str = "linear",
) -> Tensor:  # fmt: skip
    """Elements at parts of the sorted ones."""
    return _quantile(self, q, dim, keepdim, interpolation, False)


@composite("aten::nanquantile", name="SqueezeBackward4")
def nanquantile(
    self: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False,
    interpolation: str = "linear",
) -> Tensor:  # fmt: skip
    """The same without NaN."""
    return _quantile(self, q, dim, keepdim, interpolation, True)


# --------------------------------------------------------------------------- differences


def _along(x: Tensor, dim: int, ndim: int) -> Tensor:
    """A vector as a tensor along one of several dimensions."""
    return x.reshape([-1 if d == dim else 1 for d in range(ndim)])


def _even(x: Tensor, dim: int, step: float, edge_order: int) -> Tensor:
    size = x.shape[dim]
    inner = (x.narrow(dim, 2, size - 2) - x.narrow(dim, 0, size - 2)) / (2 * step)
    part = [x.narrow(dim, i, 1) for i in (0, 1, 2, -1, -2, -3)[: 6 if size > 2 else 2]]
    if edge_order == 1:
        first = (part[1] - part[0]) / step
        last = (x.narrow(dim, size - 1, 1) - x.narrow(dim, size - 2, 1)) / step
    else:
        first = (-3 * part[0] + 4 * part[1] - part[2]) / (2 * step)
        last = (3 * part[3] - 4 * part[4] + part[5]) / (2 * step)
    return aten.cat([first, inner, last], dim)


def _uneven(x: Tensor, dim: int, places: Tensor, edge_order: int) -> Tensor:
    size, ndim = x.shape[dim], x.ndim
    steps = _along(aten.diff(places), dim, ndim)
    before, after = steps.narrow(dim, 0, size - 2), steps.narrow(dim, 1, size - 2)
    both = before + after
    inner = (
        x.narrow(dim, 0, size - 2) * (-after / (before * both))
        + x.narrow(dim, 1, size - 2) * ((after - before) / (before * after))
        + x.narrow(dim, 2, size - 2) * (before / (after * both))
    )

    def edge(at: int, inward: int, sign: int) -> Tensor:
        one = steps.narrow(dim, at, 1)
        start = 0 if inward > 0 else size - 1
        if edge_order == 1:
            return sign * (x.narrow(dim, start + inward, 1) - x.narrow(dim, start, 1)) / one
        two = steps.narrow(dim, at + inward, 1)
        terms = (
            x.narrow(dim, start, 1) * (-(2 * one + two) / (one * (one + two)))
            + x.narrow(dim, start + inward, 1) * ((one + two) / (one * two))
            - x.narrow(dim, start + 2 * inward, 1) * (one / (two * (one + two)))
        )
        return sign * terms

    return aten.cat([edge(0, 1, 1), inner, edge(size - 2, -1, -1)], dim)


@composite("aten::gradient", name="CatBackward0")
def differences(
    self: Tensor, spacing: Scalar | Sequence[Scalar] | Tensors | None = None,
    dim: int | Ints | None = None, edge_order: int = 1,
) -> list[Tensor]:  # fmt: skip
    """Central differences along dimensions."""
    dims = list(range(self.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    steps = spacing if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    found = []
    for d, step in zip(dims, steps, strict=True):
        place = d % self.ndim
        if hasattr(step, "ndim"):
            found.append(_uneven(self, place, step, edge_order))
        else:
            found.append(_even(self, place, 1 if step is None else step, edge_order))
    return found


# --------------------------------------------------------------------------- integrals


def _areas(y: Tensor, x: Tensor | None, dx: float, dim: int) -> Tensor:
    """Twice the areas under the pieces between neighbours."""
    size = y.shape[dim]
    sums = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    if x is None:
        return sums * dx
    if x.ndim == 1 and y.ndim > 1:
        return sums * _along(aten.diff(x), dim % y.ndim, y.ndim)
    if x.ndim < y.ndim:
        x = x.reshape([1] * (y.ndim - x.ndim) + list(x.shape))
    return sums * aten.diff(x, 1, dim)


def _trapezoid_name(y: Tensor, x: object, *rest: object) -> str:
    return "DivBackward1" if hasattr(x, "ndim") else "MulBackward1"


@composite("aten::trapezoid", "aten::trapz", name=_trapezoid_name)
def trapezoid(y: Tensor, x: Tensor | None = None, dx: float = 1, dim: int = -1) -> Tensor:
    """The area under a polyline."""
    return _areas(y, x, dx, dim).sum([dim]) / 2


def _cumulative_name(y: Tensor, x: object, *rest: object) -> str:
    return "DivBackward1" if hasattr(x, "ndim") else "CumsumBackward0"


@composite("aten::cumulative_trapezoid", name=_cumulative_name)
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, dx: float = 1, dim: int = -1
) -> Tensor:
    """The areas under the beginnings of a polyline."""
    return _areas(y, x, dx, dim).cumsum(dim) / 2


# --------------------------------------------------------------------------- powers and norms


@composite("aten::linalg_vander", name="CatBackward0")
def vander(x: Tensor, N: int | None = None) -> Tensor:
    """Powers of each element."""
    count = x.shape[-1] if N is None else N
    ones = aten.ones([*x.shape, 1], dtype=x.dtype)
    powers = x.unsqueeze(-1).expand([*x.shape, count - 1]).cumprod(-1)
    return aten.cat([ones, powers], -1)


@composite("aten::renorm")
def renorm(self: Tensor, p: Scalar, dim: int, maxnorm: Scalar) -> Tensor:
    """Slices scaled down to a norm."""
    others = [d for d in range(self.ndim) if d != dim % self.ndim]
    norms = aten.linalg_vector_norm(self, p, others, True)
    scale = aten.where(norms > maxnorm, maxnorm / (norms + 1e-7), aten.ones_like(norms))
    return self * scale

"""Gradients of pooling."""

from __future__ import annotations

import math

import numpy as np

from ...memory.dtype import Array
from ...memory.errors import OperatorError
from ...tensors.dispatched import Dispatched
from ...tensors.tensor import Tensor
from ..table.rows import Ints, Several, aten, gradient, lying


def spread(g: Tensor, matrix: Array, dim: int) -> Tensor:
    """The gradient of what a matrix (results, elements) makes of every row along a dimension.

    What is not finite reaches only the elements that its result was made of.
    """
    rows = g.movedim(dim, -1)
    if isinstance(g, Dispatched) or np.isfinite(g._array).all():
        return (rows @ Tensor._of(np.ascontiguousarray(matrix)).to(g.dtype)).movedim(-1, dim)
    results, elements = np.nonzero(matrix)
    weights = Tensor._of(matrix[results, elements]).to(g.dtype)
    parts = rows.index_select(-1, Tensor._of(results)) * weights
    whole = g.new_zeros([*rows.shape[:-1], matrix.shape[1]])
    return whole.index_add(-1, Tensor._of(elements), parts).movedim(-1, dim)


def each_of(value: Ints | int, count: int, default: Ints = ()) -> list[int]:
    """A setting for each dimension; the default where none is given."""
    given = [value] if isinstance(value, int) else list(value or ())
    if not given:
        return list(default)
    return given * count if len(given) == 1 else given


# --------------------------------------------------------------------------- means


def _window_sums(
    size: int, kernel: int, step: int, pad: int, ceil: bool, with_pad: bool
) -> tuple[Array, Array]:
    """Which elements each window along one dimension holds, and how many it counts."""
    room = size + 2 * pad - kernel
    count = (-(-room // step) if ceil else room // step) + 1
    if ceil and (count - 1) * step >= size + pad:
        count -= 1
    inside, counts = np.zeros((count, size)), np.zeros(count)
    for place in range(count):
        start = place * step - pad
        end = min(start + kernel, size + pad)
        counts[place] = end - start
        start, end = max(start, 0), min(end, size)
        inside[place, start:end] = 1
        if not with_pad:
            counts[place] = end - start
    return inside, counts


def _of_means(
    g: Tensor, sizes: Ints, kernel_size: Ints, stride: Ints, padding: Ints | int, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None, count: int,
) -> Tensor:  # fmt: skip
    """The gradient of what the means of windows are of."""
    kernels = each_of(kernel_size, count)
    steps, pads = each_of(stride, count, kernels), each_of(padding, count, [0] * count)
    divisor: Array = np.ones(())
    along = []
    for d in range(count):
        dim = len(sizes) - count + d
        inside, counts = _window_sums(
            sizes[dim], kernels[d], steps[d], pads[d], ceil_mode, count_include_pad
        )
        along.append((inside, dim))
        divisor = np.multiply.outer(divisor, counts)
    g = g / (Tensor._of(divisor).to(g.dtype) if divisor_override is None else divisor_override)
    for inside, dim in along:
        g = spread(g, inside, dim)
    return g


for _count in (1, 2, 3):
    gradient(
        f"aten::avg_pool{_count}d",
        self=lambda g, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override=None, count=_count: _of_means(
            g, self_sizes, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override, count,
        ),
        lays="as images" if _count == 2 else "by rows" if _count == 3 else "",
    )  # fmt: skip


def _shares(size: int, count: int) -> Array:
    """The means of as many parts as there are results."""
    shares = np.zeros((count, size))
    for place in range(count):
        start, end = place * size // count, -(-(place + 1) * size // count)
        shares[place, start:end] = 1 / (end - start)
    return shares


def _of_shares(g: Tensor, sizes: Ints, output_size: Ints) -> Tensor:
    """The gradient of what the means of as many parts as there are results are of."""
    _check_given("avg", g, len(output_size))
    for d, size in enumerate(output_size):
        dim = len(sizes) - len(output_size) + d
        g = spread(g, _shares(sizes[dim], size), dim)
    return g


def _check_given(kind: str, g: Tensor, count: int) -> None:
    """See that an adaptive pool gave something; one dimension is pooled as two are.

    Raises:
        OperatorError: a part that is no batch has no elements.
    """
    sizes = [*g.shape[:-1], 1, g.shape[-1]] if count == 1 else [*g.shape]
    if 0 in sizes[1:]:
        raise OperatorError(
            f"adaptive_{kind}_pool{max(count, 2)}d_backward(): Expected grad_output to have "
            f"non-zero size for non-batch dimensions, but grad_output has sizes {sizes} with "
            f"dimension {sizes.index(0, 1)} being empty"
        )


gradient(
    "aten::adaptive_avg_pool1d",
    "aten::adaptive_avg_pool2d",
    "aten::adaptive_avg_pool3d",
    "aten::_adaptive_avg_pool2d",
    "aten::_adaptive_avg_pool3d",
    self=lambda g, self_sizes, output_size: _of_shares(g, self_sizes, output_size),
    lays="by rows",
)
lying("as images", "adaptive_avg_pool2d", "_adaptive_avg_pool2d")


# --------------------------------------------------------------------------- extremes


def placed(g: Tensor, sizes: Ints, indices: Tensor, count: int) -> Tensor:
    """A gradient at places counted over the last dimensions."""
    lead = list(sizes[: len(sizes) - count])
    flat = g.new_zeros([*lead, math.prod(sizes[len(sizes) - count :])])
    rest = [*lead, math.prod(g.shape[len(lead) :])]
    placed = flat.scatter_add(-1, indices.reshape(rest), g.reshape(rest))
    return placed.reshape(list(sizes))


def _placed_if_given(g: Tensor, sizes: Ints, indices: Tensor, count: int) -> Tensor:
    _check_given("max", g, count)
    return placed(g, sizes, indices, count)


for _count in (1, 2, 3):
    gradient(
        f"aten::max_pool{_count}d_with_indices",
        self=lambda g, self_sizes, result1, count=_count: placed(g, self_sizes, result1, count),
    )
    gradient(
        f"aten::adaptive_max_pool{_count}d",
        self=lambda g, self_sizes, result1, count=_count: _placed_if_given(
            g, self_sizes, result1, count
        ),
    )
    gradient(
        f"aten::max_pool{_count}d",
        self=lambda g, self, kernel_size, stride, padding, dilation, ceil_mode, count=_count: (
            placed(
                g,
                self.shape,
                _indices(count, self, kernel_size, stride, padding, dilation, ceil_mode),
                count,
            )
        ),
        name=f"MaxPool{_count}DWithIndicesBackward0",
    )
gradient(
    "aten::max_pool2d_with_indices_backward",
    grad_output=lambda g, indices: _taken(g, indices.shape, indices, 2),
    self=lambda self: aten.zeros_like(self),
)
for _count in (2, 3):
    gradient(
        f"aten::fractional_max_pool{_count}d",
        self=lambda g, self_sizes, result1, count=_count: placed(g, self_sizes, result1, count),
    )
    gradient(
        f"aten::max_unpool{_count}d",
        self=lambda g, self_sizes, indices, count=_count: _taken(g, self_sizes, indices, count),
    )


def _indices(count: int, self: Tensor, *options: object) -> Tensor:
    pool: Several = getattr(aten, f"max_pool{count}d_with_indices")
    return pool(self.detach(), *options)[1]


def _taken(g: Tensor, sizes: Ints, indices: Tensor, count: int) -> Tensor:
    lead = list(sizes[: len(sizes) - count])
    flat = g.reshape([*lead, math.prod(g.shape[len(lead) :])])
    places = indices.reshape([*lead, math.prod(indices.shape[len(lead) :])])
    return flat.gather(-1, places).reshape(list(sizes))


for _count in (2, 3):
    lying("as images", f"max_pool{_count}d", f"max_pool{_count}d_with_indices")
lying("as images", "adaptive_max_pool2d")
lying("by rows", "adaptive_max_pool3d", "max_pool2d_with_indices_backward")

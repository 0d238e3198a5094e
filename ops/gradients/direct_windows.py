"""Gradients of pooling, where they need no gradients themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from ..memory.dtype import Array
from ..pooling.max_pool import max_pool_with_indices
from ..pooling.pool_checks import pool_geometry
from ..selection.places import combined_natively
from ..tensors.tensor import Tensor
from .rows import Ints, direct
from .rules import are_wide
from .windows import each_of

One = tuple[Tensor]


def _largest(count: int) -> Callable[..., One | None]:
    name = f"max_pool{count}d"

    def slopes(
        g: Tensor | None, self: Tensor | None, kernel_size: Ints, stride: Ints, padding: Ints,
        dilation: Ints, ceil_mode: bool,
    ) -> One | None:  # fmt: skip
        if g is None or self is None or not are_wide(g, self):
            return None
        x = self._array[...]  # which no other thread can change
        geometry = pool_geometry(x, count, name, kernel_size, stride, padding, dilation, ceil_mode)
        places = max_pool_with_indices(x, geometry, name)[1]
        lead = x.ndim - count
        planes = prod(x.shape[:lead])
        whole = np.zeros((planes, prod(x.shape[lead:])), x.dtype)
        if not whole.size:
            return (Tensor._of(whole.reshape(x.shape)),)
        numbers = np.ascontiguousarray(g._array).reshape(planes, -1)
        if not combined_natively(
            whole, 1, np.ascontiguousarray(places).reshape(planes, -1), numbers, "sum"
        ):
            return None
        return (Tensor._of(whole.reshape(x.shape)),)

    return slopes


for _count in (1, 2, 3):
    direct(f"aten::max_pool{_count}d", of="self")(_largest(_count))


# --------------------------------------------------------------------------- means


def _repeated(g: Array, sizes: Ints, count: int) -> One | None:
    """Means of parts that all have one size and leave nothing out."""
    lead, made = g.shape[: g.ndim - count], g.shape[g.ndim - count :]
    whole = tuple(sizes[len(sizes) - count :])
    if any(not part or size % part for size, part in zip(whole, made, strict=True)):
        return None
    ratios = [size // part for size, part in zip(whole, made, strict=True)]
    shares = g / g.dtype.type(prod(ratios))
    thin = [size for part in made for size in (part, 1)]
    spread = [size for pair in zip(made, ratios, strict=True) for size in pair]
    repeated = np.broadcast_to(shares.reshape(*lead, *thin), (*lead, *spread))
    return (Tensor._of(repeated.reshape(tuple(sizes))),)


def _means(count: int) -> Callable[..., One | None]:
    def slopes(
        g: Tensor | None, self_sizes: Ints, kernel_size: Ints, stride: Ints, padding: Ints
    ) -> One | None:
        if g is None or not are_wide(g):
            return None
        kernels = each_of(kernel_size, count)
        if each_of(stride, count, kernels) != kernels or any(each_of(padding, count, [0])):
            return None
        whole = self_sizes[len(self_sizes) - count :]
        if any(size % kernel for size, kernel in zip(whole, kernels, strict=True)):
            return None
        return _repeated(g._array, self_sizes, count)

    return slopes


def _means_by(count: int) -> Callable[..., One | None]:
    plain = _means(count)

    def slopes(
        g: Tensor | None, self_sizes: Ints, kernel_size: Ints, stride: Ints, padding: Ints,
        divisor_override: int | None,
    ) -> One | None:  # fmt: skip
        given = g, self_sizes, kernel_size, stride, padding
        return plain(*given) if divisor_override is None else None

    return slopes


direct("aten::avg_pool1d", of="self")(_means(1))
direct("aten::avg_pool2d", of="self")(_means_by(2))
direct("aten::avg_pool3d", of="self")(_means_by(3))


@direct("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", of="self")
def adaptive(g: Tensor | None, self_sizes: Ints, output_size: Ints) -> One | None:
    """As many parts as there are results."""
    if g is None or not are_wide(g) or 0 in g.shape:
        return None
    return _repeated(g._array, self_sizes, len(output_size))

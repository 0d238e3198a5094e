"""Gradients of pooling, where they need no gradients themselves."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from ...kernels import Prepared, family, in_order
from ...memory.dtype import Array
from ...pooling.average_pool import divisors
from ...pooling.max_pool import max_pool_with_indices
from ...pooling.pool_checks import pool_geometry
from ...selection.places import combined_natively
from ...tensors.tensor import Tensor
from ..formulas.windows import each_of
from ..table.rows import Ints, direct
from ..table.rules import are_wide

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


def _shared_out(
    g: Array, space: Ints, kernel: Ints, stride: Ints, padding: Ints, include_pad: bool,
    divisor: int | None,
) -> Array | None:  # fmt: skip
    """What each element gets of the means of all windows that see it."""
    made = g.shape[g.ndim - len(space) :]
    settings = tuple(space), tuple(kernel), tuple(stride), tuple(padding), made
    by = divisors(*settings, include_pad, divisor, g.dtype)
    lines = by.size - made[-1]
    counts = np.multiply.outer(by[:lines], by[lines:]).reshape(made)
    counts.setflags(write=False)
    shares = family("elementwise.arrays").apply("divide", (g, counts))
    windows = family("convolutions.window_sums")
    found: Array | None = windows.shared_out(shares, *(settings[i] for i in (0, 1, 2, 3)))
    return found


_known_shared: Final = Prepared(_shared_out)


def _means(count: int) -> Callable[..., One | None]:
    def slopes(
        g: Tensor | None, self_sizes: Ints, kernel_size: Ints, stride: Ints, padding: Ints,
        count_include_pad: bool, divisor_override: int | None = None,
    ) -> One | None:  # fmt: skip
        if (
            g is None
            or not are_wide(g)
            or family("convolutions.window_sums") is None
            or 0 in self_sizes
        ):
            return None
        kernels = each_of(kernel_size, count)
        steps, pads = each_of(stride, count, kernels), each_of(padding, count, [0] * count)
        space = list(self_sizes[len(self_sizes) - count :])
        given = space, kernels, steps, pads, bool(count_include_pad), divisor_override
        found = _known_shared.call(in_order(g._array[...]), *given)
        return None if found is None else (Tensor._of(found),)

    return slopes


for _count in (1, 2, 3):
    direct(f"aten::avg_pool{_count}d", of="self")(_means(_count))


@direct("aten::adaptive_avg_pool1d", "aten::adaptive_avg_pool2d", of="self")
def adaptive(g: Tensor | None, self_sizes: Ints, output_size: Ints) -> One | None:
    """As many parts as there are results."""
    if g is None or not are_wide(g) or 0 in g.shape:
        return None
    return _repeated(g._array, self_sizes, len(output_size))

"""About how many elementary steps an operator takes, counted from the sizes it is given.

One native operator cannot be interrupted, so one whose work would take longer than a guarded call
may last is refused before it begins.  Most operators take a few steps for each element they read
(elements that a view repeats count each time) or write, and what they write is bounded by memory.
What takes more says so where it is declared (`cost=`): products, decompositions, windows.  A step
is what NumPy does in about half a nanosecond; products of floats are counted at a fifth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...ops.linear_algebra.einsum import from_sublists
from ...ops.memory.dtype import Array
from ...ops.quantized_tensors.packed_weights import (
    FloatConvolution,
    PackedConvolution,
    PackedLayer,
)
from ...ops.table.record import Cost, Operator

__all__ = ["work_of"]

Values = Sequence[Any]
Work = Callable[[Values], float]

_EACH = 4.0
"""Steps for each element that is read."""


def work_of(operator: Operator) -> Work:
    """The function that counts the steps of an operator from its arguments."""
    make = _COSTS.get(operator.cost)
    if make is not None:
        extra = make(operator)
        return lambda values: _read(values) + extra(values)
    return _read


def _read(values: Values) -> float:
    steps = 0.0
    for value in values:
        if isinstance(value, np.ndarray):
            steps += value.size
        elif type(value) is list and value and isinstance(value[0], np.ndarray):
            steps += sum(each.size for each in value if isinstance(each, np.ndarray))
    return _EACH * steps


def _arrays(values: Values) -> list[Array]:
    """The arrays among arguments; of packed layers, their weights."""
    given = (value.weight if isinstance(value, PackedLayer) else value for value in values)
    return [value for value in given if isinstance(value, np.ndarray)]


def _speed(array: Array) -> float:
    """Steps for a product and a sum: matrix products are fast for floats and quantized numbers."""
    return 0.2 if array.dtype.kind in "fcV" else 2.0


def _place(operator: Operator, *names: str) -> int:
    """Where an argument is; the first of several names that there is, -1 if none is."""
    known = [argument.name for argument in operator.signature.arguments]
    return next((known.index(name) for name in names if name in known), -1)


# --------------------------------------------------------------------------- products


def _product(first: int, transposed: bool = False) -> Callable[[Operator], Work]:
    """A matrix product of two arguments, the second one transposed for linear layers."""

    def make(operator: Operator) -> Work:
        def work(values: Values) -> float:
            pair = _arrays(values)[first : first + 2]
            return _of_matrices(pair[0], pair[1], transposed) if len(pair) == 2 else 0.0

        return work

    return make


def _of_matrices(a: Array, b: Array, transposed: bool) -> float:
    if not a.ndim or not b.ndim:
        return 0.0
    columns = 1 if b.ndim == 1 else b.shape[-2 if transposed else -1]
    rows = 1 if a.ndim == 1 else a.shape[-2]
    batches = 1.0
    for one, other in _from_the_end(a.shape[:-2], b.shape[:-2]):
        batches *= max(one, other)
    return _speed(a) * float(batches * rows * a.shape[-1] * columns)


def _from_the_end(a: tuple[int, ...], b: tuple[int, ...]) -> list[tuple[int, int]]:
    length = max(len(a), len(b))
    return list(zip((1,) * (length - len(a)) + a, (1,) * (length - len(b)) + b, strict=True))


def _inner(operator: Operator) -> Work:
    """Every row of one with every row of the other; `dims_self` says over what."""
    dims = _place(operator, "dims_self")

    def work(values: Values) -> float:
        a, b, *_ = [*_arrays(values), np.empty(0), np.empty(0)]
        if dims < 0:
            shared = float(a.shape[-1]) if a.ndim else 1.0
        else:
            shared = math.prod(float(a.shape[d]) for d in values[dims] if -a.ndim <= d < a.ndim)
        return _speed(a) * a.size * b.size / max(shared, 1.0)

    return work


def _chain(operator: Operator) -> Work:
    def work(values: Values) -> float:
        matrices = [value for value in values[0] if isinstance(value, np.ndarray)]
        largest = max((max(each.shape, default=1) for each in matrices), default=1)
        return 0.2 * largest * sum(each.size for each in matrices)

    return work


def _einsum(operator: Operator) -> Work:
    """Operands are joined from the left; what none of the rest has is summed at once."""

    def work(values: Values) -> float:
        equation, tensors = values[:2] if isinstance(values[0], str) else from_sublists(*values)
        terms, arrow, result = equation.replace(" ", "").partition("->")
        result = result if arrow else terms
        labels = [set(term) for term in terms.split(",")]
        sizes: dict[str, int] = {}
        for term, tensor in zip(terms.split(","), tensors, strict=False):
            for label, size in zip(term, getattr(tensor, "shape", ()), strict=False):
                sizes[label] = max(size, sizes.get(label, 1))
        steps, held = 0.0, labels[0]
        for at, own in enumerate(labels[1:], 1):
            held = held | own
            steps += math.prod(float(sizes.get(label, 1)) for label in held)
            held = held & set(result).union(*labels[at + 1 :])
        return 0.5 * steps

    return work


def _trilinear(operator: Operator) -> Work:
    def work(values: Values) -> float:
        given = _arrays(values)
        weights = given[2].size if len(given) > 2 else 1
        return given[0].size / max(given[0].shape[-1], 1) * weights if given[0].ndim else 0.0

    return work


def _convolution(operator: Operator) -> Work:
    """Every weight at every place of the result, or of the input where it is transposed."""
    stride, padding = _place(operator, "stride"), _place(operator, "padding")
    transposed = _place(operator, "transposed")
    by_name = "transpose" in operator.name

    def work(values: Values) -> float:
        given = _arrays(values)
        if len(given) < 2 or given[1].ndim < 3:
            return 0.0
        x, weight = given[:2]
        packed = next((value for value in values if isinstance(value, PackedLayer)), None)
        if isinstance(packed, PackedConvolution | FloatConvolution):
            return _of_windows(x, weight, packed.stride, packed.padding, packed.transpose)
        is_turned = by_name or (transposed >= 0 and bool(values[transposed]))
        steps, around = (values[at] if 0 <= at < len(values) else None for at in (stride, padding))
        return _of_windows(x, weight, steps, around, is_turned)

    return work


def _of_windows(
    x: Array, weight: Array, stride: object, padding: object, transposed: bool
) -> float:
    count = weight.ndim - 2
    places = float(x.shape[0] if x.ndim == weight.ndim else 1)
    for d in range(count):
        size = float(x.shape[d - count]) if x.ndim >= count else 1.0
        if not transposed:
            around = 2.0 * _number(padding, d, 0)
            kernel = weight.shape[d - count]
            size = max(size + around - kernel, 0) // max(_number(stride, d, 1), 1) + 1
        places *= size
    return _speed(x) * places * weight.size


def _at(values: Values, place: int, dim: int, default: int) -> int:
    """An int of an argument that is one int or a list of them."""
    return _number(values[place] if 0 <= place < len(values) else default, dim, default)


def _number(value: object, dim: int, default: int) -> int:
    if isinstance(value, list):
        value = value[min(dim, len(value) - 1)] if value else default
    return value if isinstance(value, int) else default


# --------------------------------------------------------------------------- matrices, pairs


def _matrices(operator: Operator) -> Work:
    """Decompositions: some multiple of the size of each matrix times its shorter side."""

    def work(values: Values) -> float:
        steps = 0.0
        for array in _arrays(values):
            if array.ndim >= 2:
                steps += 3.0 * array.size * min(array.shape[-2:])
        return steps

    return work


def _pairs(each: float, pair: float = 0.0) -> Callable[[Operator], Work]:
    """Every row of the first with every row of the second; of one, with itself.

    Steps for each element of a row, and for a pair of rows.
    """

    def work(values: Values) -> float:
        given = _arrays(values)[:2]
        if any(array.ndim < 2 for array in given):
            return 0.0
        rows = given[-1].shape[-2]
        first = given[0]
        steps: float = each + pair / max(first.shape[-1], 1)
        return steps * float(first.size * rows)

    return lambda operator: work


def _heads(operator: Operator) -> Work:
    """Every position of [batch, length, width] with every other in each head, and all weights."""
    heads = _place(operator, "num_head", "num_heads")

    def work(values: Values) -> float:
        x, *weights = _arrays(values)
        if x.ndim != 3:
            return 0.0
        pairs = float(x.shape[0] * x.shape[1]) * x.shape[1]
        each = 0.2 * sum(weight.size for weight in weights)
        steps: float = pairs * (0.5 * x.shape[2] + 4.0 * values[heads])
        return steps + each * float(x.shape[0] * x.shape[1])

    return work


def _windows(operator: Operator) -> Work:
    """Every element of every window."""
    kernel, stride = _place(operator, "kernel_size"), _place(operator, "stride", "output_size")

    def work(values: Values) -> float:
        x, sizes = values[0], values[kernel]
        if not isinstance(x, np.ndarray):
            return 0.0
        steps = float(x.size)
        for d in range(len(sizes) if isinstance(sizes, list) else 1):
            size = _at(values, kernel, d, 1)
            steps *= max(size / max(_at(values, stride, d, size), 1), 1.0)
        return _EACH * steps

    return work


def _recurrent(operator: Operator) -> Work:
    """Every weight for every row of the input."""

    def work(values: Values) -> float:
        x, lists = values[0], [v for v in values if type(v) is list]
        if not isinstance(x, np.ndarray) or not x.ndim:
            return 0.0
        weights = sum(w.size for each in lists for w in each if isinstance(w, np.ndarray))
        weights += sum(array.size for array in _arrays(values)[1:])
        return float(x.size / max(x.shape[-1], 1) * weights)

    return work


def _convolution_back(operator: Operator) -> Work:
    """Every weight at every place of the result, for the input and for the weight."""

    def work(values: Values) -> float:
        given = _arrays(values)
        if len(given) < 3 or given[2].ndim < 3:
            return 0.0
        grad, weight = given[0], given[2]
        places = grad.size / max(
            grad.shape[1 - weight.ndim] if grad.ndim >= weight.ndim - 1 else 1, 1
        )
        return 2.0 * _speed(grad) * places * weight.size

    return work


def _aligned(operator: Operator) -> Work:
    """Every target at every time."""

    def work(values: Values) -> float:
        scores, targets = values[0], values[1]
        if not isinstance(scores, np.ndarray) or not isinstance(targets, np.ndarray):
            return 0.0
        length = targets.shape[-1] if targets.ndim else 1
        return 20.0 * scores.size / max(scores.shape[-1:] or (1,)) * length

    return work


_COSTS: Final[dict[Cost, Callable[[Operator], Work]]] = {
    "added-product": _product(1),
    "aligned": _aligned,
    "attention": _pairs(0.5, 4.0),
    "attention-of-heads": _heads,
    "chain": _chain,
    "convolved": _convolution,
    "convolved-back": _convolution_back,
    "matrices": _matrices,
    "pairs": _pairs(2.0),
    "product": _product(0),
    "product-transposed": _product(0, transposed=True),
    "products-by-letters": _einsum,
    "products-of-rows": _inner,
    "recurrent": _recurrent,
    "trilinear": _trilinear,
    "windows": _windows,
}
"""How the steps are counted that an operator takes besides reading its arguments."""

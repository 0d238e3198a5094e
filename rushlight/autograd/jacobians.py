"""Jacobians of functions: by finite differences, by walking back, and by directions.

Numbers of tensors are told apart by place, complex ones as two, so a Jacobian is a matrix of real
numbers: a row for each number of a result, a column for each of an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ..frontend.foundations.port import Port
from ..ops.memory.dtype import STRIDED, Array, DType
from ..ops.table.grad_mode import no_grad
from ..ops.tensors.tensor import Tensor
from ..ops.tensors.with_memory import with_memory

__all__ = [
    *(
        "ABOVE",
        "Checked",
        "Function",
        "differences",
        "directed",
        "gradients",
        "outputs_of",
        "parts",
    ),
    *("tangents", "walked_back", "zeros_of"),
]

Function = Callable[..., object]

ABOVE: Final[Port[Callable[[str], Any]]] = Port()
"""What is asked of above, by name: `grad`, `vmap` and the module `forward_ad`."""


class Checked(NamedTuple):
    """An input whose gradients are checked."""

    place: int
    """Which of the arguments it is."""
    number: int
    """Which of the tensors among them it is."""
    tensor: Tensor

    @property
    def memory(self) -> Array:
        """The elements that may be changed: those that are there, of a sparse tensor."""
        tensor = self.tensor
        if tensor.layout is STRIDED:
            return tensor._array
        with no_grad():
            values = tensor._values() if tensor.is_sparse else tensor.values()
        return values._array

    def found(self, gradient: Tensor | None) -> Array:
        """The numbers of a gradient for these elements."""
        memory = self.memory
        if gradient is None:
            return np.zeros(parts(memory).size)
        if self.tensor.layout is STRIDED:
            return parts(with_memory(gradient)._array)
        with no_grad():
            dense = gradient.detach().to_dense()
            mask = self.tensor.detach()
            if mask.is_sparse:
                places = tuple(mask._indices()._array)
                return parts(np.asarray(dense._array[places]))
            return parts(dense.sparse_mask(mask.to_sparse().coalesce())._values()._array)


def parts(array: Array) -> Array:
    """The numbers of an array in a row, complex ones as two."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype).copy() if flat.dtype.kind == "c" else flat.copy()


def outputs_of(func: Function, given: Sequence[object]) -> list[Tensor]:
    """The results of a function that are tensors of floats or complex numbers."""
    made = func(*given)
    several = [made] if isinstance(made, Tensor) or made is None else list(made)  # type: ignore[call-overload]
    return [t for t in several if isinstance(t, Tensor) and _is_smooth(t.dtype)]


def _is_smooth(dtype: DType) -> bool:
    return dtype.is_floating_point or dtype.is_complex


# --------------------------------------------------------------------------- finite differences


def differences(
    func: Function, given: Sequence[object], checked: Checked, eps: float, along: Array | None
) -> list[Array]:
    """For each result its Jacobian by finite differences; its product with `along` if given.

    Raises:
        AssertionError: sizes or dtypes of results depend on elements of inputs.
    """
    memory = checked.memory
    columns: list[list[Array]] = []
    for step in _steps(memory, along):
        before = memory.copy()
        memory[...] = before + eps * step
        above = _detached(func, given)
        memory[...] = before - eps * step
        below = _detached(func, given)
        memory[...] = before
        columns.append([_slope(*pair, eps) for pair in zip(above, below, strict=True)])
    return _together(columns, func, given, along)


def _together(
    columns: list[list[Array]], func: Function, given: Sequence[object], along: Array | None
) -> list[Array]:
    """For each result its Jacobian of such columns; `along` gave the only one."""
    if along is not None:
        return columns[0]
    if not columns:
        return [np.zeros((parts(with_memory(o)._array).size, 0)) for o in _detached(func, given)]
    return [np.array(column).T for column in zip(*columns, strict=True)]


def _steps(memory: Array, along: Array | None) -> Iterator[Array]:
    """The array of the numbers `along`; without, one with a single one in each place, and then one
    with a single `1j`."""
    if along is not None:
        yield _of_parts(along, memory)
        return
    for place in np.ndindex(memory.shape):
        for unit in (1.0, 1j) if memory.dtype.kind == "c" else (1.0,):
            step = np.zeros(memory.shape, memory.dtype)
            step[place] = unit
            yield step


def _of_parts(numbers: Array, like: Array) -> Array:
    """The array that has these numbers."""
    kind = like.real.dtype if like.dtype.kind == "c" else like.dtype
    return numbers.astype(kind).view(like.dtype).reshape(like.shape)


def _detached(func: Function, given: Sequence[object]) -> list[Tensor]:
    return [each.detach().clone() for each in outputs_of(func, given)]


def _slope(above: Tensor, below: Tensor, eps: float) -> Array:
    for what, one, other in (
        ("shape", above.shape, below.shape),
        ("dtype", above.dtype, below.dtype),
    ):
        if one != other:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                f"on index 0 by {eps}, but got: {one} and {other}."
            )
    return (parts(with_memory(above)._array) - parts(with_memory(below)._array)) / (2 * eps)


# --------------------------------------------------------------------------- walking back


def gradients(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], starts: Sequence[Tensor]
) -> list[Tensor | None]:
    """The gradients of inputs, None for those that results were not made of."""
    pairs = [(o, s) for o, s in zip(outputs, starts, strict=True) if o.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    results, begins = [o for o, _ in pairs], [s for _, s in pairs]
    assert ABOVE.installed is not None
    grad = ABOVE.installed("grad")
    found: tuple[Tensor | None, ...] = grad(
        results, inputs, begins, retain_graph=True, allow_unused=True
    )
    return list(found)


def walked_back(output: Tensor, inputs: Sequence[Checked], along: Array | None) -> list[Array]:
    """For each input its Jacobian by walking back; the product of `along` with it if given."""
    found = []
    for row in _steps(with_memory(output.detach())._array, along):
        got = gradients([output], [each.tensor for each in inputs], [Tensor._of(row)])
        found.append([each.found(grad) for each, grad in zip(inputs, got, strict=True)])
    if along is not None:
        return found[0]
    if not found:
        return [np.zeros((0, parts(each.memory).size)) for each in inputs]
    return [np.array(column) for column in zip(*found, strict=True)]


# --------------------------------------------------------------------------- directions


def directed(
    func: Function, given: Sequence[object], checked: Checked, along: Array | None,
    others: Sequence[Checked],
) -> list[Array]:  # fmt: skip
    """For each result its Jacobian by directions; its product with `along` if given.

    The directions of `others` are zeros.
    """
    zeros = zeros_of(others)
    columns = [
        [
            _numbers(tangent, made)
            for tangent, made in tangents(func, given, {**zeros, checked.place: Tensor._of(step)})
        ]
        for step in _steps(checked.memory, along)
    ]
    return _together(columns, func, given, along)


def zeros_of(checked: Sequence[Checked]) -> dict[int, Tensor]:
    """Zeros as directions of inputs, by place."""
    return {each.place: Tensor._of(np.zeros_like(each.memory)) for each in checked}


def tangents(
    func: Function, given: Sequence[object], directions: dict[int, Tensor]
) -> list[tuple[Tensor | None, Tensor]]:
    """The directions of the results, and the results, for those of some arguments by place."""
    assert ABOVE.installed is not None
    forward_ad = ABOVE.installed("forward_ad")
    with forward_ad.dual_level():
        args = [each.detach() if isinstance(each, Tensor) else each for each in given]
        for place, direction in directions.items():
            args[place] = forward_ad.make_dual(args[place], direction)
        made = outputs_of(func, args)
        return [(forward_ad.unpack_dual(each).tangent, each.detach()) for each in made]


def _numbers(tangent: Tensor | None, made: Tensor) -> Array:
    return parts(
        np.zeros_like(made._array) if tangent is None else with_memory(tangent.detach())._array
    )

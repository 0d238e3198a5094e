"""Comparing gradients with finite differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..module_names import names_of
from ..ops.gradients.autograd import Node, edge_of
from ..ops.gradients.edges import target_of
from ..ops.gradients.tape import roots_of
from ..ops.gradients.walk import run_backward
from ..ops.memory.dtype import Array
from ..ops.tensors.tensor import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Gradients and finite differences do not agree."""


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, Tensor) else list(value)


def _outputs(func: Callable[..., object], inputs: Sequence[object]) -> list[Tensor]:
    found = _several(func(*inputs))
    return [t for t in found if isinstance(t, Tensor) and t._array.dtype.kind in "fc"]


def gradcheck(
    func: Callable[..., object],
    inputs: object,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of a function agree with finite differences.

    Args:
        func: takes the inputs, gives one tensor or several.
        inputs: the arguments; those that require gradients are checked (use float64).
        eps: how far the differences reach.
        atol: how much two values may differ, and
        rtol: how much relative to the value.
        raise_exception: whether to raise rather than to return False.

    Raises:
        GradcheckError: they do not agree.
        ValueError: no input requires gradients.
    """
    given = _several(inputs)
    checked = [t for t in given if isinstance(t, Tensor) and t.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them "
            "have requires_grad=True."
        )
    for number, _ in enumerate(_outputs(func, given)):
        for place, tensor in enumerate(checked):
            analytic = _analytic(func, given, tensor, number)
            numeric = _numeric(func, given, tensor, number, eps)
            if not np.allclose(analytic, numeric, rtol, atol, equal_nan=True):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input {place},\n"
                    f"numerical:{Tensor._of(numeric)!r}\nanalytical:{Tensor._of(analytic)!r}\n"
                )
    return True


def _analytic(
    func: Callable[..., object], given: Sequence[object], tensor: Tensor, number: int
) -> Array:
    """The Jacobian by walking back from each element of a result; complex parts stand apart."""
    output = _outputs(func, given)[number]
    count = output._array.size
    units = [1.0, 1j] if output._array.dtype.kind == "c" else [1.0]
    rows = []
    for place in range(count):
        for unit in units:
            first = np.zeros(count, output._array.dtype)
            first[place] = unit
            start = Tensor._of(first.reshape(output._array.shape))
            edge = target_of(tensor)
            found: dict[tuple[Node, int], Tensor] = {}
            if edge is not None and edge_of(output) is not None:
                roots = roots_of([output], [start])
                found = run_backward(roots, [edge], keep=True, create=False)
            got = found.get(edge) if edge is not None else None
            array = (
                np.zeros(tensor._array.shape, tensor._array.dtype) if got is None else got._array
            )
            rows.append(_real(array))
    return np.array(rows).reshape(count * len(units), _real(tensor._array).size)


def _real(array: Array) -> Array:
    """The numbers of an array in a row, complex ones as two."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype).copy() if flat.dtype.kind == "c" else flat.copy()


def _numeric(
    func: Callable[..., object], given: Sequence[object], tensor: Tensor, number: int, eps: float
) -> Array:
    """The Jacobian by finite differences."""
    array = tensor._array
    columns = []
    units = [1.0, 1j] if array.dtype.kind == "c" else [1.0]
    for place in np.ndindex(array.shape):
        for unit in units:
            before = array[place]
            array[place] = before + eps * unit
            above = _real(_outputs(func, given)[number].detach()._array)
            array[place] = before - eps * unit
            below = _real(_outputs(func, given)[number].detach()._array)
            array[place] = before
            columns.append((above - below) / (2 * eps))
    if not columns:
        return np.zeros((_real(_outputs(func, given)[number].detach()._array).size, 0))
    return np.array(columns).T


def gradgradcheck(
    func: Callable[..., object],
    inputs: object,
    grad_outputs: object = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    **options: object,
) -> bool:
    """Whether the gradients of a function's gradients agree with finite differences.

    Raises:
        GradcheckError: they do not agree.
    """
    given = _several(inputs)
    outputs = _outputs(func, given)
    if grad_outputs is None:
        source = np.random.default_rng(0)
        grads = []
        for output in outputs:
            values = source.standard_normal(output._array.shape).astype(output._array.dtype)
            grads.append(Tensor._of(np.asarray(values)).requires_grad_())
    else:
        grads = _several(grad_outputs)
    count = len(given)

    def gradients(*args: Tensor) -> tuple[Tensor, ...]:
        results = _outputs(func, args[:count])
        wanted = [a for a in args[:count] if isinstance(a, Tensor) and a.requires_grad]
        pairs = [(o, g) for o, g in zip(results, args[count:], strict=True) if o.requires_grad]
        roots = roots_of([o for o, _ in pairs], [g for _, g in pairs])
        edges = [edge for edge in map(target_of, wanted) if edge is not None]
        found = run_backward(roots, edges, keep=True, create=True)
        return tuple(found[edge] for edge in edges if edge in found)

    return gradcheck(
        gradients, [*given, *grads], eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )


__getattr__ = names_of(__name__)

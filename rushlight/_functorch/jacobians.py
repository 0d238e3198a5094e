"""Jacobians and Hessians of functions of tensors, in structures of any kind."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.tensors.tensor import Tensor
from ..utils._pytree import tree_flatten, tree_unflatten
from .eager_transforms import (
    _check_smooth,
    _checked_outputs,
    _chosen,
    _parted,
    _Recorded,
    _with_chosen,
    check_smooth,
)

__all__ = ["hessian", "jacfwd", "jacrev"]


def _rows(run: _Recorded, output: Tensor) -> list[list[Tensor]]:
    """For each element of an output the gradients of the inputs."""
    count = output.numel()
    units = eager_function("aten::eye")(count, dtype=output.dtype, device=output.device)
    vectors = units.reshape([count, *output.shape]).unbind(0)
    create = run.creates([output])
    return [run.flat_gradients([output], [each], create, keep=True) for each in vectors]


def _jacobian_of(run: _Recorded, output: Tensor) -> object:
    """The derivatives of an output by all inputs, in the inputs' structure."""
    rows = _rows(run, output)
    tables = [
        eager_function("aten::stack")([row[place] for row in rows]).reshape(
            [*output.shape, *x.shape]
        )
        if rows
        else x.new_zeros([*output.shape, *x.shape])
        for place, x in enumerate(run.tensors)
    ]
    return tree_unflatten(tables, run.spec)


def _check_real(values: list[Tensor], name: str, what: str) -> None:
    for place, each in enumerate(values):
        if isinstance(each, Tensor) and each.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {place}"
            )


def _jacobian(
    func: Callable[..., object], argnums: object, has_aux: bool, name: str
) -> Callable[..., object]:
    backwards = name == "jacrev"

    @functools.wraps(func)
    def wrapped(*args: object, **kwargs: object) -> object:
        chosen = _chosen(args, argnums)
        _check_real(tree_flatten(chosen)[0], name, "inputs")
        if not backwards:
            for each in tree_flatten(chosen)[0]:
                check_smooth(each, "primal")
        run = _Recorded(
            lambda given: func(*_with_chosen(args, argnums, given), **kwargs),
            chosen,
            forwards=not backwards,
        )
        begin = "vjp(f, *primals)" if backwards else "jvp(f, primals, tangents)"
        output, aux = _parted(run.result, has_aux, begin)
        flat, spec = _checked_outputs(output, begin)
        if backwards:
            _check_smooth(flat)
        _check_real(flat, name, "outputs")
        found = tree_unflatten([_jacobian_of(run, each) for each in flat], spec)
        return (found, run.shown(aux)) if has_aux else found

    return wrapped


def jacrev(
    func: Callable[..., object],
    argnums: int | tuple[int, ...] = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of `func`: of each output's shape, then each input's.

    `chunk_size` is how many rows torch computes at once; rows are computed one by one here.

    Raises:
        ValueError: `chunk_size` is 0 or less.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "jacrev")


def jacfwd(
    func: Callable[..., object],
    argnums: object = 0,
    has_aux: bool = False,
    *,
    randomness: str = "error",
) -> Callable[..., Any]:
    """The same as `jacrev`; torch computes it column by column."""
    return _jacobian(func, argnums, has_aux, "jacfwd")


def hessian(func: Callable[..., object], argnums: int | tuple[int, ...] = 0) -> Callable[..., Any]:
    """A function that gives the second derivatives of `func`: of the output's shape, then twice the
    input's."""
    return jacfwd(jacrev(func, argnums), argnums)

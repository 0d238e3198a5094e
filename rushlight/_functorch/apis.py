"""`vmap` and gradients, and `chunk_vmap`, under the name of torch's module."""

from __future__ import annotations

import functools
from collections.abc import Callable

from .eager_transforms import grad, grad_and_value
from .vmap import _process_batched_inputs, vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]


def chunk_vmap(
    func: Callable[..., object],
    in_dims: object = 0,
    out_dims: object = 0,
    randomness: str = "error",
    chunks: int = 2,
) -> Callable[..., object]:
    """A function that runs `func` for each slice of its inputs, in `chunks` rounds.

    Args:
        func: takes and gives tensors, as for `vmap`.
        in_dims: the dimensions along which inputs are cut, as for `vmap`.
        out_dims: where the slices lie in the results, as for `vmap`.
        randomness: "error", "same" or "different" random numbers for the slices.
        chunks: into how many pieces the slices are cut.

    Raises:
        RuntimeError: `chunks` is not positive, when the function is called.
    """

    @functools.wraps(func)
    def wrapped(*args: object, **kwargs: object) -> object:
        if chunks <= 0:
            raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
        count = _process_batched_inputs(in_dims, args, func)[0]
        size = max(1, -(-count // chunks))
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return wrapped

"""Copies of what compressed sparse tensors are made of: `torch.crow_indices_copy` and its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.memory.dtype import LAYOUTS
from ..ops.sparse_tensors.tensors import is_sparse
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("ccol_indices_copy", "col_indices_copy", "crow_indices_copy", "indices_copy"),
    *("resize_as_sparse_", "row_indices_copy", "values_copy"),
]


def _copying(part: str) -> Callable[..., Tensor]:
    def function(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        if is_sparse(input) and input.layout is LAYOUTS["sparse_coo"]:
            raise NotImplementedError(
                f"Could not run 'aten::{part}_copy' with arguments from the 'SparseCPU' backend."
            )
        made: Tensor = getattr(input, part)().clone()
        return made if out is None else out.resize_as_(made).copy_(made)

    function.__name__ = function.__qualname__ = f"{part}_copy"
    function.__doc__ = f"""A copy of `input.{part}()`, of a tensor by rows or columns.

    Raises:
        NotImplementedError: the tensor is one by coordinates.
        RuntimeError: it has no such part.
    """
    return function


ccol_indices_copy = _copying("ccol_indices")
col_indices_copy = _copying("col_indices")
crow_indices_copy = _copying("crow_indices")
indices_copy = _copying("indices")
row_indices_copy = _copying("row_indices")
values_copy = _copying("values")


def resize_as_sparse_(input: Tensor, the_template: object) -> Any:
    """Give a sparse tensor the sizes of another one."""
    return input.resize_as_sparse_(the_template)

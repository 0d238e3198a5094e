"""Reductions that leave masked elements out, and tensors with a mask of their own.

The names are those of `torch.masked`.
"""

from __future__ import annotations

from typing import Any

from ..module_names import names_of
from ..ops.eager import masked_sparse as _sparse
from ..ops.eager import masks as _masks
from ..ops.eager import namespace as _namespace  # gives tensors their methods
from ..ops.eager.masked import FUNCTIONS as _FUNCTIONS
from ..ops.eager.masked import filled_for as _filled_for
from ..ops.eager.masked import output_mask as _of_results
from ..ops.tensors.tensor import Tensor

__all__ = sorted(_FUNCTIONS)

assert _namespace


def _combine_input_and_mask(op: Any, input: Any, mask: Tensor | None, *args: object) -> Tensor:
    """The input with what a masked function starts from in the place of what is masked.

    Args:
        op: the function, by whose name it is known.
        input: a tensor, or a MaskedTensor, whose own mask counts in the place of `mask`.
        args: what the function is called with besides.
    """
    if hasattr(input, "get_mask"):
        input, mask = input.get_data(), input.get_mask()
    if mask is None:
        return input  # type: ignore[no-any-return]
    if not callable(op):
        raise ValueError(
            f"_combine_input_and_mask expected masked operation (got {type(op).__name__} object)"
        )
    return _filled_for(op.__name__, input, mask, *args)


_canonical_dim = _masks.canonical_dims
_input_mask, _output_mask = _masks.input_mask, _of_results
_where = _sparse.where

globals().update(_FUNCTIONS)
__getattr__ = names_of(__name__, "maskedtensor")


def __dir__() -> list[str]:
    return sorted(_FUNCTIONS)

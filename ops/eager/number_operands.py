"""Plain numbers in the place of tensors: `torch.add(2, x)`."""

from __future__ import annotations

from typing import Final

from ..memory.dtype import default_dtype
from ..table.pointwise import cast, number_as
from ..table.promotion import common_dtype_with, number_dtype
from ..tensors.tensor import Tensor

__all__ = ["as_operands"]

_DIVISIONS: Final = frozenset({"div", "divide", "true_divide"})
_SUBTRACTIONS: Final = frozenset({"sub", "subtract"})


def as_operands(name: str, first: object, second: object) -> tuple[object, object]:
    """A number before a tensor as the tensor it stands for, and the tensor.

    A number leaves the dtype of a tensor as it is where it can: a complex one meets wide unsigned
    numbers, which two tensors cannot.  Divided are floats: the number is never cast to the
    tensor's whole numbers.  A bool stays one where it is refused.
    """
    if isinstance(first, (bool, int, float, complex)) and isinstance(second, Tensor):
        dtype = common_dtype_with(second._array, first)
        if isinstance(first, int) and second._array.ndim:
            dtype = number_dtype(first)
        if name in _DIVISIONS and dtype.kind in "biu":
            dtype = default_dtype.float
        if name in _SUBTRACTIONS and isinstance(first, bool):
            dtype = number_dtype(first)
        if dtype.kind == "c" and second._array.dtype.kind == "u" and not second._array.ndim:
            second = Tensor._of(cast(second._array, dtype))
        return Tensor._of(number_as(first, dtype)), second
    return first, second

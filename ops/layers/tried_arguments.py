"""Operators with which torch tries out arguments that need not be given: lists, numbers, texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ..memory.dtype import Array, dtype_of
from ..memory.errors import OperatorError
from ..table.table import operator

_UNMET: Final = (
    "Expected values.dim() == 1 to be true, but got false.  (Could this error message be "
    "improved?  If so, please report an enhancement request to PyTorch.)"
)


def _sums(values: Array, addends: Sequence[float] | None, dtype: type[np.generic]) -> Array:
    """The sums of a vector's elements and of numbers; the vector itself where there are none."""
    if addends is None:
        return values
    if values.ndim != 1:
        raise OperatorError(_UNMET)
    kind = dtype_of(values).scalar_name
    if values.dtype != dtype:
        wanted = "Int" if dtype is np.int32 else "Float"
        raise OperatorError(f"expected scalar type {wanted} but found {kind}")
    if len(addends) < len(values):
        count = len(addends)
        raise OperatorError(f"ArrayRef: invalid index Index = {count}; Length = {count}")
    return values + np.array(addends[: len(values)], dtype)


@operator("aten::_test_optional_intlist(Tensor values, int[]? addends) -> Tensor", face="layer")
@operator(
    "aten::_test_optional_filled_intlist(Tensor values, int[2]? addends) -> Tensor", face="layer"
)
def _with_integers(values: Array, addends: Sequence[int] | None) -> Array:
    return _sums(values, addends, np.int32)


@operator("aten::_test_optional_floatlist(Tensor values, float[]? addends) -> Tensor", face="layer")
def _with_floats(values: Array, addends: Sequence[float] | None) -> Array:
    return _sums(values, addends, np.float32)


@operator(
    r"""aten::_test_string_default(Tensor dummy, str a="\"'\\", str b='"\'\\') -> Tensor""",
    out="",
    face="layer",
)
def _with_texts(dummy: Array, a: str, b: str) -> Array:
    if a != (wanted := "\"'\\") or b != wanted:
        raise OperatorError("Default A failed" if a != wanted else "Default B failed")
    return dummy

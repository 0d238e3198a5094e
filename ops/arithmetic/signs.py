"""Signs of tensors' numbers."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import Prepared, of_floats
from ..memory.complex_parts import parts
from ..memory.dtype import Array
from ..memory.errors import OperatorError
from ..table.formula import formula
from ..table.inline import ON_FLOAT32, inline, small
from ..table.out_dtypes import FOUND
from ..table.pointwise import as_array
from ..table.refusals import Refusal
from ..table.table import operator

__all__ = ["absolute", "neg"]

_BOOL: Final = np.dtype(np.bool_)


_refuse_neg: Final = Refusal("u", "neg_cpu")
_refuse_abs: Final = Refusal("bu", "abs_cpu")
_refuse_positive: Final = Refusal(
    "", fails=("b", "The `+` operator, on a bool tensor is not supported.")
)


@operator(
    "aten::neg(Tensor self) -> Tensor",
    formula=formula("negate"),
    inline=inline("-{0}", ON_FLOAT32),
    native=small("negate", 1),
    out_dtype=FOUND,
)
def neg(self: Array) -> Array:
    if self.dtype is _BOOL:
        raise OperatorError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead.",
            code="dtype-mismatch",
            headline="`-` does not work on a bool tensor",
        )
    _refuse_neg(self.dtype)
    if self.dtype.kind == "c":  # of which NumPy changes one after the other
        made = np.empty_like(self)
        np.negative(parts(self), parts(made))
        return made
    return as_array(np.negative(self))


def _length_of(real: Array, imag: Array) -> Array:
    """Rounded once, which NumPy's own is not."""
    found = of_floats("hypot", real, imag)
    return as_array(np.hypot(real, imag)) if found is None else found


_length: Final = Prepared(_length_of)


@operator(
    "aten::abs(Tensor self) -> Tensor",
    "prim::abs(Tensor x) -> Tensor",
    formula=formula("absolute"),
    native=small("absolute", 1),
)
def absolute(self: Array) -> Array:
    _refuse_abs(self.dtype)
    if self.dtype.kind == "c":
        self = self[...]  # which no other thread can change
        return _length.call(self.real, self.imag)  # type: ignore[no-any-return]
    return as_array(np.absolute(self))


@operator("aten::positive(Tensor(a) self) -> Tensor(a)", gradients={"self": lambda g: g})
def positive(self: Array) -> Array:
    _refuse_positive(self.dtype)
    return self

"""Numbers of tensors rounded to whole ones, or to so many decimals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ..memory.dtype import Array
from ..table.declare import with_twin
from ..table.formula import Part, formula
from ..table.out_dtypes import FOUND
from ..table.pointwise import as_array
from ..table.promotion import kind
from ..table.refusals import Refusal

__all__ = ["round_decimals"]


def _rounder(refuse: Refusal, kernel: Callable[..., object]) -> Callable[[Array], Array]:
    def rounded(self: Array) -> Array:
        refuse(self.dtype)
        if kind(self.dtype) < 2:
            return as_array(np.positive(self))  # a copy that lies like it
        return as_array(kernel(self))

    return rounded


def _to_whole(name: str) -> Refusal:
    said = ("qc", f"{name} is not supported for complex inputs")
    return Refusal("b", f"{name}_vml_cpu", says=said)


_refuse_round: Final = Refusal("bqc", "round_vml_cpu")
_refuse_round_decimals: Final = Refusal("biuqc", "round_cpu")
_refuse_no_decimals: Final = Refusal("biuqc", "round_vml_cpu")
_round: Final = _rounder(_refuse_round, np.rint)

for _name, _refuse, _kernel, _alias in (
    *(("ceil", _to_whole("ceil"), np.ceil, ""), ("floor", _to_whole("floor"), np.floor, "")),
    *(("trunc", _to_whole("trunc"), np.trunc, "fix"), ("round", _refuse_round, np.rint, "")),
):
    _forward = _rounder(_refuse, _kernel)
    for _spelling in filter(None, (_name, _alias)):
        with_twin(
            f"aten::{_spelling}(Tensor self) -> Tensor",
            first_name=_name,
            formula=formula(_kernel.__name__, meets="own"),
            out_dtype=FOUND,
        )(_forward)


_MOST_DIGITS: Final = 308
"""More places than that make a power of ten that no float64 holds."""


def _parts_of_decimals(result: Array, self: Array, decimals: int) -> list[Part]:
    if self.dtype.kind != "f" or self.itemsize < 4 or not 0 < abs(decimals) <= _FEW_DIGITS:
        return []
    first, last = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    steps = [(first, "", (0, 1)), ("rint", "", (2,)), (last, "", (3, 1))]
    return [Part(steps, [self, 10.0 ** abs(decimals)], result)]


_FEW_DIGITS: Final = 10
"""Places whose power of ten is a float32."""


@with_twin(
    "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
    parts=_parts_of_decimals,
    out_dtype=FOUND,
)
def round_decimals(self: Array, decimals: int) -> Array:
    if not decimals:
        _refuse_no_decimals(self.dtype)
        return _round(self)
    _refuse_round_decimals(self.dtype)
    if self.itemsize < 4:
        return round_decimals(self.astype(np.float32), decimals).astype(self.dtype)
    scale = self.dtype.type(10.0 ** abs(decimals) if abs(decimals) <= _MOST_DIGITS else math.inf)
    if decimals > 0:
        return as_array((np.rint(self * scale) / scale).astype(self.dtype))
    return as_array((np.rint(self / scale) * scale).astype(self.dtype))

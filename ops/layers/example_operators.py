"""The operators of the namespace `_test`, with which torch tries out how operators are called."""

from __future__ import annotations

from ..memory.dtype import Array
from ..shapes.join import cat
from ..table.table import operator
from .activation import leaky_relu


@operator("_test::leaky_relu(Tensor self, float v=0.01) -> Tensor")
def _leaky_relu(self: Array, v: float) -> Array:
    return leaky_relu(self, v)


@operator("_test::cat(Tensor[] inputs) -> Tensor")
def _cat(inputs: list[Array]) -> Array:
    return cat(inputs, 0)


@operator("_test::get_first(str[][] _0) -> str _0")
def _get_first(_0: list[list[str]]) -> str:
    return _0[0][0]

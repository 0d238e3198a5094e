"""Sizes, strides and places as graphs of torch's tracers ask for them: `torch.ops.aten.sym_size`.

They are those of `size`, `stride` and their like.  Sizes are ints here, never symbols.
"""

from __future__ import annotations

from ..memory.dtype import Array
from ..table.direct import is_dense
from ..table.table import operator
from . import query

__all__: list[str] = []


@operator("aten::sym_size(Tensor self) -> SymInt[]", face="operator", order="int -")
def size(self: Array) -> list[int]:
    return query.size(self)


@operator("aten::sym_size.int(Tensor self, int dim) -> SymInt", face="operator")
def size_of(self: Array, dim: int) -> int:
    return query.size_of(self, dim)


@operator("aten::sym_numel(Tensor self) -> SymInt", face="operator")
def numel(self: Array) -> int:
    return query.numel(self)


@operator("aten::sym_stride(Tensor self) -> SymInt[]", face="operator", order="int -")
def stride(self: Array) -> list[int]:
    return query.stride(self)


@operator("aten::sym_stride.int(Tensor self, int dim) -> SymInt", face="operator")
def stride_of(self: Array, dim: int) -> int:
    return query.stride_of(self, dim)


@operator("aten::sym_storage_offset(Tensor self) -> SymInt", face="operator")
def storage_offset(self: Array) -> int:
    return query.storage_offset(self)


@operator("aten::is_non_overlapping_and_dense(Tensor self) -> bool", face="operator")
def is_non_overlapping_and_dense(self: Array) -> bool:
    return is_dense(self)

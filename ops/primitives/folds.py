"""Operators of `prims` that fold dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..eager.aten import aten
from ..memory.dtype import DType
from ..memory.errors import UnsupportedOperator, WrongType
from ..tensors.tensor import Tensor
from .declaring import check_dims, primitive

__all__: list[str] = []

Dims = Sequence[int] | None


def _checked(name: str, inp: Tensor, dims: Dims, output_dtype: DType | None) -> list[int]:
    """The dimensions that are folded.

    Raises:
        WrongType: all are asked for by None, or another dtype of data, neither of which torch does.
    """
    if dims is None:
        raise WrongType("'NoneType' object is not iterable")
    check_dims(dims, inp.dim())
    if output_dtype is not None and inp.device.type != "meta":
        raise WrongType(f"{name}() got an unexpected keyword argument 'output_dtype'")
    return list(dims)


def _fold(name: str, function: Callable[[Tensor, list[int]], Tensor]) -> None:
    @primitive(f"{name}(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
    def run(inp: Tensor, dims: Dims, *, output_dtype: DType | None = None) -> Tensor:
        made = function(inp, _checked(name, inp, dims, output_dtype))
        return made if output_dtype is None else made.to(output_dtype)


def _product(inp: Tensor, dims: list[int]) -> Tensor:
    if not dims:
        return aten.clone(inp)
    for dim in sorted(dims, reverse=True):
        inp = aten.prod(inp, dim)
    return inp


def _xor_sum(inp: Tensor, dims: list[int]) -> Tensor:
    raise UnsupportedOperator("xor_sum only implemented with inductor")


for _name in ("sum", "amax", "amin"):
    _fold(_name, getattr(aten, _name))
_fold("prod", _product)
_fold("xor_sum", _xor_sum)


@primitive(
    "var(Tensor inp, int[]? dims, float? correction=1, *, ScalarType? output_dtype=None) -> Tensor"
)
def _var(
    inp: Tensor, dims: Dims, correction: float | None = 1, *, output_dtype: DType | None = None
) -> Tensor:
    chosen = _checked("var", inp, dims, output_dtype)
    made = aten.var(inp, chosen, correction=correction)
    return made if output_dtype is None else made.to(output_dtype)

"""Operators of `prims` that make tensors, and the numbers at the ends of dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..eager.aten import aten
from ..eager.new_leaves import as_leaf
from ..memory.dtype import Device, DType
from ..memory.errors import WrongType
from ..random_numbers.random import Generator
from ..tensors.construct import finfo, iinfo
from ..tensors.tensor import Tensor
from .declaring import check_sizes, primitive, require

__all__: list[str] = []

Ints = Sequence[int]


def _wanted(made: Tensor, requires_grad: bool) -> Tensor:
    if requires_grad:
        as_leaf(made)
    return made


@primitive(
    "empty(SymInt[] shape, *, ScalarType dtype, Device device, bool requires_grad) -> Tensor",
    undefined=True,
    of_leaves=True,
)
def _empty(shape: Ints, *, dtype: DType, device: Device, requires_grad: bool) -> Tensor:
    return _wanted(aten.empty(shape, dtype=dtype, device=device), requires_grad)


@primitive(
    "empty_strided(SymInt[] shape, SymInt[] strides, *, ScalarType dtype, Device device, "
    "bool requires_grad) -> Tensor",
    undefined=True,
    of_leaves=True,
)
def _empty_strided(
    shape: Ints, strides: Ints, *, dtype: DType, device: Device, requires_grad: bool
) -> Tensor:
    made = aten.empty_strided(shape, strides, dtype=dtype, device=device)
    return _wanted(made, requires_grad)


@primitive(
    "empty_permuted(SymInt[] shape, int[] physical_layout, *, ScalarType dtype, Device device, "
    "bool requires_grad) -> Tensor",
    undefined=True,
    of_leaves=True,
)
def _empty_permuted(
    shape: Ints, physical_layout: Ints, *, dtype: DType, device: Device, requires_grad: bool
) -> Tensor:
    require(
        len(physical_layout) == len(shape),
        "Number of dimensions in the tensor input does not match the length of the physical layout;"
        f" i.e. len(size) = {len(shape)} is not equal to len(physical_layout) = "
        f"{len(physical_layout)}",
    )
    made = aten.empty_permuted(shape, physical_layout, dtype=dtype, device=device)
    return _wanted(made, requires_grad)


@primitive(
    "full(SymInt[] shape, Scalar fill_value, *, ScalarType dtype, Device device, "
    "bool requires_grad) -> Tensor",
    of_leaves=True,
)
def _full(
    shape: Ints, fill_value: Any, *, dtype: DType, device: Device, requires_grad: bool
) -> Tensor:
    check_sizes(shape)
    return _wanted(aten.full(shape, fill_value, dtype=dtype, device=device), requires_grad)


@primitive(
    "full_like(Tensor a, Scalar fill_value, *, ScalarType dtype, Device device, "
    "bool requires_grad) -> Tensor",
    of_leaves=True,
)
def _full_like(
    a: Tensor, fill_value: Any, *, dtype: DType, device: Device, requires_grad: bool
) -> Tensor:
    return _wanted(aten.full_like(a, fill_value, dtype=dtype, device=device), requires_grad)


@primitive(
    "iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, "
    "bool requires_grad) -> Tensor",
    of_leaves=True,
)
def _iota(
    length: int, *, start: int, step: int, dtype: DType, device: Device, requires_grad: bool
) -> Tensor:
    is_whole = not (dtype.is_floating_point or dtype.is_complex or dtype.name == "bool")
    require(is_whole, "prims.iota only supports integer dtypes")
    require(step, "step must be nonzero")
    require(length >= 0, f"Trying to create tensor with negative dimension {length}: [{length}]")
    end = start + length * step
    return _wanted(aten.arange(start, end, step, dtype=dtype, device=device), requires_grad)


@primitive("scalar_tensor(Scalar s, *, ScalarType? dtype=None, Device? device=None) -> Tensor")
def _scalar_tensor(s: Any, *, dtype: DType | None = None, device: Device | None = None) -> Tensor:
    missing = [f"'{name}'" for name, given in (("dtype", dtype), ("device", device)) if not given]
    if missing:
        plural = "s" * (len(missing) - 1)
        raise WrongType(
            f"_scalar_tensor_meta() missing {len(missing)} required keyword-only argument{plural}: "
            f"{' and '.join(missing)}"
        )
    if isinstance(s, complex) and not (dtype and dtype.is_complex):
        raise WrongType("Complex scalar requires complex tensor dtype.")
    return aten.scalar_tensor(s, dtype=dtype, device=device)


# --------------------------------------------------------------------------- random numbers


@primitive(
    "normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, "
    "bool requires_grad, Generator? generator=None) -> Tensor",
    of_leaves=True,
)
def _normal(
    shape: Ints,
    *,
    mean: Any,
    std: Any,
    dtype: DType,
    device: Device,
    requires_grad: bool,
    generator: Generator | None = None,
) -> Tensor:
    require(std >= 0, f"expected non-negative standard deviation, but got std={std}")
    require(
        dtype.is_floating_point or dtype.is_complex,
        f"expected a floating-point or complex dtype, but got dtype={dtype}",
    )
    made = aten.empty(shape, dtype=dtype, device=device)
    return _wanted(aten.normal_(made, mean, std, generator=generator), requires_grad)


@primitive(
    "uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, "
    "SymInt[] stride, Generator? generator=None) -> Tensor"
)
def _uniform(
    shape: Ints,
    *,
    low: Any,
    high: Any,
    dtype: DType,
    device: Device,
    stride: Ints,
    generator: Generator | None = None,
) -> Tensor:
    made = aten.empty_strided(shape, stride, dtype=dtype, device=device)
    return aten.uniform_(made, low, high, generator=generator)


# --------------------------------------------------------------------------- numbers


@primitive("maximum_value(ScalarType dtype) -> Scalar")
def _maximum_value(dtype: DType) -> object:
    if dtype.name == "bool":
        return True
    return (finfo if dtype.is_floating_point or dtype.is_complex else iinfo)(dtype).max


@primitive("minimum_value(ScalarType dtype) -> Scalar")
def _minimum_value(dtype: DType) -> object:
    if dtype.name == "bool":
        return False
    return (finfo if dtype.is_floating_point or dtype.is_complex else iinfo)(dtype).min


# --------------------------------------------------------------------------- tokens


@primitive("_make_token() -> Tensor")
def _make_token() -> Tensor:
    return aten.empty([0])


@primitive("_sink_tokens(Tensor[] tokens) -> ()", effects=True)
def _sink_tokens(tokens: Sequence[Tensor]) -> None:
    """Tokens only order what has effects, as all calls are ordered here."""

"""Functions of three numbers, element by element."""

from __future__ import annotations

from typing import Final

import numpy as np

from ..kernels import by_formula
from ..memory.dtype import Array, Scalar, dtype_of
from ..memory.errors import OperatorError
from ..table.declare import with_twin
from ..table.formula import formula
from ..table.pointwise import as_array, binary, cast, checked_broadcast, checked_operand, number_in
from ..table.promotion import kind, result_dtype
from ..table.refusals import Refusal, cpp_name, letter

__all__ = ["addcdiv", "addcmul", "lerp"]

_FLOAT32: Final = np.dtype(np.float32)
_refuse_addcmul: Final = Refusal("bu", "addcmul_cpu_out")
_refuse_addcdiv: Final = Refusal("q", "addcdiv_cpu_out")
_refuse_lerp: Final = Refusal("biuq", "lerp_kernel_tensor")
_refuse_lerp_number: Final = Refusal("biuq", "lerp_kernel_scalar")


def _cast_all(*tensors: Array) -> list[Array]:
    dtype = result_dtype(tensors)
    return [cast(tensor, dtype) for tensor in tensors]


def _check_shapes(self: Array, **others: Array) -> None:
    """Refuse shapes that do not broadcast, told in the order of the operands."""
    shape = self.shape
    for name, other in others.items():
        shape = checked_broadcast(shape, other.shape, ("self", name))


def _narrow(*tensors: Array) -> tuple[np.dtype[np.generic] | None, list[Array]]:
    """Operands of 16-bit floats in float32, with the dtype to go back to."""
    dtype = tensors[0].dtype
    if letter(dtype) != "h":
        return None, list(tensors)
    return dtype, [tensor.astype(np.float32) for tensor in tensors]


@with_twin(
    "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    numbers_between=True,
    autocast_in_graphs="widest",
    layout="P",
    formula=formula("add_products", 0, 1, 2, at={3: 1})
    + formula("add_scaled_products", 0, 1, 2, 3, checks=True),
)
def addcmul(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    if self.dtype is tensor1.dtype is tensor2.dtype is _FLOAT32 and value == 1:
        found = by_formula("add_products", self, tensor1, tensor2)
        if found is not None:
            return found
        _check_shapes(self, tensor1=tensor1, tensor2=tensor2)
        return binary(np.add, self, binary(np.multiply, tensor1, tensor2))
    _check_shapes(self, tensor1=tensor1, tensor2=tensor2)
    self, tensor1, tensor2 = _cast_all(self, tensor1, tensor2)
    _refuse_addcmul(self.dtype)
    back, (self, tensor1, tensor2) = _narrow(self, tensor1, tensor2)
    if value != 1:
        tensor1 = as_array(tensor1 * number_in(value, tensor1.dtype))
    result = binary(np.add, self, binary(np.multiply, tensor1, tensor2))
    return result if back is None else result.astype(back)


@with_twin(
    "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    numbers_between=True,
    autocast_in_graphs="widest",
    layout="P",
    formula=formula("add_quotients", 0, 1, 2, at={3: 1})
    + formula("add_scaled_quotients", 0, 1, 2, 3, checks=True),
)
def addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Scalar) -> Array:
    if kind(tensor1.dtype) < 2 and kind(tensor2.dtype) < 2:
        raise OperatorError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: (input "
            "+ value * tensor1 / tensor2), for all dtypes.",
            code="dtype-mismatch",
            headline="`addcdiv` needs floats",
        )
    _check_shapes(self, tensor1=tensor1, tensor2=tensor2)
    self, tensor1, tensor2 = _cast_all(self, tensor1, tensor2)
    _refuse_addcdiv(self.dtype)
    back, (self, tensor1, tensor2) = _narrow(self, tensor1, tensor2)
    if value != 1:
        tensor1 = as_array(tensor1 * number_in(value, tensor1.dtype))
    result = binary(np.add, self, binary(np.true_divide, tensor1, tensor2))
    return result if back is None else result.astype(back)


def _check_same_dtype(self: Array, other: Array, name: str) -> None:
    if self.dtype != other.dtype:
        mine, given = map(dtype_of, (self, other))
        raise OperatorError(
            f"expected dtype {cpp_name(mine)} for `{name}` but got dtype {cpp_name(given)}",
            code="dtype-mismatch",
            headline=f"`self` is `{mine}` and `{name}` is `{given}`, they must be the same",
            roles={name: f"is `{given}`"},
        )


def _lerp_floats(self: Array, end: Array, weight: float) -> Array:
    found = by_formula("lerp", self, end, checked_operand(weight, _FLOAT32))
    if found is not None and end.ndim:
        return found
    _check_shapes(self, end=end)
    change = binary(np.subtract, end, self)
    if abs(weight) < 0.5:
        return as_array(np.add(self, as_array(change * checked_operand(weight, _FLOAT32))))
    rest = _FLOAT32.type(1) - checked_operand(weight, _FLOAT32)
    return as_array(np.subtract(end, as_array(change * rest)))


def _lerp(self: Array, end: Array, weight: Array) -> Array:
    back, (self, end) = _narrow(self, end)
    weight = cast(weight, self.dtype)
    change = binary(np.subtract, end, self)
    near = binary(np.add, self, binary(np.multiply, weight, change))
    far = binary(np.subtract, end, binary(np.multiply, change, as_array(1 - weight)))
    return as_array(np.where(np.abs(weight) < 0.5, near, far).astype(back or self.dtype))


@with_twin(
    "aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    layout="P",
    formula=formula("lerp", 0, 1, 2, checks=True),
)
def lerp_number(self: Array, end: Array, weight: Scalar) -> Array:
    _check_same_dtype(self, end, "end")
    if self.dtype is _FLOAT32 is end.dtype and isinstance(weight, (int, float)):
        return _lerp_floats(self, end, weight)
    _check_shapes(self, end=end)
    _refuse_lerp_number(self.dtype)
    wide = _FLOAT32 if letter(self.dtype) == "h" else self.dtype
    return _lerp(self, end, number_in(weight, wide))


@with_twin(
    "aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    layout="P",
    formula=formula("lerp", 0, 1, 2),
)
def lerp(self: Array, end: Array, weight: Array) -> Array:
    _check_same_dtype(self, end, "end")
    if weight.ndim:
        _check_same_dtype(self, weight, "weight")
    elif weight.dtype != self.dtype:
        dtype = result_dtype([self, end, weight])
        self, end, weight = (cast(each, dtype) for each in (self, end, weight))
    _check_shapes(self, end=end, weight=weight)
    _refuse_lerp(self.dtype)
    return _lerp(self, end, weight)

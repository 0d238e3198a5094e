"""The operators that torch's own library calls are made of, as traces and old archives name them.

Most do what an operator without the underscore does; some are called without their checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..arithmetic.convert import item, to_dtype
from ..arithmetic.elementwise import mul_number as multiply
from ..arithmetic.elementwise import sub
from ..arithmetic.scalar_maths import as_c_int
from ..linear_algebra.product_sums import addmm, baddbmm
from ..memory.dtype import Array, Device, Scalar, numpy_dtype
from ..memory.errors import OperatorError
from ..memory.warned import warn_caller_once
from ..random_numbers.random_ops import normal_, uniform_
from ..reductions.cumulative import logcumsumexp
from ..reductions.extremes import aminmax
from ..selection.copying import copy_into
from ..selection.index import index, index_put_copy
from ..shapes.join import stack
from ..table.out_dtypes import SAME
from ..table.pointwise import as_array, cast, checked_broadcast
from ..table.table import operator
from ..table.without_data import always, rows_of

_INT64: Final = np.dtype(np.int64)

# --------------------------------------------------------------------------- numbers of tensors


def _number(value: Any) -> Any:
    return item(value) if isinstance(value, np.ndarray) else as_c_int(value)


def _complex(x: object, y: object) -> complex:
    real, imag = _number(x), _number(y)
    return complex(real, imag)


for _x, _y in (
    *(("Tensor", other) for other in ("Tensor", "bool", "float", "int")),
    *((other, "Tensor") for other in ("bool", "float", "int")),
):
    _names = "Tensor a, Tensor b" if _x == _y else f"{_x} x, {_y} y"
    operator(f"aten::Complex.{_x}_{_y}({_names}) -> complex", face="operator")(_complex)


@operator(
    "aten::_local_scalar_dense(Tensor self) -> Scalar", face="operator", data_dependent=always
)
def local_scalar(self: Array) -> Scalar:
    number: Scalar = item(self)
    return number


@operator(
    "aten::_test_serialization_subcmul(Tensor self, Tensor other, Scalar alpha=1) -> Tensor", out=""
)
def subtract_multiple(self: Array, other: Array, alpha: Scalar) -> Array:
    return sub(self, multiply(other, alpha), 1)


@operator("aten::_infer_size(int[] a, int[] b) -> int[]")
def infer_size(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return list(checked_broadcast(tuple(a), tuple(b)))


@operator("aten::_shape_as_tensor(Tensor self) -> Tensor", out="")
def shape_as_tensor(self: Array) -> Array:
    return np.array(self.shape, _INT64)


@operator("aten::_list_to_tensor(int[] self) -> Tensor", face="operator")
def list_to_tensor(self: Sequence[int]) -> Array:
    return np.array(self, np.int32)


@operator("aten::_tensor_to_list(Tensor self) -> int[]", face="operator", data_dependent=always)
def tensor_to_list(self: Array) -> list[int]:
    return [int(number) for number in self.reshape(-1)]


@operator("aten::_dim_arange(Tensor like, int dim) -> Tensor", out="")
def dim_arange(like: Array, dim: int) -> Array:
    return np.arange(like.shape[dim], dtype=_INT64)


# --------------------------------------------------------------------------- copies


@operator(
    "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
    "MemoryFormat? memory_format=None) -> Tensor",
    between_devices=True,
    out="",
    face="operator",
)
def to_copy(
    self: Array,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: int | None,
) -> Array:
    wanted = self.dtype if dtype is None else numpy_dtype(dtype)
    return to_dtype(self, wanted, True, memory_format)


@operator("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", face="operator")
def copied(self: Array, src: Array, non_blocking: bool) -> Array:
    return copy_into(self.copy(), src)


@operator(
    "aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
    layout="L",
    face="function",
    order="Scalar_out Tensor",
)
def filled(self: Array, value: Array) -> Array:
    if value.ndim:
        raise OperatorError(
            "fill only supports 0-dimension value tensor but got tensor with "
            f"{value.ndim} dimensions.",
            code="shape-mismatch",
        )
    return np.full(self.shape, cast(value, self.dtype))


@operator("aten::zero(Tensor self) -> Tensor", face="operator")
def zeroed(self: Array) -> Array:
    return np.zeros_like(self)


@operator(
    "aten::lift_fresh(Tensor(a) self) -> Tensor(a)",
    "aten::lift(Tensor self) -> Tensor",
    face="operator",
)
def lift(self: Array) -> Array:
    return self


@operator("aten::is_pinned(Tensor self, Device? device=None) -> bool", face="method", of_form=True)
def is_pinned(self: Array, device: Device | None) -> bool:
    return False


@operator("aten::_pin_memory(Tensor self, Device? device=None) -> Tensor", face="operator")
def pinned(self: Array, device: Device | None) -> Array:
    """A copy that a device can read by itself.

    Raises:
        OperatorError: always; there is no such device.
    """
    raise OperatorError("Cannot access accelerator device when none is available.")


@operator("aten::is_set_to(Tensor self, Tensor tensor) -> bool", face="method")
def is_set_to(self: Array, tensor: Array) -> bool:
    """Whether both are the same view of the same memory."""
    a, b = self.__array_interface__["data"], tensor.__array_interface__["data"]
    return a == b and self.shape == tensor.shape and self.strides == tensor.strides


# --------------------------------------------------------------------------- parts of others

operator("aten::_stack(Tensor[] tensors, int dim=0) -> Tensor")(stack)
operator("aten::_logcumsumexp(Tensor self, int dim) -> Tensor")(logcumsumexp)
operator(
    "aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "aten::_unsafe_index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor",
    out="",
)(index)
operator(
    "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor",
    "aten::_unsafe_index_put.hacked_twin(Tensor self, Tensor[] indices, Tensor values, "
    "bool accumulate=False) -> Tensor",
    out="",
)(index_put_copy)


def _warn_of_aminmax() -> None:
    warn_caller_once(
        "_aminmax is deprecated as of PyTorch 1.11 and will be removed in a future release. Use "
        "aminmax instead. This warning will only appear once per process."
    )


@operator("aten::_aminmax(Tensor self) -> (Tensor, Tensor)")
def _extremes(self: Array) -> tuple[Array, Array]:
    _warn_of_aminmax()
    return aminmax(self, None, False)


@operator("aten::_aminmax.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)")
def _extremes_along(self: Array, dim: int, keepdim: bool) -> tuple[Array, Array]:
    _warn_of_aminmax()
    return aminmax(self, dim, keepdim)


def _check_bools(self: Array) -> None:
    if self.dtype != np.bool_:
        raise OperatorError("Expected a tensor of bools", code="dtype-mismatch")


@operator("aten::_is_all_true(Tensor self) -> Tensor", out="", face="both")
def is_all_true(self: Array) -> Array:
    _check_bools(self)
    return as_array(self.all())


@operator("aten::_is_any_true(Tensor self) -> Tensor", out="", face="both")
def is_any_true(self: Array) -> Array:
    _check_bools(self)
    return as_array(self.any())


@operator(
    "aten::addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, "
    "Scalar beta=1, Scalar alpha=1) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    order="out dtype_out dtype",
    cost="added-product",
    out_dtype=SAME,
    rows=rows_of("mat1 self", dim=-2),
)
def addmm_as(
    self: Array, mat1: Array, mat2: Array, out_dtype: int, beta: Scalar, alpha: Scalar
) -> Array:
    wanted = numpy_dtype(out_dtype)
    return addmm(cast(self, wanted), cast(mat1, wanted), cast(mat2, wanted), beta, alpha)


@operator(
    "aten::baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, "
    "Scalar beta=1, Scalar alpha=1) -> Tensor",
    autocast="lower",
    autocast_in_graphs="lower",
    order="out dtype_out dtype",
    cost="added-product",
    out_dtype=SAME,
    rows=rows_of("batch1 self", dim=-2),
)
def baddbmm_as(
    self: Array, batch1: Array, batch2: Array, out_dtype: int, beta: Scalar, alpha: Scalar
) -> Array:
    wanted = numpy_dtype(out_dtype)
    return baddbmm(cast(self, wanted), cast(batch1, wanted), cast(batch2, wanted), beta, alpha)


# --------------------------------------------------------------------------- initialisation


@operator("aten::_no_grad_fill_(Tensor(a!) tensor, float val) -> Tensor(a!)", face="operator")
def no_grad_fill(tensor: Array, val: float) -> Array:
    tensor[...] = val
    return tensor


@operator("aten::_no_grad_zero_(Tensor(a!) tensor) -> Tensor(a!)", face="operator")
def no_grad_zero(tensor: Array) -> Array:
    tensor[...] = 0
    return tensor


operator(
    "aten::_no_grad_uniform_(Tensor(a!) tensor, float a, float b, Generator? generator=None) "
    "-> Tensor(a!)",
    face="operator",
)(uniform_)
operator(
    "aten::_no_grad_normal_(Tensor(a!) tensor, float mean, float std, Generator? generator=None) "
    "-> Tensor(a!)",
    face="operator",
)(normal_)


# --------------------------------------------------------------------------- batches of layers


@operator("aten::_ncf_unsqueeze(Tensor(a) self, int ndim) -> Tensor(a)", face="operator")
def ncf_unsqueeze(self: Array, ndim: int) -> Array:
    """A vector of channels, shaped to go with (batch, channels, ...)."""
    return self.reshape(1, -1, *(1,) * (ndim - 2))


@operator(
    "aten::_ncf_view(Tensor(a) self, int[] input_shape, int normalized_ndim) -> Tensor(a)",
    face="operator",
)
def ncf_view(self: Array, input_shape: Sequence[int], normalized_ndim: int) -> Array:
    """What was computed for the leading dimensions, shaped to go with all of them."""
    outer = input_shape[: len(input_shape) - normalized_ndim]
    return self.reshape(*outer, *(1,) * normalized_ndim)

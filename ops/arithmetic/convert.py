"""Between tensors and Python numbers, and between dtypes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..kernels import in_order
from ..memory.dtype import Array, Device, Dtype, Scalar, dtype_of, numpy_dtype
from ..memory.errors import OperatorError
from ..table.formula import formula
from ..table.grad_mode import RUNNING
from ..table.inline import inline, native
from ..table.layouts import lies_like, like
from ..table.pointwise import cast, number_as
from ..table.promotion import number_dtype
from ..table.table import operator
from ..table.without_data import always, rows_of
from .scalar_maths import int_of

__all__ = ["only_element", "item", "number_tensor", "real_part", "to_dtype", "truth"]

_FLOAT64: Final = np.dtype(np.float64)


# --------------------------------------------------------------------------- tensor to number


def _one(dtype: str) -> str:
    """The condition that a tensor of a dtype has one element."""
    return f"{{0}}.dtype is {dtype} and {{0}}.size == 1"


@operator(
    "aten::item(Tensor self) -> Scalar",
    inline=inline("{0}.item()", "({0}.dtype is float32 or {0}.dtype is int64) and {0}.size == 1"),
    native=native("array_number({0})", ("array_numel({0}) == 1",), gives="array"),
    face="method",
    data_dependent=always,
)
def item(self: Array) -> Any:
    """The one element of a tensor, as a Python number.

    Raises:
        OperatorError: there is not just one.
    """
    if self.size != 1:
        raise OperatorError(
            f"a Tensor with {self.size} elements cannot be converted to Scalar",
            headline=f"one number is needed, but this tensor has {self.size} elements",
            roles={"self": "must have one element"},
        )
    number = self.item()
    return number if type(number) in _NUMBERS else _number(number)


_NUMBERS: Final = frozenset({int, float, bool, complex})


def _number(element: Any) -> int | float | complex:
    """What Python has for an element of a dtype that NumPy does not know."""
    return element if isinstance(element, (int, float, complex)) else float(element)


@operator(
    "aten::Bool.Tensor(Tensor a) -> bool",
    inline=inline("{0}.item()", _one("bool_")),
    native=native("array_bool({0})") + native("{0}", of=("bool",)),
    face="operator",
    data_dependent=always,
)
def truth(a: Array) -> bool:
    """The truth value of a tensor of one element.

    Raises:
        OperatorError: it has several, or none.
    """
    return truth_of(a, "a")


def truth_of(a: Array, parameter: str) -> bool:
    """The truth value of an argument of one element; raises as `truth`."""
    if a.size == 1:
        return bool(a.item())
    several = "more than one value" if a.size else "no values"
    raise OperatorError(
        f"Boolean value of Tensor with {several} is ambiguous",
        code="ambiguous-condition",
        headline=f"a condition needs one truth value, but this tensor has {a.size} elements",
        roles={parameter: f"has shape {list(a.shape)}"},
        helps=(
            f"to choose element by element, use `torch.where({{{parameter}}}, ..., ...)`",
            f"to test the whole tensor, write `({{{parameter}}}).all()` or "
            f"`({{{parameter}}}).any()`",
        ),
    )


@operator(
    "aten::Int.Tensor(Tensor a) -> int",
    inline=inline("{0}.item()", _one("int64")),
    native=native("array_int({0})"),
    face="operator",
    order="bool float",
    data_dependent=always,
)
def int_of_tensor(a: Array) -> int:
    number = real_part(item(a), "int64_t")
    if not -_BEYOND <= number <= (_BEYOND if isinstance(number, float) else _LARGEST):
        raise OperatorError("value cannot be converted to type int64_t without overflow")
    return int_of(number) if isinstance(number, float) else int(number)


_BEYOND: Final = 2.0**63
_LARGEST: Final = (1 << 63) - 1


def real_part(number: object, kind: str) -> Any:
    """A number, of a complex one its real part if that is all of it.

    Raises:
        OperatorError: there is an imaginary part.
    """
    if not isinstance(number, complex):
        return number
    if number.imag:
        raise OperatorError(f"value cannot be converted to type {kind} without overflow")
    return number.real


@operator(
    "aten::Float.Tensor(Tensor a) -> float",
    inline=inline("{0}.item()", _one("float32")),
    native=native("array_float({0})"),
    face="operator",
    order="Scalar int bool",
    data_dependent=always,
)
def float_of_tensor(a: Array) -> float:
    return float(real_part(item(a), "double"))


def _implicit(a: Array) -> Any:
    record = RUNNING.record
    if record is not None and record.handle_of(a).requires_grad:
        raise OperatorError(
            "Cannot input a tensor that requires grad as a scalar argument",
            headline="a number is needed, which would lose the gradient of this tensor",
            roles={"a": "requires gradients"},
        )
    if a.ndim:
        raise OperatorError(
            "Cannot input a tensor of dimension other than 0 as a scalar argument",
            headline=f"a number is needed, but this tensor has shape {list(a.shape)}",
            roles={"a": "must be 0-d"},
        )
    return a.item()


@operator("aten::IntImplicit(Tensor a) -> int", face="operator", data_dependent=always)
def int_implicit(a: Array) -> int:
    number = _implicit(a)
    if a.dtype.kind not in "iu":
        raise OperatorError(
            "Cannot input a tensor of type " + dtype_of(a).scalar_name + " as an integral argument",
            code="dtype-mismatch",
            headline=f"a whole number is needed, but this tensor is `{dtype_of(a)}`",
            roles={"a": "must be of whole numbers"},
        )
    return int(number)


@operator("aten::FloatImplicit(Tensor a) -> float", face="operator", data_dependent=always)
def float_implicit(a: Array) -> float:
    return float(real_part(_implicit(a), "double"))


@operator("aten::ScalarImplicit(Tensor a) -> Scalar", face="operator", data_dependent=always)
def scalar_implicit(a: Array) -> object:
    return _implicit(a)


@operator("aten::ComplexImplicit(Tensor a) -> complex", face="operator", data_dependent=always)
def complex_implicit(a: Array) -> complex:
    return complex(_implicit(a))


# --------------------------------------------------------------------------- number to tensor


@operator(
    "prim::NumToTensor.Scalar(Scalar a) -> Tensor", "prim::NumToTensor.bool(bool a) -> Tensor"
)
def number_tensor(a: Scalar) -> Array:
    """A number as a 0-d tensor; a float is a double, as in traced code."""
    dtype = number_dtype(a)
    if isinstance(a, float):
        dtype = _FLOAT64
    elif isinstance(a, complex):
        dtype = np.dtype(np.complex128)
    return number_as(a, dtype)


# --------------------------------------------------------------------------- dtype to dtype


_CHANNELS_LAST_3D: Final = 3


def in_format(array: Array, memory_format: int | None) -> Array:
    """A copy laid out as `clone` of a memory format would be."""
    if memory_format in (None, 1):
        made = like(array, array.dtype)
        made[...] = array
        return made
    if memory_format == 0:
        return _copied(array)
    axes = (0, *range(2, array.ndim), 1)
    if array.ndim != memory_format + 2:
        word = "channels_last_3d" if memory_format == _CHANNELS_LAST_3D else "channels_last"
        raise OperatorError(f"required rank {memory_format + 2} tensor to use {word} format")
    inverse = (0, array.ndim - 1, *range(1, array.ndim - 1))
    return _copied(array.transpose(axes)).transpose(inverse)


def _copied(array: Array) -> Array:
    """A contiguous copy."""
    return array.copy("C") if array.flags.c_contiguous else in_order(array)


def to_dtype(self: Array, dtype: Dtype, copy: bool, memory_format: int | None) -> Array:
    """The tensor in a dtype; itself if nothing has to change and no copy is asked for."""
    if self.dtype != dtype:
        if not self.size and memory_format in (None, 1):
            return like(self, dtype)
        result = cast(self, dtype)
        if memory_format not in (None, 1):
            return in_format(result, memory_format)
        return lies_like(result, self) if 1 in self.shape else result
    if copy:
        return in_format(self, memory_format)
    if memory_format in (None, 1) or (memory_format == 0 and not is_channels_last(self)):
        return self
    if memory_format == 0:
        return contiguous(self, 0)
    return self if is_channels_last(self) else in_format(self, memory_format)


def is_channels_last(array: Array) -> bool:
    """Whether the strides are those of a channels-last image or volume."""
    if array.ndim not in (4, 5) or not array.size:
        return False
    least = 0
    for dim in (1, *range(array.ndim - 1, 1, -1), 0):
        stride = array.strides[dim]
        if stride < least or (not dim and least == array.strides[1]) or not array.strides[1]:
            return False
        least = stride * array.shape[dim]
    return True


@operator(
    "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    face="method",
    order="device dtype",
    formula=formula("same"),
    rows=rows_of("self"),
)
def to_given_dtype(
    self: Array, dtype: int, non_blocking: bool, copy: bool, memory_format: int | None
) -> Array:
    return to_dtype(self, numpy_dtype(dtype), copy, memory_format)


@operator(
    "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, "
    "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
)
def to_device(
    self: Array,
    device: Device,
    dtype: int,
    non_blocking: bool,
    copy: bool,
    memory_format: int | None,
) -> Array:
    return to_dtype(self, numpy_dtype(dtype), copy, memory_format)


@operator(
    "aten::to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
)
def to_other(
    self: Array, other: Array, non_blocking: bool, copy: bool, memory_format: int | None
) -> Array:
    return to_dtype(self, other.dtype, copy, memory_format)


@operator(
    "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
    "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
    "MemoryFormat? memory_format=None) -> Tensor(a)",
    between_devices=True,
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
    traced="to",
)
def to_options(
    self: Array,
    dtype: int | None,
    layout: int | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: int | None,
) -> Array:
    wanted = self.dtype if dtype is None else numpy_dtype(dtype)
    return to_dtype(self, wanted, copy, memory_format)


@operator(
    "aten::to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, "
    "bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
)
def to_prim_device(
    self: Array, device: Device | None, dtype: int | None, non_blocking: bool, copy: bool
) -> Array:
    return to_prim_dtype(self, dtype, non_blocking, copy)


@operator(
    "aten::to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, "
    "bool copy=False) -> Tensor(b|a)",
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
)
def to_prim_dtype(self: Array, dtype: int | None, non_blocking: bool, copy: bool) -> Array:
    return to_dtype(self, self.dtype if dtype is None else numpy_dtype(dtype), copy, None)


@operator(
    "aten::to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
    face="method",
    rows=rows_of("self"),
)
def to_prim_other(self: Array, non_blocking: bool, copy: bool) -> Array:
    return to_dtype(self, self.dtype, copy, None)


@operator(
    "aten::type_as(Tensor self, Tensor other) -> Tensor",
    out="",
    face="method",
    formula=formula("same"),
    rows=rows_of("self"),
)
def type_as(self: Array, other: Array) -> Array:
    return to_dtype(self, other.dtype, False, None)


@operator(
    "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    formula=formula("same"),
    native=native("small_clone({0})", at={1: "None"}, gives="made"),
    rows=rows_of("self"),
)
def clone(self: Array, memory_format: int | None) -> Array:
    if memory_format is None and self.flags.c_contiguous and self.size and 1 not in self.shape:
        return self.copy()
    return in_format(self, memory_format)


@operator(
    "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
    face="method",
    formula=formula("same"),
    looks="itself",
)
def contiguous(self: Array, memory_format: int | None) -> Array:
    if memory_format == 0:
        return self if self.flags.c_contiguous else self.copy("C")
    if memory_format is not None and self.ndim == memory_format + 2:
        by_channels = self.transpose(0, *range(2, self.ndim), 1)
        if by_channels.flags.c_contiguous:  # whatever the strides of single elements are
            return self
    return in_format(self, memory_format)


@operator("aten::alias(Tensor(a) self) -> Tensor(a)", face="operator")
@operator("aten::detach(Tensor(a) self) -> Tensor(a)", cuts_off=True, looks="again")
def detach(self: Array) -> Array:
    return self.view()


_CASTS: Final = {
    **{"_cast_Byte": "uint8", "_cast_Char": "int8", "_cast_Short": "int16", "_cast_Int": "int32"},
    **{"_cast_Long": "int64", "_cast_Half": "float16", "_cast_Float": "float32"},
    **{"_cast_Double": "float64"},
}


def _declare_casts() -> None:
    for name, word in _CASTS.items():
        dtype = np.dtype(word)
        operator(f"aten::{name}(Tensor self, bool non_blocking=False) -> Tensor", out="")(
            lambda self, non_blocking, dtype=dtype: cast(self, dtype)
        )


_declare_casts()


def only_element(array: Array) -> Any:
    """The one element, as Python's conversions ask for it."""
    if array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return item(array)

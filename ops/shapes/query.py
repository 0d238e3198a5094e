"""What a tensor is: its size, dtype, device; what never changes the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from ..arithmetic.convert import truth, truth_of
from ..memory import complex_parts
from ..memory.dims import wrap_dim
from ..memory.dtype import CPU, Array, Device, Dtype, Scalar, dtype_by_number, dtype_of, of_numpy
from ..memory.errors import IndexOutOfRange, OperatorError, no_device
from ..memory.inference import is_for_inference
from ..memory.storage import storage_of, strides_of
from ..memory.versions import counted_apart
from ..table.inline import inline, native
from ..table.promotion import can_cast, common_dtype_with, promote, result_dtype
from ..table.refusals import cpp_name
from ..table.table import operator
from ..table.without_data import always
from .nested import NestedArray


@operator("aten::size(Tensor self) -> int[]", face="method", order="int -", of_form=True)
def size(self: Array) -> list[int]:
    return list(self.shape)


@operator(
    "aten::size.int(Tensor self, int dim) -> int",
    inline=inline("{0}.shape[{1}]"),
    native=native("array_size({0}, {1})"),
    face="method",
    of_layout=True,
)
def size_of(self: Array, dim: int) -> int:
    shape = self.shape
    if -len(shape) <= dim < len(shape):
        return shape[dim]
    if not shape:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    return shape[wrap_dim(dim, len(shape))]


@operator(
    "aten::len.Tensor(Tensor t) -> int",
    native=native("array_len({0})"),
    face="operator",
    of_layout=True,
)
def length(t: Array) -> int:
    if not t.ndim:
        raise OperatorError("len() of a 0-d tensor", headline="a 0-d tensor has no length")
    return t.shape[0]


@operator(
    "aten::dim(Tensor self) -> int",
    inline=inline("{0}.ndim"),
    native=native("{0}[3]"),
    face="method",
    of_form=True,
    looks="rank",
)
def dim(self: Array) -> int:
    return self.ndim


@operator(
    "aten::numel(Tensor self) -> int",
    inline=inline("{0}.size"),
    native=native("array_numel({0})"),
    of_layout=True,
    looks="count",
)
def numel(self: Array) -> int:
    return self.size


@operator("aten::stride(Tensor self) -> int[]", face="method", order="int -", of_layout=True)
def stride(self: Array) -> list[int]:
    return list(strides_of(self))


@operator("aten::stride.int(Tensor self, int dim) -> int", face="method", of_layout=True)
def stride_of(self: Array, dim: int) -> int:
    if not self.ndim:
        raise IndexOutOfRange(f"Dimension specified as {dim} but tensor has no dimensions")
    return strides_of(self)[wrap_dim(dim, self.ndim)]


@operator("aten::storage_offset(Tensor self) -> int", face="method")
def storage_offset(self: Array) -> int:
    return storage_of(self)[1]


@operator(
    "aten::element_size(Tensor self) -> int",
    "prim::itemsize(Tensor a) -> int",
    face="method",
    of_form=True,
    looks="dtype",
)
def element_size(self: Array) -> int:
    return self.itemsize


@operator("prim::nbytes(Tensor a) -> int", of_layout=True)
def nbytes(a: Array) -> int:
    return a.nbytes


@operator("aten::is_floating_point(Tensor self) -> bool", of_form=True, looks="dtype")
def is_floating_point(self: Array) -> bool:
    return self.dtype.kind == "f" or dtype_of(self).is_floating_point


@operator("aten::is_complex(Tensor self) -> bool", of_form=True, looks="dtype")
def is_complex(self: Array) -> bool:
    return complex_parts.is_complex(self.dtype)


@operator("aten::is_signed(Tensor self) -> bool", of_form=True, looks="dtype")
def is_signed(self: Array) -> bool:
    return dtype_of(self).is_signed


@operator("aten::is_same_size(Tensor self, Tensor other) -> bool", of_layout=True)
def is_same_size(self: Array, other: Array) -> bool:
    return self.shape == other.shape


@operator("aten::_has_compatible_shallow_copy_type(Tensor self, Tensor from) -> bool", of_form=True)
def can_be_given_data_of(self: Array, source: Array) -> bool:
    """Whether `self.data = source` keeps what kind of tensor `self` is: both are dense."""
    return True


@operator("aten::_debug_has_internal_overlap(Tensor self) -> int", of_layout=True)
def internal_overlap(self: Array) -> int:
    """Whether elements lie at the same place: 0 for no, 1 for yes, 2 where strides do not tell."""
    lengths = [(n, s) for n, s in zip(self.shape, self.strides, strict=True) if n > 1]
    if any(stride == 0 for _, stride in lengths):
        return 1
    expected = self.itemsize
    for length, stride in sorted(lengths, key=itemgetter(1)):
        if stride != expected:
            return 2
        expected *= length
    return 0


@operator("aten::is_contiguous(Tensor self) -> bool", face="method", of_layout=True, looks="whole")
def is_contiguous(self: Array) -> bool:
    return self.flags.c_contiguous


@operator(
    "aten::is_contiguous.memory_format(Tensor self, MemoryFormat memory_format) -> bool",
    face="method",
    of_layout=True,
)
def is_contiguous_as(self: Array, memory_format: int) -> bool:
    if memory_format in (0, 1):  # 1 keeps what there is
        return self.flags.c_contiguous
    if self.ndim != memory_format + 2:
        return False
    return self.transpose(0, *range(2, self.ndim), 1).flags.c_contiguous


@operator("aten::is_nonzero(Tensor self) -> bool", data_dependent=always)
def is_nonzero(self: Array) -> bool:
    return truth_of(self, "self")


@operator("aten::_assert_async(Tensor self) -> ()", effects=True, data_dependent=always)
def assert_nonzero(self: Array) -> None:
    assert_nonzero_telling(self, "Expected Tensor with single nonzero value, but got zero")


@operator(
    "aten::_assert_async.msg(Tensor self, str assert_msg) -> ()",
    effects=True,
    data_dependent=always,
)
def assert_nonzero_telling(self: Array, assert_msg: str) -> None:
    """Fail with a message unless the one element is true."""
    if not truth(self):
        raise OperatorError(assert_msg, code="assertion-failed")


@operator("aten::_assert_scalar(Scalar self, str assert_msg) -> ()")
def assert_scalar(self: Scalar, assert_msg: str) -> None:
    """Fail with a message unless a number is true; scripts drop it as torch drops it."""
    if not self:
        raise OperatorError(assert_msg, code="assertion-failed")


@operator("aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()")
def constrain_range(size: Scalar, min: int | None, max: int | None) -> None:
    """Fail unless a number, its fraction cut off, lies between two others.

    Raises:
        OperatorError: it does not, or the bounds exclude each other.
    """
    least, most = (-(2**63) if min is None else min), (2**63 - 1 if max is None else max)
    if least > most:
        raise OperatorError(f"Max must be greater than or equal to min. Got min={least} max={most}")
    number = int(size.real)
    if not least <= number <= most:
        raise OperatorError(
            f"Invalid value range for {number} between [{least}, {most}].",
            code="assertion-failed",
        )


@operator("aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()")
def constrain_size(size: Scalar, min: int | None, max: int | None) -> None:
    """Fail unless a number may be the size of a dimension, and lies between two others.

    Raises:
        OperatorError: it does not, or the largest size is not above two.
    """
    if max is not None and max <= 2:
        raise OperatorError(
            f"Max value to constrain_range_for_size must be greater than 2. got: {max}"
        )
    constrain_range(size, 0 if min is None else min, max)


@operator(
    "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, "
    "ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
    effects=True,
)
def assert_metadata(
    a: Array,
    size: Sequence[int] | None,
    stride: Sequence[int] | None,
    dtype: int | None,
    device: Device | None,
    layout: int | None,
) -> None:
    """Fail unless a tensor's sizes, strides, dtype, device and layout are those given."""
    kind = dtype_of(a)
    wanted = kind if dtype is None else dtype_by_number(dtype)
    for word, expected, got, told in (
        ("sizes", size, list(a.shape), (size, list(a.shape))),
        ("strides", stride, list(strides_of(a)), (stride, list(strides_of(a)))),
        ("dtype", wanted, kind, (wanted.scalar_name, cpp_name(kind))),
        ("device", device, CPU, (device, CPU)),
        ("layout", layout, 0, (layout, 0)),
    ):
        if expected is not None and expected != got:
            raise OperatorError(f"Tensor {word} mismatch! Expected: {told[0]}, Got: {told[1]}")


@operator("aten::get_device(Tensor self) -> int")
def get_device(self: Array) -> int:
    return -1


@operator("prim::dtype(Tensor a) -> int", native=native("array_dtype({0})"), of_form=True)
def dtype_number(a: Array) -> int:
    return dtype_of(a).number


@operator("prim::device(Tensor a) -> Device", native=native("zero(DEVICE)"), of_form=True)
def device(a: Array) -> Device:
    return CPU


@operator("prim::layout(Tensor a) -> Layout", of_form=True)
def layout(a: Array) -> int:
    return 0


@operator("prim::is_cpu(Tensor a) -> bool", of_form=True)
def is_cpu(a: Array) -> bool:
    return True


_NEVER: Final = (
    *("cuda", "ipu", "maia", "meta", "mkldnn", "mps", "mtia"),
    *("sparse", "sparse_csr", "vulkan", "xla", "xpu"),
)


@operator("aten::is_conj(Tensor self) -> bool", asks_if_lazy=True)
@operator("aten::is_neg(Tensor self) -> bool", asks_if_lazy=True)
@operator(*(f"prim::is_{word}(Tensor a) -> bool" for word in _NEVER), of_form=True)
def never(a: Array) -> bool:
    return False


@operator("aten::is_inference(Tensor self) -> bool")
def is_inference(self: Array) -> bool:
    return is_for_inference(self)


@operator("prim::is_nested(Tensor a) -> bool", of_form=True)
def is_nested(a: Array) -> bool:
    return isinstance(a, NestedArray)


@operator(
    "aten::data(Tensor self) -> Tensor", cuts_off=True, counts_apart=True, out="", face="method"
)
@operator("prim::data(Tensor(a) a) -> Tensor(a)", cuts_off=True, counts_apart=True)
def data(a: Array) -> Array:
    return counted_apart(a)


@operator("aten::cpu(Tensor(a) self) -> Tensor(b|a)", between_devices=True, traced="to")
def cpu(self: Array) -> Array:
    return self


@operator("aten::cuda(Tensor(a) self) -> Tensor(b|a)", face="operator")
def cuda(self: Array) -> Array:
    raise no_device("cuda")


# --------------------------------------------------------------------------- devices


@operator("aten::device(str a) -> Device")
def device_of(a: str) -> Device:
    return Device(a)


@operator("aten::device.with_index(str type, int index) -> Device")
def device_with_index(type: str, index: int) -> Device:
    return Device(type, index)


@operator("prim::type(Device self) -> str")
def device_type(self: Device) -> str:
    return self.type


@operator("prim::index(Device self) -> int?")
def device_index(self: Device) -> int | None:
    return self.index


# --------------------------------------------------------------------------- promotion


def _number(dtype: Dtype) -> int:
    return of_numpy(dtype).number


@operator("aten::result_type.Tensor(Tensor tensor, Tensor other) -> ScalarType", takes_numbers=True)
def result_type(tensor: Array, other: Array) -> int:
    return _number(result_dtype([tensor, other]))


@operator("aten::result_type.Scalar(Tensor tensor, Scalar other) -> ScalarType")
def result_type_with_number(tensor: Array, other: Scalar) -> int:
    return _number(common_dtype_with(tensor, other))


@operator("aten::result_type.Scalar_Tensor(Scalar scalar, Tensor tensor) -> ScalarType")
def number_result_type(scalar: Scalar, tensor: Array) -> int:
    return _number(common_dtype_with(tensor, scalar))


@operator("aten::result_type.Scalar_Scalar(Scalar scalar1, Scalar scalar2) -> ScalarType")
def numbers_result_type(scalar1: Scalar, scalar2: Scalar) -> int:
    return _number(result_dtype([scalar1, scalar2]))


@operator("aten::promote_types(ScalarType type1, ScalarType type2) -> ScalarType")
def promote_types(type1: int, type2: int) -> int:
    return _number(promote(dtype_by_number(type1).numpy, dtype_by_number(type2).numpy))


@operator("aten::can_cast(ScalarType from_, ScalarType to) -> bool")
def can_cast_to(from_: int, to: int) -> bool:
    return can_cast(dtype_by_number(from_).numpy, dtype_by_number(to).numpy)


# --------------------------------------------------------------------------- values as they are


@operator(
    "prim::unchecked_cast(t x) -> t",
    "prim::unchecked_unwrap_optional(t(a)? optional) -> t(a)",
)
def unchecked(x: object) -> object:
    return x


@operator("aten::_unwrap_optional(t(a)? optional) -> t(a)", native=native("{0}"))
def unwrap_optional(optional: object) -> object:
    if optional is None:
        raise OperatorError(
            "Unwrapping null optional", code="none-value", headline="this value is None"
        )
    return optional


@operator("prim::TupleIndex(Any tup, int i) -> Any")
def tuple_index(tup: tuple[object, ...], i: int) -> object:
    if not -len(tup) <= i < len(tup):
        raise IndexOutOfRange("Tuple list index out of range")
    return tup[i]


@operator("aten::Size(int[] sizes) -> int[]")
def same_sizes(sizes: list[int]) -> list[int]:
    return sizes


@operator("aten::is_scripting() -> bool")
def is_scripting() -> bool:
    return True


_LISTED: Final = (
    ("Long", ("int64",)),
    ("Float", ("float32", "float64", "float16", "bfloat16")),
    ("Bool", ("bool",)),
    ("ComplexDouble", ("complex64", "complex128")),
)
"""What `tolist` may list as int, float, bool and complex: torch's word, and the dtypes."""


@operator(
    "prim::tolist(Tensor self, int dim, int element) -> Any",
    data_dependent=always,
    native=native("array_list({kind}, {0})", gives="told"),
)
def to_list(self: Array, dim: int, element: int) -> object:
    """The elements as nested lists `dim` deep; for `dim` 0 the one element."""
    word, names = _LISTED[element]
    dtype = dtype_of(self)
    if dtype.name not in names:
        raise OperatorError(
            "Output annotation element type and runtime tensor element type must match for "
            f"tolist(): {word} vs {dtype.scalar_name}",
            code="dtype-mismatch",
            headline=f"`tolist` was told to give other elements than those of {dtype.name}",
        )
    if self.ndim != dim:
        raise OperatorError(
            "Output annotation list dimension and runtime tensor dimension must match for tolist()",
            code="shape-mismatch",
            headline=f"`tolist` was told to nest lists {dim} deep, but the tensor has {self.ndim} "
            f"dimension{'' if self.ndim == 1 else 's'}",
        )
    return self.tolist()

"""Operators of `prims` that copy: to other sizes, strides, dtypes, devices, and numbers out."""

from __future__ import annotations

from collections.abc import Sequence

from ..eager.aten import aten
from ..memory.dtype import MEMORY_FORMATS, Device, DType
from ..memory.errors import BadNumber, IndexOutOfRange, OperatorError
from ..tensors.tensor import Tensor
from .declaring import check_dims, check_held, check_sizes, primitive, require
from .views import check_strides, collapsed_sizes

__all__: list[str] = []

Ints = Sequence[int]


@primitive(
    "as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, "
    "SymInt storage_offset) -> Tensor"
)
def _as_strided_scatter(
    self: Tensor, src: Tensor, size: Ints, stride: Ints, storage_offset: int
) -> Tensor:
    check_sizes(size)
    check_strides(stride)
    needed = 0
    if all(size):
        needed = storage_offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    width = self.element_size()
    require(
        self.numel() >= needed,
        f"as_strided_scatter: sizes {list(size)}, strides {list(stride)}, storage offset "
        f"{storage_offset}  and itemsize {width} requiring a storage size of {needed * width} are "
        f"out of bounds for storage of size {self.numel() * width}",
    )
    require(
        list(src.shape) == list(size),
        "expected src to have a size equal to the slice of self. "
        f"src size = {src.shape}, slice size = {list(size)}",
    )
    return aten.as_strided_scatter(self, src, size, stride, storage_offset)


@primitive("collapse(Tensor a, int start, int end) -> Tensor")
def _collapse(a: Tensor, start: int, end: int) -> Tensor:
    made = aten.new_empty(a, collapsed_sizes(a, start, end))
    aten.copy_(aten.view(made, a.shape), a)
    return made


@primitive("cat(Tensor[] tensors, int dim) -> Tensor")
def _cat(tensors: Sequence[Tensor], dim: int) -> Tensor:
    check_held(dim >= 0, f"dim must be non-negative, got {dim}")
    if not tensors:
        raise IndexOutOfRange("list index out of range")
    sizes = tensors[0].shape
    for place, each in enumerate(tensors):
        check_held(
            len(each.shape) == len(sizes),
            "All tensors must have the same number of dimensions. "
            f"Expected {len(sizes)} but tensor {place} has {len(each.shape)}",
        )
        for other, (wanted, size) in enumerate(zip(sizes, each.shape, strict=True)):
            require(
                other == dim or size == wanted,
                f"Sizes of tensors must match except in dimension {dim}. Expected {wanted} in "
                f"dimension {other} but got {size} for tensor number {place} in the list",
            )
    if dim >= len(sizes):
        raise IndexOutOfRange("list assignment index out of range")
    return aten.cat(list(tensors), dim)


@primitive("reshape(Tensor a, SymInt[] shape) -> Tensor")
def _reshape(a: Tensor, shape: Ints) -> Tensor:
    check_sizes(shape)
    count = 1
    for size in shape:
        count *= size
    if count != a.numel():
        raise BadNumber(
            f"Attempting to reshape a tensor with {a.numel()} elements to a shape with {count} "
            "elements!"
        )
    made = aten.reshape(a, shape)
    shares = made.is_contiguous() and made.data_ptr() != a.data_ptr()
    return made if shares else aten.clone(made, memory_format=MEMORY_FORMATS["contiguous_format"])


@primitive("rev(Tensor a, int[] dims) -> Tensor")
def _rev(a: Tensor, dims: Ints) -> Tensor:
    check_dims(dims, a.dim())
    return aten.flip(a, dims)


# --------------------------------------------------------------------------- elements


@primitive("convert_element_type(Tensor a, ScalarType dtype) -> Tensor")
def _convert_element_type(a: Tensor, dtype: DType) -> Tensor:
    return aten.copy_(aten.empty_like(a, dtype=dtype), a)


@primitive("device_put(Tensor a, Device device, bool non_blocking=False) -> Tensor", views=True)
def _device_put(a: Tensor, device: Device, non_blocking: bool = False) -> Tensor:
    return a.to(device, non_blocking=non_blocking)


@primitive("copy_to(Tensor(a!) a, Tensor b) -> Tensor(a!)")
def _copy_to(a: Tensor, b: Tensor) -> Tensor:
    require(
        a.numel() == b.numel(),
        f"Attempting to copy {b.numel()} elements to a tensor with {a.numel()} elements!",
    )
    return aten.copy_(a, b)


@primitive("copy_strided(Tensor a, SymInt[] stride) -> Tensor")
def _copy_strided(a: Tensor, stride: Ints) -> Tensor:
    made = aten.empty_strided(a.shape, stride, dtype=a.dtype, device=a.device)
    return aten.copy_(made, a)


@primitive("resize(Tensor(a!) a, SymInt[] shape) -> Tensor(a!)")
def _resize(a: Tensor, shape: Ints) -> Tensor:
    return aten.resize_(a, shape)


@primitive("item(Tensor a) -> Scalar")
def _item(a: Tensor) -> object:
    if a.numel() != 1:
        raise OperatorError(f"a Tensor with {a.numel()} elements cannot be converted to Scalar")
    return a.item()

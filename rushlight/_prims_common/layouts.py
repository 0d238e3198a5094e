"""How tensors lie, and where: strides, memory formats, devices."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.eager.aten import aten
from ..ops.memory.dtype import LAYOUTS, MEMORY_FORMATS, Device, Layout, MemoryFormat
from ..ops.memory.storage import contiguous_strides
from ..ops.primitives.declaring import require
from ..ops.tensors.tensor import Tensor
from .sizes import check_same_shape, validate_shape

__all__ = [
    *("canonicalize_device", "check_same_device", "clone_preserve_strides"),
    *("compute_elementwise_output_strides", "device_or_default", "is_channels_last_contiguous"),
    *("is_contiguous", "is_contiguous_for_memory_format", "is_contiguous_or_false"),
    *("is_cpu_scalar_tensor", "is_non_overlapping_and_dense_or_false", "layout_or_default"),
    *("make_channels_last_strides_for", "make_contiguous_strides_for", "mask_tensor"),
    "suggest_memory_format",
]

Ints = Sequence[int]


# --------------------------------------------------------------------------- questions


def is_contiguous_or_false(a: Tensor) -> bool:
    """Whether a tensor's elements lie in order, which is always known here."""
    return a.is_contiguous()


def is_contiguous(a: Tensor, false_if_dde: bool = False) -> bool:
    """Whether a tensor's elements lie in order."""
    return a.is_contiguous()


def is_contiguous_for_memory_format(
    a: Tensor, *, memory_format: MemoryFormat, false_if_dde: bool = False
) -> bool:
    """Whether a tensor's elements lie in the order of a memory format."""
    return a.is_contiguous(memory_format=memory_format)


def is_channels_last_contiguous(a: Tensor) -> bool:
    """Whether images, or volumes, lie with channels last."""
    last = _LAST.get(a.dim())
    return last is not None and a.is_contiguous(memory_format=MEMORY_FORMATS[last])


_LAST = {4: "channels_last", 5: "channels_last_3d"}


def is_non_overlapping_and_dense_or_false(a: Tensor) -> bool:
    """Whether a tensor's elements lie in one piece, in some order."""
    step = 1
    pairs = [(step, n) for step, n in zip(a.stride(), a.shape, strict=True) if n != 1]
    for stride, size in sorted(pairs):
        if stride != step:
            return not a.numel()
        step *= size
    return True


def is_cpu_scalar_tensor(a: object) -> bool:
    """Whether something is a tensor of one number without dimensions, on the CPU."""
    return isinstance(a, Tensor) and not a.dim() and a.device.type == "cpu"


def suggest_memory_format(x: Tensor) -> MemoryFormat:
    """How a tensor of 4 or 5 dimensions lies: with channels last, or in order."""
    last = _LAST.get(x.dim())
    if last is None or not x.is_contiguous(memory_format=MEMORY_FORMATS[last]):
        return MEMORY_FORMATS["contiguous_format"]
    strides = [size for size in x.stride() if size > 0]
    is_both = x.is_contiguous() and strides == sorted(strides, reverse=True)
    return MEMORY_FORMATS["contiguous_format" if is_both else last]


# --------------------------------------------------------------------------- strides


def make_contiguous_strides_for(shape: Ints, row_major: bool = True) -> tuple[int, ...]:
    """The strides of a tensor whose elements lie in order.

    Args:
        row_major: false: the last two dimensions change places, as in LAPACK's matrices.
    """
    validate_shape(shape)
    strides = [*contiguous_strides(tuple(shape))]
    if not row_major and len(shape) > 1:
        strides[-2:] = [1, max(shape[-2], 1)]
    return tuple(strides)


def make_channels_last_strides_for(shape: Ints) -> tuple[int, ...]:
    """The strides of signals, images or volumes with channels last.

    Raises:
        RuntimeError: the sizes are those of none of these.
    """
    count = len(shape)
    require(count in (3, 4, 5), f"no channels last format strides exist in {count} dimensions")
    return _dense(shape, [1, *range(count - 1, 1, -1), 0])


def _dense(shape: Ints, inner_first: Ints) -> tuple[int, ...]:
    step, found = 1, [0] * len(shape)
    for dim in inner_first:
        found[dim] = step
        step *= max(shape[dim], 1)
    return tuple(found)


def compute_elementwise_output_strides(*tensors: Tensor) -> tuple[int, ...]:
    """The strides of what is computed of tensors of one shape, element by element: without gaps, in
    the order in which the first lies, then the next where that tells nothing.

    Raises:
        ValueError: there is no tensor.
        RuntimeError: they are of several shapes.
    """
    if not tensors:
        raise ValueError("Can't compute elementwise output strides for zero tensors!")
    check_same_shape(*tensors, allow_cpu_scalar_tensors=True)
    own = [each for each in tensors if not is_cpu_scalar_tensor(each)]
    if not own:
        return ()
    shape, strides = own[0].shape, own[0].stride()
    if all(
        is_non_overlapping_and_dense_or_false(each) and each.stride() == strides for each in own
    ):
        return strides
    if all(each.is_contiguous() for each in own):
        return make_contiguous_strides_for(shape)
    order = list(range(len(shape)))[::-1]
    for place in range(1, len(order)):
        for before in range(place - 1, -1, -1):
            told = _compared(order[before], order[place], own)
            if told < 0:
                break
            if told > 0:
                order[before], order[place] = order[place], order[before]
                place = before
    return _dense(shape, order)


def _compared(inner: int, outer: int, tensors: Sequence[Tensor]) -> int:
    """Below 0 where a dimension lies inside another one, above where it lies outside of it."""
    for each in tensors:
        first, second = each.stride()[inner], each.stride()[outer]
        if first and second and first != second:
            return -1 if first < second else 1
        if first and second and each.shape[inner] > each.shape[outer]:
            return 1
    return 0


def clone_preserve_strides(x: Tensor) -> Tensor:
    """A copy that lies with the same strides, gaps and overlaps included."""
    reach = sum((n - 1) * step for n, step in zip(x.shape, x.stride(), strict=True)) + 1
    flat = aten.as_strided(x, [reach if x.numel() else 0], [1], x.storage_offset())
    return aten.as_strided(aten.clone(flat), x.shape, x.stride(), 0)


def mask_tensor(mask: Tensor, t: Tensor) -> Tensor:
    """A tensor with zeros where a mask is false."""
    if t.dtype.name == "bool":
        return aten.logical_and(mask, t)
    return aten.where(mask, t, 0)


# --------------------------------------------------------------------------- devices


def canonicalize_device(device: Device | str) -> Device:
    """A device, also by its name."""
    return Device(device) if isinstance(device, str) else device


def device_or_default(device: Device | str | int | None) -> Device | str | int:
    """A device, or the one that tensors are made on."""
    return Device("cpu") if device is None else device


def layout_or_default(layout: Layout | None) -> Layout:
    """A layout, or that of plain tensors."""
    return LAYOUTS["strided"] if layout is None else layout


def check_same_device(*args: object, allow_cpu_scalar_tensors: bool) -> None:
    """Refuse tensors on several devices; numbers may be among them.

    Raises:
        RuntimeError: they are, or something is neither.
    """
    wanted: Device | None = None
    for each in args if len(args) > 1 else ():
        if not isinstance(each, Tensor):
            require(
                isinstance(each, (int, float, complex)),
                f"Unexpected type when checking for same device, {type(each)}!",
            )
        elif not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(each)):
            wanted = each.device if wanted is None else wanted
            require(
                each.device == wanted,
                f"Tensor on device {each.device} is not on the expected device {wanted}!",
            )

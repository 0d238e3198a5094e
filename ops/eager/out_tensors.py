"""The tensors of `out=`: which dtypes they may have, and how results get into them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ..memory.dtype import Array, Device, DType, Layout
from ..memory.errors import OperatorError
from ..memory.named_results import NamedResults, named_results
from ..memory.overlap import check_resized
from ..memory.versions import written
from ..memory.warned import warn_caller
from ..table.layouts import in_shape_of
from ..table.out_dtypes import check_out_dtype
from ..table.out_forms import become_result
from ..table.pointwise import cast
from ..table.record import Operator
from ..tensors.dispatched import Dispatched, closed
from ..tensors.tensor import Tensor

__all__ = [
    "check_dtypes_of_out",
    "check_factory_dtype",
    "check_factory_place",
    "write_array",
    "write_out",
]


def check_dtypes_of_out(entry: Operator, result: Any, out: Any) -> None:
    """Refuse tensors of dtypes that the results may not be written into."""
    rule, name = entry.out_dtype, entry.name
    if isinstance(out, Tensor):
        check_out_dtype(rule, name, result.dtype, out.dtype)
        return
    fields = result.fields if isinstance(result, NamedResults) else ("out",) * len(result)
    for part, target, field in zip(result, out, fields, strict=True):
        check_out_dtype(rule, name, part.dtype, target.dtype, field)


def check_factory_dtype(wanted: DType | None, out: DType) -> None:
    if wanted is not None and wanted is not out:
        raise OperatorError(
            f"dtype {wanted.scalar_name} does not match dtype of out parameter ({out.scalar_name})",
            code="dtype-mismatch",
            headline=f"`out` is `{out}`, so `dtype` cannot be `{wanted}`",
        )


def check_factory_place(
    layout: Layout | None, device: Device | str | int | None, out: Tensor
) -> None:
    """Refuse a layout or a device that `out` does not have."""
    if layout is not None and layout is not out.layout:
        given, own = (
            each.name.title().replace("_", "").removesuffix("Coo") for each in (layout, out.layout)
        )
        raise OperatorError(
            f"layout {given} does not match layout of out parameter ({own})",
            headline=f"`out` has the layout `{out.layout}`, so `layout` cannot be `{layout}`",
        )
    if device is not None and Device(device).type != out.device.type:
        raise OperatorError(
            f"device type {Device(device).type} does not match device type of out parameter "
            f"({out.device.type})",
            headline=f"`out` is on `{out.device}`, so `device` cannot be `{device}`",
        )


def write_out(entry: Operator, result: Any, out: Any, operands: Sequence[object] = ()) -> object:
    """Put results into the tensors of `out=`, which take the results' shapes.

    Raises:
        OperatorError: a tensor has several elements in one place, or cannot take the shape, or
            would lie in memory of an operand if it did.
    """
    if isinstance(out, Tensor):
        _write_one(entry, result, out, operands)
        return out
    for part, target in zip(result, out, strict=True):
        _write_one(entry, part, target, operands)
    if isinstance(result, NamedResults):
        return named_results(f"{type(result).__name__}_out", result.fields)(out)
    return out


def _write_one(entry: Operator, result: Tensor, out: Tensor, operands: Sequence[object]) -> None:
    if isinstance(out, Dispatched):
        with closed():
            out.copy_(result)
        return
    write_array(entry, result._array, out._array, operands)
    written(out._array)


def write_array(entry: Operator, result: Array, target: Array, operands: Sequence[object]) -> None:
    """Put a result into the array of an `out`, which takes its shape.

    Raises:
        OperatorError: as `write_out`.
    """
    array = in_shape_of(entry.out_layout, result, target)
    if target.size > 1 and any(
        not s and n > 1 for s, n in zip(target.strides, target.shape, strict=True)
    ):
        raise OperatorError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location. Please clone() the tensor before performing the operation.",
            headline="several elements of `out` share one place in memory",
        )
    if array.shape == target.shape:
        target[...] = cast(array, target.dtype)
    else:
        check_resized(entry.out_overlap, target, array.size, operands)
        _warn_of_resizing(entry, target.shape, array.shape)
        become_result(entry.out_layout, target, array)


def _warn_of_resizing(entry: Operator, shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    """Warn of a tensor with elements that takes another shape; what makes tensors or draws does
    so without a word, but for `arange` and what is made by it."""
    if not prod(shape):
        return
    if entry.name.startswith(("aten::arange", "aten::fft_fftfreq", "aten::fft_rfftfreq")):
        warn_caller(
            f"The number of elements in the out tensor of shape {list(shape)} is {prod(shape)} "
            f"which does not match the computed number of elements {prod(wanted)}. Note that this "
            "may occur as a result of rounding error. The out tensor will be resized to a tensor "
            f"of shape ({prod(wanted)},)."
        )
    elif entry.out_dtype.demand != "made" and not entry.random:
        warn_caller(
            f"An output with one or more elements was resized since it had shape {list(shape)}, "
            f"which does not match the required output shape {list(wanted)}. This behavior is "
            "deprecated, and in a future PyTorch release outputs will not be resized unless they "
            "have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, "
            "to zero elements with t.resize_(0)."
        )

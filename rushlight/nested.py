"""`torch.nested`: tensors made of tensors of different sizes.

Their parts lie apart (`layout=torch.strided`); torch's other layout, `torch.jagged`, is refused.
What operators do with them they do with each part, gradients too; those that torch has for them are
here, others raise NotImplementedError and name themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .module_names import names_of
from .ops.eager.aten import aten
from .ops.memory.dtype import LAYOUTS, Device, DType, Layout, check_device
from .ops.nested_tensors.calls import to_padded
from .ops.nested_tensors.tensors import is_nested, of_parts
from .ops.tensors.construct import tensor
from .ops.tensors.tensor import Tensor

__all__ = [
    *("as_nested_tensor", "masked_select", "narrow", "nested_tensor"),
    *("nested_tensor_from_jagged", "to_padded_tensor"),
]


def _check(layout: Layout | None, device: Device | str | None = None) -> None:
    if layout is LAYOUTS["jagged"]:
        raise NotImplementedError(
            "torch.nested: the layout torch.jagged is not supported here; torch.strided is"
        )
    if layout not in (None, LAYOUTS["strided"]):
        raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")
    if device is not None:
        check_device(Device(device))


def _joined(parts: Sequence[Tensor]) -> Tensor:
    """The nested tensor of parts with as many dimensions each."""
    for place, (before, part) in enumerate(pairwise(parts)):
        if part.ndim != before.ndim:
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension. Found dimension "
                f"{part.ndim} for Tensor at index {place + 1} and dimension {before.ndim} for "
                f"Tensor at index {place}."
            )
    return of_parts([part.contiguous() for part in parts])


def nested_tensor(
    tensor_list: object,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A nested tensor of copies of tensors, or of lists of numbers; a leaf.

    Args:
        tensor_list: the parts, with as many dimensions each.
        dtype: of all of them; that of the first one if None.
        layout: `torch.strided`.
        device: the CPU.
        requires_grad: whether gradients of them are wanted.

    Raises:
        TypeError: no list.
        RuntimeError: parts differ in how many dimensions they have, or another layout.
        NotImplementedError: `torch.jagged`.
    """
    _check(layout, device)
    if not isinstance(tensor_list, list):
        raise TypeError(
            "Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor"
        )
    kind, parts = dtype, []
    for each in tensor_list:
        part = each.detach().clone() if isinstance(each, Tensor) else tensor(each)
        kind = kind or part.dtype
        parts.append(part.to(kind))
    made = _joined(parts)
    made.requires_grad = requires_grad
    return made


def as_nested_tensor(
    ts: object,
    dtype: DType | None = None,
    device: Device | str | None = None,
    layout: Layout | None = None,
) -> Tensor:
    """A nested tensor of tensors, or of the rows of one, through which gradients reach them.

    Args:
        ts: the parts, one tensor, or a nested one of the layout, which is given back.
        dtype: of all parts; that of the first one if None.
        device: the CPU.
        layout: `torch.strided`.

    Raises:
        TypeError: something else.
        RuntimeError: parts differ in how many dimensions they have, or another layout.
        NotImplementedError: `torch.jagged`.
    """
    _check(layout, device)
    if is_nested(ts):
        if layout is None:
            raise RuntimeError(
                "as_nested_tensor(): Converting between nested tensor layouts is not supported"
            )
        return ts
    parts = ts.unbind(0) if isinstance(ts, Tensor) else ts
    if not isinstance(parts, (list, tuple)) or not all(isinstance(t, Tensor) for t in parts):
        raise TypeError(
            "as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of "
            "tensors "
        )
    kind = dtype or (parts[0].dtype if parts else None)
    copied = [part.clone() if part.dtype is kind else part.to(kind) for part in parts]
    return _joined(copied)


def to_padded_tensor(
    input: object,
    padding: float,
    output_size: Sequence[int] | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """One tensor in which all parts of a nested one lie, filled up with a number.

    Args:
        input: the nested tensor.
        padding: the number.
        output_size: the sizes, the number of parts first; as small as can be if None.

    Raises:
        NotImplementedError: not a nested tensor.
        RuntimeError: a part does not fit.
    """
    if is_nested(input):
        made: Tensor = to_padded(input, padding, output_size)
    elif isinstance(input, Tensor) and input.is_nested:  # made of a mask
        made = input.to_padded_tensor(padding, output_size)
    else:
        raise NotImplementedError(
            "Could not run 'aten::to_padded_tensor' with arguments from the 'CPU' backend."
        )
    if out is None:
        return made
    out.resize_as_(made).copy_(made)
    return out


def narrow(
    tensor: Tensor,
    dim: int,
    start: int | Tensor,
    length: int | Tensor,
    layout: Layout = LAYOUTS["strided"],
) -> Tensor:
    """A nested tensor of some rows of a tensor.

    Args:
        tensor: dense or nested.
        dim: 0.
        start: the first row.
        length: how many.
        layout: `torch.strided`.

    Raises:
        RuntimeError: another dimension, or no numbers.
        NotImplementedError: `torch.jagged`.
    """
    _check(layout)
    if not isinstance(start, int) or not isinstance(length, int):
        raise RuntimeError("start and length must be integers for the strided layout NT impl")
    whole = tensor if is_nested(tensor) else of_parts(tensor.unbind(0), tensor.dtype)
    return aten.narrow(whole, dim, start, length)


__getattr__ = names_of(__name__)

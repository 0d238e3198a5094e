"""`torch.nn.utils._named_member_accessor`: tensors of modules, put in the places of others."""

from __future__ import annotations

from typing import Any, Final

from ...ops.tensors.tensor import Tensor
from ..modules.module import Module

__all__ = ["swap_tensor"]

_MISSING: Final = object()


def swap_tensor(module: Module, name: str, tensor: object, allow_missing: bool = False) -> object:
    """Put a tensor in the place of a parameter, buffer or attribute, as it is.

    Args:
        module: the module; of its own members only.
        name: the member's name.
        tensor: the tensor; what this function gave for a missing one takes the member away.
        allow_missing: whether the module may be without such a member.

    Returns:
        What was there before, or what stands for nothing.

    Raises:
        AttributeError: there is no such member.
        KeyError: the name is empty or holds a dot.
        TypeError: one of them is of another type.
    """
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if tensor is not _MISSING and not isinstance(tensor, Tensor) and tensor is not None:
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for table in (module._parameters, module._buffers):
        if name in table:
            return _exchanged(table, name, tensor)
    return _attribute_exchanged(module, name, tensor, allow_missing)


def _exchanged(table: dict[str, Any], name: str, tensor: object) -> object:
    before = table[name]
    if tensor is _MISSING:
        del table[name]
    else:
        table[name] = tensor
    return before


def _attribute_exchanged(module: Module, name: str, tensor: object, allow_missing: bool) -> object:
    before = getattr(module, name, _MISSING)
    if before is _MISSING and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if before is not _MISSING and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before

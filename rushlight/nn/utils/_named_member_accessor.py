"""`torch.nn.utils._named_member_accessor`: tensors of modules, put in the places of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ...ops.tensors.tensor import Tensor
from ..modules.module import Module

__all__ = ["submodule_of", "swap_tensor", "swap_tensors"]

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
    if before is not _MISSING and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif before is not _MISSING:
        delattr(module, name)
    return before


def submodule_of(module: Module, path: str) -> Module:
    """The module at a dotted path of attributes; `""` is the module itself.

    Raises:
        AttributeError: a part of the path is missing.
        TypeError: a part of it is no module.
    """
    found = module
    walked: list[str] = []
    for name in path.split(".") if path else ():
        walked.append(name)
        below = getattr(found, name, _MISSING)
        if below is _MISSING:
            raise AttributeError(f"{type(found).__name__} has no attribute `{name}`")
        if not isinstance(below, Module):
            at = ".".join(walked)
            raise TypeError(f"submodule `{at}`: {below} is not an instance of torch.nn.Module")
        found = below
    return found


def swap_tensors(module: Module, tensors: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Put tensors in the places of dotted names, all or none.

    Returns:
        What was there before, by name, the last put first: given back to this function, it
        undoes the exchange, also where two names mean one place.

    Raises:
        AttributeError, KeyError, TypeError: as `swap_tensor` and `submodule_of`.
    """
    before: dict[str, object] = {}
    try:
        for name, tensor in tensors:
            path, _, own = name.rpartition(".")
            before[name] = swap_tensor(submodule_of(module, path), own, tensor, True)
    except Exception:
        swap_tensors(module, reversed(before.items()))
        raise
    return dict(reversed(before.items()))

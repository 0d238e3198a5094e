"""The switches of `torch.__future__`, where `Module` reads them, and how tensors are swapped."""

from __future__ import annotations

from dataclasses import dataclass
from types import MemberDescriptorType
from typing import Final

from ..ops.tensors.members import all_members
from ..ops.tensors.tensor import Tensor

__all__ = ["REPLACEMENT", "swap_tensors"]


@dataclass
class _Replacement:
    """How a module's parameters get new contents."""

    overwrite: bool = False
    swap: bool = False


REPLACEMENT: Final = _Replacement()


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Let two tensors be each other: classes, values and attributes change places.

    Raises:
        RuntimeError: one has history that would be lost.
    """
    for tensor in (t1, t2):
        if tensor.grad_fn is not None:
            raise RuntimeError("Cannot swap a tensor whose history gradients need; detach it first")
    one, other = dict(all_members(t1)), dict(all_members(t2))
    for tensor, members in ((t1, other), (t2, one)):
        all_members(tensor).clear()
        all_members(tensor).update(members)
    for slot in _slots():
        first, second = _value(slot, t1), _value(slot, t2)
        _set_value(slot, t1, second)
        _set_value(slot, t2, first)
    if type(t1) is not type(t2):
        first, second = type(t1), type(t2)
        _CLASS.__set__(t1, second)
        _CLASS.__set__(t2, first)


_CLASS: Final = vars(object)["__class__"]
"""Sets classes of those too that show another one as theirs."""

_UNSET: Final = object()


def _value(slot: MemberDescriptorType, tensor: Tensor) -> object:
    try:
        return slot.__get__(tensor)
    except AttributeError:
        return _UNSET


def _set_value(slot: MemberDescriptorType, tensor: Tensor, value: object) -> None:
    if value is not _UNSET:
        slot.__set__(tensor, value)
    elif _value(slot, tensor) is not _UNSET:
        slot.__delete__(tensor)


def _slots() -> list[MemberDescriptorType]:
    """What reads and sets the members of a tensor that no dict holds.

    Classes of tensors without an array refuse to be asked for it by name.
    """
    found = (vars(cls).get(name) for cls in Tensor.__mro__ for name in _names(cls))
    return [slot for slot in found if isinstance(slot, MemberDescriptorType)]


def _names(cls: type) -> tuple[str, ...]:
    return getattr(cls, "__slots__", ())

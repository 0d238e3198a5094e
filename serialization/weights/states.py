"""What objects hold beside what they are made of: attributes that programs gave them."""

from __future__ import annotations

from typing import Any

from ...ops.tensors.members import attributes_of
from ...ops.tensors.tensor import Tensor

__all__ = ["put_state", "set_state", "state_of", "unfit_name"]


def state_of(tensor: Tensor) -> object:
    """What a tensor's class says its state is, else its attributes; None if it has none."""
    own = getattr(type(tensor), "__getstate__", None)
    if own is not None and own is not getattr(object, "__getstate__", None):
        return own(tensor)
    return attributes_of(tensor) or None


def set_state(target: object, state: object) -> None:
    """Give an object its state, as `pickle` does: by its class, or as attributes and slots."""
    setter = getattr(target, "__setstate__", None)
    if setter is None:
        put_state(target, state)
    else:
        setter(state)


def put_state(target: object, state: Any) -> None:
    """Give an object attributes and slots."""
    state, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def unfit_name(state: object) -> str:
    """What is wrong with a state as attributes of a tensor that nobody vouches for, or nothing.

    Names that tensors have themselves would change what tensors do.
    """
    if not isinstance(state, dict):
        return "which is no dict"
    for name in state:
        if not isinstance(name, str) or hasattr(Tensor, name) or name.startswith("__"):
            return f"which sets {str(name)[:80]!r}"
    return ""

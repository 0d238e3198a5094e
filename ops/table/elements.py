"""Which operators compute each element by itself, by what their records say."""

from __future__ import annotations

from typing import Final

from .record import Operator

__all__ = ["is_by_elements"]

_ROOMS: Final = ("special_functions", "arithmetic")
_PLAIN: Final = ("Tensor", "Scalar", "int", "float", "bool", "str", "Layout", "Device")


def is_by_elements(entry: Operator) -> bool:
    """Whether an overload computes each element by itself."""
    if entry.formula or entry.is_out_form:
        return True
    room = f"{entry.forward.__module__}...".split(".")[2]
    returned = entry.signature.returns
    return (
        room in _ROOMS
        and [str(each.type) for each in returned] == ["Tensor"]
        and all(str(each.type).rstrip("?") in _PLAIN for each in entry.signature.arguments)
        and not any("dim" in each.name for each in entry.signature.arguments)
    )

"""Arguments that say where and how a tensor shall lie: looked at once, before any forward."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from ..memory.dtype import LAYOUTS, check_device
from ..memory.errors import OnSparse

__all__ = ["placed"]

_SPARSE: Final = {LAYOUTS[f"sparse_{name}"].number for name in ("coo", "csr", "csc")}

Forward = TypeVar("Forward", bound=Callable[..., object])


def placed(schema: str, forward: Forward) -> Forward:
    """The forward with its arguments `device` and `layout` checked, if the schema has a device."""
    arguments = schema[: schema.rindex("->")]
    start = (
        arguments.find("? device") if "? device" in arguments else arguments.find("Device device")
    )
    if start < 0:
        return forward
    device = arguments[:start].replace("*, ", "").count(", ")
    layout = device - 1 if "Layout? layout=None, Device" in arguments else 0

    @wraps(forward)
    def in_its_place(*values: Any) -> object:
        if values[device] is not None:
            check_device(values[device])
        if layout and values[layout]:
            if values[layout] in _SPARSE:
                raise OnSparse("only the layout torch.strided is supported")
            raise NotImplementedError("only the layout torch.strided is supported")
        return forward(*values)

    return in_its_place  # type: ignore[return-value]

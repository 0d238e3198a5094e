"""The operators of layers: what `torch._C._nn` has."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from ..ops.eager.dispatch import eager_function
from ..ops.memory.dtype import Device
from ..ops.table.table import TABLE

__all__: list[str] = []


@cache
def _names() -> frozenset[str]:
    faces = TABLE.faces().items()
    return frozenset(name.removeprefix("aten::") for name, face in faces if face == "layer")


def _parse_to(*args: object, **kwargs: object) -> tuple[object, ...]:
    """Device, dtype, whether nobody waits, and memory layout from the arguments of `Module.to`.

    Raises:
        RuntimeError: the number of a device, of which there is none beside the CPU.
        TypeError: they are others.
    """
    if args and type(args[0]) is int:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    parse = import_module("..nn.conversion", __package__).target_of  # which layers need, not these
    device, dtype, non_blocking, layout = parse(args, kwargs)
    return None if device is None else Device(device), dtype, non_blocking, layout


def __getattr__(name: str) -> Any:
    if name in _names():
        return eager_function(f"aten::{name}")
    if name in ("flatten_dense_tensors", "unflatten_dense_tensors"):
        joining = import_module(".._utils", __package__)
        return getattr(joining, f"_{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(_names())

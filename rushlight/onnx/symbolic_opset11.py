"""`torch.onnx.symbolic_opset11`: how torch's operators are exported, which they are not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn


def __getattr__(name: str) -> Callable[..., NoReturn]:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(f"torch.onnx: rushlight has its own table, and no `{name}`")

    return refuse

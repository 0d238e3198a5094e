"""`torch.no_grad` as scripted code sees it; `torch.enable_grad` is unknown there, as in torch."""

from __future__ import annotations

from typing import Any

from ..ops.table import grad_mode
from ..ops.table.grad_mode import is_grad_enabled, set_grad_enabled
from ..typecheck.definitions.names import OperatorName
from .resolver import register_special

__all__ = ["STAND_INS"]

register_special(is_grad_enabled, OperatorName("aten::is_grad_enabled"))
register_special(set_grad_enabled, OperatorName("aten::set_grad_enabled"))
register_special(grad_mode.enable_grad, OperatorName("aten::enable_grad"))
register_special(grad_mode.inference_mode, OperatorName("aten::inference_mode"))


class no_grad:
    """No gradients are recorded inside."""

    _jit_override_qualname = "__torch__.torch.autograd.grad_mode.no_grad"

    def __init__(self) -> None:
        self.prev = False

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        set_grad_enabled(False)

    # scripts ask for Any
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        set_grad_enabled(self.prev)


STAND_INS: dict[type, type] = {
    grad_mode.no_grad: no_grad,
}
"""The classes that are compiled in place of those that Python uses."""

"""What programs ask about modes that do not exist while compiled code runs."""

from __future__ import annotations

from .dtype import Array
from .table import operator

__all__: list[str] = []


@operator("prim::requires_grad(Tensor a) -> bool")
def requires_grad(a: Array) -> bool:
    """Compiled code keeps no history, so nothing that it computes has one."""
    return False

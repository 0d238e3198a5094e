"""`torch._ops`: the classes of operators by name."""

from __future__ import annotations

from .ops.eager.packets import Namespace as _OpNamespace
from .ops.eager.packets import Overload as OpOverload
from .ops.eager.packets import Packet as OpOverloadPacket

__all__ = ["OpOverload", "OpOverloadPacket", "_OpNamespace"]

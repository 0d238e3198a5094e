"""`torch._ops`: the classes of operators by name, and `torch.ops` as torch's own code calls it."""

from __future__ import annotations

from . import ops
from .ops.eager.packets import Namespace as _OpNamespace
from .ops.eager.packets import Overload as OpOverload
from .ops.eager.packets import Packet as OpOverloadPacket

__all__ = ["OpOverload", "OpOverloadPacket", "_OpNamespace", "ops"]

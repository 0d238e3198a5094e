"""`torch.storage`: the memory of tensors, as bytes or as elements of one dtype."""

from __future__ import annotations

from .ops.tensor import Storage as UntypedStorage
from .ops.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

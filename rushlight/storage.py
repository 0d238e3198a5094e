"""`torch.storage`: the memory of tensors, as bytes or as elements of one dtype."""

from __future__ import annotations

from .ops.eager.typed_storage import TypedStorage
from .ops.tensors.untyped_storage import Storage as UntypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]

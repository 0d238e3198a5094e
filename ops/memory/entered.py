"""What `with torch.device(...)` and `set_default_device` said."""

from __future__ import annotations

import threading
from typing import Any, Final

__all__ = ["ENTERED"]


class _Entered(threading.local):
    """Devices on which a thread makes tensors where arguments do not say, the innermost last."""

    def __init__(self) -> None:
        self.devices: list[Any] = []


ENTERED: Final = _Entered()
"""Those of this thread."""

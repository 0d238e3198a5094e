"""What `with torch.device(...)` and `set_default_device` said."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

from .at_first import AtFirst

__all__ = ["AT_FIRST_DEVICE", "ENTERED"]

AT_FIRST_DEVICE: Final = AtFirst()
"""What is done before the first device is entered."""


class _Entered(threading.local):
    """Devices on which a thread makes tensors where arguments do not say, the innermost last."""

    def __init__(self) -> None:
        self.devices: list[Any] = []

    def put(self, devices: Sequence[object]) -> None:
        """Replace them."""
        if devices:
            AT_FIRST_DEVICE.arrive()
        self.devices[:] = devices


ENTERED: Final = _Entered()
"""Those of this thread."""

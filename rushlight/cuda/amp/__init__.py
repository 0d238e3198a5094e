"""`torch.cuda.amp`: automatic mixed precision under its older name."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...amp import custom_functions
from ...module_names import names_of
from .autocast_mode import autocast
from .common import amp_definitely_not_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]

custom_bwd: Any = partial(custom_functions.custom_bwd, device_type="cuda")
custom_fwd: Any = partial(custom_functions.custom_fwd, device_type="cuda")

__getattr__ = names_of(__name__)

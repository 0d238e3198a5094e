"""`torch.amp`: automatic mixed precision."""

from __future__ import annotations

from ..module_names import names_of
from . import autocast_mode, grad_scaler
from .autocast_mode import autocast, is_autocast_available
from .custom_functions import custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = [
    "GradScaler",
    "autocast",
    "autocast_mode",
    "custom_bwd",
    "custom_fwd",
    "grad_scaler",
    "is_autocast_available",
]

__getattr__ = names_of(__name__)

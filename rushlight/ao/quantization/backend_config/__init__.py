"""Backends: what each can quantize."""

from __future__ import annotations

from ....module_names import names_of
from .backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)
from .native import get_native_backend_config, get_native_backend_config_dict

__all__ = [
    "BackendConfig",
    "BackendPatternConfig",
    "DTypeConfig",
    "DTypeWithConstraints",
    "ObservationType",
    "get_native_backend_config",
    "get_native_backend_config_dict",
]

__getattr__ = names_of(__name__)

"""Private names of torch's compiled part that packages call, though they are nobody's interface."""

from __future__ import annotations

from ..ops.tensors import overriding
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("DisableTorchFunction", "DisableTorchFunctionSubclass", "_TensorMeta"),
    *("_disabled_torch_function_impl", "_get_privateuse1_backend_name", "_log_api_usage_once"),
    *("_log_api_usage_metadata", "_warn_deprecation"),
]

DisableTorchFunction = overriding.DisableTorchFunction
DisableTorchFunctionSubclass = overriding.DisableTorchFunctionSubclass
_TensorMeta = type(Tensor)
_disabled_torch_function_impl = overriding.disabled


def _log_api_usage_once(event: str) -> None:
    """Note that something is used, for whoever collects that: nobody."""


_warn_deprecation = _log_api_usage_once


def _log_api_usage_metadata(event: str, metadata_map: dict[str, str]) -> None:
    """The same, with more to it."""


def _get_privateuse1_backend_name() -> str:
    """The name of a device that others add: its name before that."""
    return "privateuseone"

"""Private names of torch's compiled part that packages call, though they are nobody's interface."""

from __future__ import annotations

from typing import Any

from ..ops.tensors.tensor import Tensor

__all__ = [
    *("DisableTorchFunction", "DisableTorchFunctionSubclass", "_TensorMeta"),
    *("_disabled_torch_function_impl", "_get_privateuse1_backend_name", "_log_api_usage_once"),
    *("_log_api_usage_metadata", "_warn_deprecation"),
]

_TensorMeta = type(Tensor)


def _log_api_usage_once(event: str) -> None:
    """Note that something is used, for whoever collects that: nobody."""


_warn_deprecation = _log_api_usage_once


def _log_api_usage_metadata(event: str, metadata_map: dict[str, str]) -> None:
    """The same, with more to it."""


def _get_privateuse1_backend_name() -> str:
    """The name of a device that others add: its name before that."""
    return "privateuseone"


def _disabled_torch_function_impl(
    func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
) -> Any:
    """The `__torch_function__` of classes that leave functions as they are."""
    del types
    return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A block in which subclasses' `__torch_function__` is not asked."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *raised: object) -> None:
        return None


DisableTorchFunction = DisableTorchFunctionSubclass

"""Decorators for functions with gradients of their own that are used under autocast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

from ..ops.memory.dtype import DTYPES, DType
from ..ops.tensors.tensor import Tensor
from .autocast_mode import autocast
from .state import get_autocast_dtype, is_autocast_enabled

__all__ = ["custom_bwd", "custom_fwd"]


def _cast(value: object, device_type: str, dtype: DType) -> Any:
    """Tensors of floats on a device as another dtype, but float64, also inside containers."""
    if isinstance(value, Tensor):
        wide = value.dtype is DTYPES["float64"]
        casts = value.is_floating_point() and not wide and value.device.type == device_type
        return value.to(dtype) if casts else value
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, Mapping):
        pairs = value.items()
        return {
            _cast(key, device_type, dtype): _cast(each, device_type, dtype) for key, each in pairs
        }
    if isinstance(value, list | tuple):
        return type(value)(_cast(each, device_type, dtype) for each in value)
    return value


def custom_fwd(
    fwd: Callable[..., object] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Callable[..., Any]:
    """For the `forward` of an `autograd.Function`.

    Args:
        cast_inputs: under autocast, cast the inputs to this and run without autocast.

    Raises:
        ValueError: the device type is no text.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    forward = fwd

    @wraps(forward)
    def decorated(*args: Any, **kwargs: object) -> object:
        is_on = is_autocast_enabled(device_type)
        args[0]._dtype = get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = is_on
            return forward(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        if not is_on:
            return forward(*args, **kwargs)
        with autocast(device_type, enabled=False):
            positional = _cast(args, device_type, cast_inputs)
            return forward(*positional, **_cast(kwargs, device_type, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., object] | None = None, *, device_type: str) -> Callable[..., Any]:
    """For the `backward` of such a class: it runs under the autocast that `forward` ran under.

    Raises:
        ValueError: the device type is no text.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)
    backward = bwd

    @wraps(backward)
    def decorated(context: Any, /, *args: object, **kwargs: object) -> object:
        with autocast(device_type, enabled=context._fwd_used_autocast, dtype=context._dtype):
            return backward(context, *args, **kwargs)

    return decorated

"""`torch.autocast`: some operators in lower precision, in Python and in script.

Script compiles the class like any other; a pass then finds where its objects are entered and puts
the casts in (`ir/passes/autocast.py`).
"""

# Script reads the bodies, and finds out what they return.
# mypy: disable-error-code="no-untyped-def, unreachable, attr-defined"

from __future__ import annotations

import functools
import warnings
from typing import Any

from ..module_names import names_of
from ..nn import dtype_names
from ..nn.sizes import is_scripting
from ..ops.memory.dtype import Device, DType
from .state import (
    as_it_is,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)

__all__ = ["autocast", "is_autocast_available"]


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast can be asked for on a kind of device.

    Raises:
        RuntimeError: there is no such kind of device.
    """
    return Device(device_type).type in ("cpu", "cuda", "xpu", "hpu", "mps", "mtia", "maia", "xla")


class autocast:
    """A context, or a decorator, in which operators choose their precision.

    Args:
        device_type: The kind of device, `cpu`; others have no effect, for there is none.
        dtype: The lower dtype: bfloat16, the default, or float16.
        enabled: Whether to switch it on or off.
        cache_enabled: Whether torch may keep cast weights.

    Raises:
        ValueError: the kind of device is no string.
        RuntimeError: there is no such kind of device.
    """

    _jit_override_qualname = "__torch__.torch.amp.autocast_mode.autocast"

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        if is_scripting():
            self._enabled = enabled
            self.device = device_type
            return
        self.device = device_type
        self._cache_enabled = (
            is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        self._enabled = enabled and _can_be_on(device_type, self.fast_dtype)

    def __enter__(self):
        if is_scripting():
            return self
        device = self.device
        self._before = (
            *(is_autocast_enabled(device), get_autocast_dtype(device)),
            is_autocast_cache_enabled(),
        )
        return _entered(self)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any):
        if is_scripting():
            return
        _left(self)
        return False

    def __call__(self, func):
        if is_scripting():
            return func
        return _decorated(self, func)


def _entered(context: autocast) -> autocast:
    """Enter a context; an interrupt leaves all as it was, for what is not entered is never left."""
    device, put_back = context.device, as_it_is()
    context._put_back = put_back
    try:
        set_autocast_dtype(device, context.fast_dtype)
        set_autocast_enabled(device, context._enabled)
        set_autocast_cache_enabled(context._cache_enabled)
        autocast_increment_nesting()
        return context
    except BaseException:
        put_back()
        raise


def _left(context: autocast) -> None:
    """Leave a context, wholly too if an interrupt comes meanwhile."""
    enabled, dtype, cache = context._before
    try:
        autocast_decrement_nesting()
        set_autocast_dtype(context.device, dtype)
        set_autocast_enabled(context.device, enabled)
        set_autocast_cache_enabled(cache)
    except BaseException:
        context._put_back()
        raise


def _can_be_on(device: str, dtype: DType) -> bool:
    """Whether autocast has any effect; a warning says why not."""
    if device == "cuda":
        warnings.warn(
            "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3
        )
        return False
    supported = (dtype_names.bfloat16, dtype_names.float16)
    if dtype not in supported:
        warnings.warn(
            f"In {device.upper()} autocast, but the target dtype is not supported. Disabling "
            f"autocast.\n{device.upper()} Autocast only supports dtypes of "
            f"{', '.join(map(str, supported))} currently.",
            stacklevel=3,
        )
        return False
    return True


def _decorated(context: autocast, func: object) -> object:
    if not callable(func):
        raise TypeError(
            f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to "
            "use autocast as a context manager? For example:\n"
            "    with torch.autocast(device_type=...):\n"
            "        output = model(input)"
        )

    @functools.wraps(func)
    def call(*args: object, **kwargs: object) -> object:
        with context:
            return func(*args, **kwargs)

    call.__script_unsupported = "@autocast() decorator is not supported in script mode"
    return call


__getattr__ = names_of(__name__)

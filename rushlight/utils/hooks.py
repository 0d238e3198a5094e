"""`torch.utils.hooks`: the handles of hooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from ..module_names import names_of
from ..nn.handles import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

Hook = TypeVar("Hook", bound=Callable[..., object])


def unserializable_hook(f: Hook) -> Hook:
    """A decorator of hooks that are not meant to be saved with their tensor."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn of hooks that are not saved with a tensor."""
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )


__getattr__ = names_of(__name__)

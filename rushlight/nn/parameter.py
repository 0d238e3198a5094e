"""`Parameter`, and `Buffer`, which marks a tensor as a module's buffer when it is assigned."""

from __future__ import annotations

from typing import Any

from ..ops.tensor import Parameter, Tensor

__all__ = ["Buffer", "Parameter"]


class _BufferType(type(Tensor)):  # type: ignore[misc]
    """Makes `isinstance(t, Buffer)` true of the tensors that `Buffer(...)` made."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False) is True


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that becomes a buffer of the module it is assigned to.

    `persistent` buffers are part of the module's state dict.
    """

    persistent: bool

    def __new__(cls, data: Tensor, *, persistent: bool = True) -> Any:
        """A plain tensor that shares the memory of `data`, marked as a buffer."""
        marked: Any = data.detach()
        marked.persistent = persistent
        marked._is_buffer = True
        return marked

"""Memory shared with other libraries through the DLPack protocol."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..memory.dtype import CPU, LAYOUTS, Device
from .capsules import opened, retold, words_of
from .construct import in_memory_of
from .dispatched import given_away
from .tensor import Tensor

__all__ = ["dlpack", "dlpack_device", "from_dlpack"]

_CPU: Final = (1, 0)
"""The protocol's device type of main memory, and the number of the device."""


_INVALID: Final = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
    "once, so you might have already constructed a tensor from it once."
)
_VERSION: Final = (1, 0)
"""Of the protocol, the newest that NumPy reads."""
_NO_ORDER: Final = -1
"""The stream of who waits for nothing."""


def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device's type and number in the protocol: always main memory."""
    return _CPU


def dlpack(
    self: Tensor,
    *,
    stream: object = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """A capsule through which another library sees the tensor's memory.

    Args:
        stream: None or -1; the CPU has no streams.
        max_version: the newest version of the protocol that the caller knows.
        dl_device: the device wanted; main memory.
        copy: whether to copy; by default only if there is no other way.

    Raises:
        TypeError: the stream is no number.
        BufferError: the tensor requires gradients, is sparse or on `meta`, or the protocol lacks
            its dtype or the device.
    """
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.layout is not LAYOUTS["strided"]:
        raise BufferError("Can't export tensors with layout other than torch.strided")
    if self.device.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    assert stream in (None, _NO_ORDER), "stream should be None on cpu."
    seen = given_away(self._array)  # which stays what it is when the tensor is changed
    if seen.dtype.isbuiltin == 1:
        return seen.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
    words = words_of(seen, self.dtype.name)
    if words is None:
        raise BufferError(f"{self.dtype} cannot be exported")
    capsule = words.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)
    return retold(capsule, self.dtype.name)


class _Capsule:
    """A bare capsule as an object of the protocol."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: object) -> object:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


dlpack.__name__, dlpack_device.__name__ = "__dlpack__", "__dlpack_device__"


def _exported(of: Any) -> object:
    """What an object of another library exports: a capsule of the newer kind if it knows that."""
    try:
        return of.__dlpack__(max_version=_VERSION)
    except TypeError:
        return of.__dlpack__()


def from_dlpack(
    ext_tensor: Any, *, device: Device | str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor in the memory of another library's array, or of a capsule.

    Args:
        ext_tensor: an object with `__dlpack__`, or what such a method returned.
        device: None or the CPU.
        copy: whether to copy; None and False share the memory.

    Raises:
        RuntimeError: it is neither, or a capsule that was used before.
    """
    if device is not None and Device(device) != CPU:
        raise RuntimeError(f"from_dlpack() cannot move memory to {Device(device)}")
    if isinstance(ext_tensor, Tensor) and not copy:
        return Tensor._of(given_away(ext_tensor._array))
    is_capsule = type(ext_tensor).__name__ == "PyCapsule"
    if not is_capsule and not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(_INVALID)
    dtype = None
    if is_capsule or ext_tensor.__dlpack_device__() == _CPU:
        capsule = ext_tensor if is_capsule else _exported(ext_tensor)
        dtype = opened(capsule)
        ext_tensor = _Capsule(capsule)
    try:
        array = np.from_dlpack(ext_tensor)
    except ValueError as error:
        if is_capsule:  # that somebody has opened
            raise RuntimeError(_INVALID) from error
        raise
    array = array if dtype is None else array.view(dtype)
    return in_memory_of(array.copy() if copy else array)

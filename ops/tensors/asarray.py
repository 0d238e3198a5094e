"""`torch.asarray`: data as a tensor, shared or copied as asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory.dtype import Device, DType, default_dtype, dtype_of
from ..memory.warned import warn_caller_once
from .construct import as_tensor, frombuffer, tensor
from .tensor import Tensor

__all__ = ["asarray"]


def asarray(
    obj: object,
    *,
    dtype: DType | None = None,
    device: Device | str | None = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """Data as a tensor.

    Args:
        obj: a tensor, an array, an object with a buffer, a number or nested lists of numbers.
        dtype: None keeps what the data has; a buffer is read in this dtype.
        device: None or the CPU.
        copy: True copies, False shares the memory, None shares it where it can.
        requires_grad: whether gradients are wanted; None keeps a tensor's history, False cuts it
            off.

    Raises:
        ValueError: the memory is to be shared and cannot.
        RuntimeError: the memory of a NumPy number is to be shared.
    """
    if isinstance(obj, np.generic):
        if copy is False:
            raise RuntimeError(
                "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. "
            )
        obj = np.asarray(obj)
    if requires_grad is None and isinstance(obj, Tensor) and obj.requires_grad:
        warn_caller_once(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of "
            "False. Pass requires_grad=False explicitly to get the old behavior and silence this "
            "warning."
        )
    shared = _shared(obj, dtype, device)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = tensor(obj, dtype=dtype, device=device)
    elif dtype is not None and dtype is not shared.dtype:
        if copy is False:
            raise ValueError(
                f"can't alias tensor with dtype '{shared.dtype.scalar_name}' into dtype "
                f"'{dtype.scalar_name}'."
            )
        made = shared.to(dtype)
    else:
        made = shared.clone() if copy else shared
    if requires_grad and not made.requires_grad:
        made._want_gradients(True)
    elif made.requires_grad and requires_grad is False:
        made = made.detach()
    return made


def _shared(obj: Any, dtype: DType | None, device: Device | str | None) -> Tensor | None:
    """The data in its own memory and dtype; None for numbers and lists."""
    if isinstance(obj, (Tensor, np.ndarray)):
        return as_tensor(obj, device=device)
    if hasattr(obj, "__dlpack__") or type(obj).__name__ == "PyCapsule":
        from .interchange import from_dlpack

        return from_dlpack(obj, device=device)
    try:
        memoryview(obj)
    except TypeError:
        return None
    if memoryview(obj).nbytes == 0:
        return None
    return frombuffer(obj, dtype=dtype or dtype_of(np.empty(0, default_dtype.float)))

"""Tensors between processes: as copies of their memory, whatever pickles in files hold."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

from ..ops.tensors.tensor import Parameter, Tensor

__all__ = ["ForkingPickler"]


def _sent(tensor: Tensor) -> Any:
    return tensor.__reduce__()


ForkingPickler.register(Tensor, _sent)
ForkingPickler.register(Parameter, _sent)

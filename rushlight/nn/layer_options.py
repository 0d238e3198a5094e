"""What layers hand on to those that they are made of."""

from __future__ import annotations

from typing import TypedDict

from ..ops.memory.dtype import Device, DType

__all__ = ["Biased", "Placed"]


class Placed(TypedDict):
    """Where parameters lie, and of which dtype they are."""

    device: Device | str | None
    dtype: DType | None


class Biased(Placed):
    """The same, and whether there are biases among them."""

    bias: bool

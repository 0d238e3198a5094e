"""Planes whose channels lie last, as native code takes them."""

from __future__ import annotations

from typing import Any

from ..kernels import family
from ..memory.dtype import Array
from ..shapes.windows import pixels_of

__all__ = ["with_kernels"]


def with_kernels(input: Array, dims: int, *, of_bytes: bool = False) -> tuple[Any, Array] | None:
    """The kernels `windows.last_windows`, and the input as [samples, height, width, channels].

    None where the windows are not over two dimensions, where there is no native code, and where
    the input does not lie in that way, or is not of float32; or of bytes, if that is said.
    """
    kernels = family("windows.last_windows") if dims == 2 else None
    pixels = (
        None if kernels is None else pixels_of(input, kernels.LEAST_CHANNELS, of_bytes=of_bytes)
    )
    return None if pixels is None else (kernels, pixels)

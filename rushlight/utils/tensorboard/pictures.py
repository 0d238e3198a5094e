"""Pictures for logs: sizes in any order made rows of pixels, and these a PNG file."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from importlib import import_module
from math import ceil
from typing import Final

import numpy as np

from ...ops.memory.dtype import Array

__all__ = ["as_bytes", "boxed", "pixels", "png"]

_IN_A_ROW: Final = 8
_COLOURS: Final = {1: 0, 2: 4, 3: 2, 4: 6}
"""PNG's numbers for grey, grey with alpha, colours, and colours with alpha."""


def pixels(values: Array, order: str) -> Array:
    """Height, width and channels of one picture, or of several put side by side, eight in a row.

    Args:
        values: the picture.
        order: a letter of `N`, `C`, `H`, `W` for each dimension.

    Raises:
        AssertionError: the letters are not those of the dimensions.
    """
    letters = order.upper()
    assert len(set(letters)) == len(letters), (
        f"You can not use the same dimension shorthand twice, input_format: {order}"
    )
    assert values.ndim == len(letters), (
        "size of input tensor and input format are different. tensor shape: "
        f"{values.shape}, input_format: {order}"
    )
    if "N" in letters:
        return _side_by_side(values.transpose([letters.index(each) for each in "NHWC"]))
    if "C" not in letters:
        values, letters = values[..., None], letters + "C"
    return _coloured(values.transpose([letters.index(each) for each in "HWC"]))


def _coloured(picture: Array) -> Array:
    return picture.repeat(3, axis=-1) if picture.shape[-1] == 1 else picture


def _side_by_side(pictures: Array) -> Array:
    coloured = _coloured(pictures)
    count, height, width, channels = coloured.shape
    columns = min(count, _IN_A_ROW)
    rows = ceil(count / columns)
    sheet = np.zeros((rows, height, columns, width, channels), coloured.dtype)
    for place, picture in enumerate(coloured):
        sheet[place // columns, :, place % columns] = picture
    return sheet.reshape(rows * height, columns * width, channels)


def as_bytes(values: Array) -> Array:
    """Bytes of a picture: as they are, or made of numbers from 0 to 1."""
    if values.dtype == np.uint8:
        return values
    return (values.astype(np.float32) * 255).clip(0, 255).astype(np.uint8)


def png(picture: Array) -> bytes:
    """A PNG file of bytes (height, width, channels)."""
    height, width, channels = picture.shape
    lines = np.zeros((height, 1 + width * channels), np.uint8)  # each begins with "no filter"
    lines[:, 1:] = picture.reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def boxed(picture: Array, boxes: Array, labels: Sequence[str] | None) -> Array:
    """A picture with boxes (left, top, right, bottom) around parts of it, by Pillow."""
    opened = import_module("PIL.Image").fromarray(picture)
    drawing = import_module("PIL.ImageDraw").Draw(opened)
    for place, box in enumerate(boxes):
        left, top, right, bottom = (float(each) for each in box)
        drawing.rectangle((left, top, right, bottom), outline="red", width=4)
        if labels is not None:
            drawing.text((left + 4, top + 4), labels[place], fill="red")
    return np.asarray(opened)

"""Operators that read between elements: resizing, and sampling by a grid."""

from . import grid_sample, interpolate, resize_by_mode

__all__ = [
    "grid_sample",
    "interpolate",
    "resize_by_mode",
]

"""Maxima and means over windows, and back."""

from . import adaptive_pool, average_pool, max_pool, unpool

__all__ = [
    "adaptive_pool",
    "average_pool",
    "max_pool",
    "unpool",
]

"""Fourier transforms and the windows before them."""

from . import fourier, short_fourier, window_functions

__all__ = [
    "fourier",
    "short_fourier",
    "window_functions",
]

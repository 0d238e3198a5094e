"""Real and imaginary parts of complex numbers, those of two halves (complex32) too."""

from __future__ import annotations

import numpy as np

from .dtype import Array, Dtype
from .storage import view_of

__all__ = ["is_complex", "parts"]


def is_complex(dtype: Dtype) -> bool:
    """Whether numbers have two parts; W is the kind of complex32, which NumPy itself lacks."""
    return dtype.kind in "cW"


def parts(array: Array) -> Array:
    """A view of complex numbers with one dimension more: real and imaginary part."""
    half = array.real.dtype if array.dtype.kind == "c" else np.dtype(np.float16)
    return view_of(array, (*array.shape, 2), (*array.strides, half.itemsize), 0, half)

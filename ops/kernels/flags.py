"""What kernels tell by single words: flags, which they set where they meet what they do not take,
and streams, out of which they draw.

What is known of calls tells such words from other whole numbers by their dtypes, which are these
very objects.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ..memory.dtype import Array

__all__ = ["FLAG", "STREAM", "new_flag", "new_stream"]

FLAG: Final = np.dtype(np.int64, metadata={"word": "flag"})
STREAM: Final = np.dtype(np.int64, metadata={"word": "stream"})


def new_flag() -> Array:
    """A flag that nobody has set."""
    return np.zeros(1, FLAG)


def new_stream() -> Array:
    """A stream without draws: the address of the next one, how many are left, and how many went at
    once the last time; whether a normal number is kept, and which, a float64; and both once more as
    they were before the last time."""
    return np.zeros(7, STREAM)

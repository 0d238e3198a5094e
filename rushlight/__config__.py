"""`torch.__config__`: how the library was built."""

from __future__ import annotations

import sys

from .version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """A text for reports of faults: what computes here."""
    import numpy as np

    python = sys.version.partition(" ")[0]
    return (
        f"rushlight, which follows PyTorch {__version__}, built with:\n"
        f"  - Python {python}\n  - NumPy {np.__version__}\n"
    )


def _cxx_flags() -> str:
    """The flags of a C++ compiler: none, for there was none."""
    return ""


def parallel_info() -> str:
    """How many threads share the work of an operator."""
    from .ops.kernels.threads import get_threads

    return f"ATen/Parallel:\n\tat::get_num_threads() : {get_threads()}\n"

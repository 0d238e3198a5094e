"""`torch.backends.cusparselt`: kernels of a device for sparse matrices, which are not here."""

from __future__ import annotations

from ..module_names import names_of

__all__ = ["is_available"]


def is_available() -> bool:
    """Whether the library is there: no."""
    return False


__getattr__ = names_of(__name__)

"""`torch.utils._mode_utils`: modes that see operators, and blocks without them."""

from __future__ import annotations

from collections.abc import Sequence

from .._C.dispatch import _DisableTorchDispatch as no_dispatch

__all__ = ["all_same_mode", "no_dispatch"]


def all_same_mode(modes: Sequence[object]) -> bool:
    """Whether all of them are one mode."""
    return all(mode == modes[0] for mode in modes)

"""`torch.utils.backcompat`: switches of warnings that torch gave when it was young."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Warning", "broadcast_warning", "keepdim_warning"]


@dataclass
class Warning:
    """Whether a warning is given; nothing is left that gives it."""

    enabled: bool = False


broadcast_warning = Warning()
keepdim_warning = Warning()

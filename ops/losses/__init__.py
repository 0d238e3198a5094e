"""Losses."""

from . import class_losses, ctc, losses

__all__ = [
    "class_losses",
    "ctc",
    "losses",
]

"""AdamW under its own module's name; it stands with Adam."""

from .adam import AdamW
from .functional import STEPS

__all__ = ["AdamW", "adamw"]

adamw = STEPS["adamw"]

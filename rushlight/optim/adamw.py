"""AdamW under its own module's name; it stands with Adam."""

from .adam import AdamW
from .functional import step_of

__all__ = ["AdamW", "adamw"]

adamw = step_of(AdamW)

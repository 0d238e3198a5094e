"""AdamW under its own module's name; it stands with Adam."""

from .adam import AdamW

__all__ = ["AdamW"]

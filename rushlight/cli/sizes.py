"""The sizes of an input on the command line."""

from __future__ import annotations

import argparse

__all__ = ["sizes"]


def sizes(text: str) -> list[int]:
    """`1,3,224,224` as numbers."""
    found = [int(part) for part in text.split(",") if part.strip()]
    if any(n < 0 for n in found):
        raise argparse.ArgumentTypeError(f"sizes are not negative: {text}")
    return found

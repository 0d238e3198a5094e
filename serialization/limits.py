"""How much an archive may ask for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that no honest archive comes near.

    `inflated` bounds the bytes of all deflated entries together, unless `ratio` times the size of
    the file is more.  `depth` bounds how deep values lie in each other (modules in modules, lists
    in lists), `pickle` the bytes of one pickle, `code` those of one code file.
    """

    entries: int = 1_000_000
    inflated: int = 1 << 30
    ratio: int = 100
    depth: int = 150
    pickle: int = 1 << 30
    code: int = 1 << 28


DEFAULT_LIMITS = Limits()

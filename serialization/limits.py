"""How much an archive may ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..interpreter.guard import Bounds

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that no honest archive comes near.

    `inflated` bounds the bytes of all deflated entries together, unless `ratio` times the size of
    the file is more.  `depth` bounds how deep values lie in each other (modules in modules, lists
    in lists), `pickle` the bytes of one pickle, `code` those of one code file.  `running` bounds
    each call of code that is not trusted, and is looked at only then.
    """

    entries: int = 1_000_000
    inflated: int = 1 << 30
    ratio: int = 100
    depth: int = 150
    pickle: int = 1 << 30
    code: int = 1 << 28
    running: Bounds = field(default_factory=Bounds)


DEFAULT_LIMITS = Limits()

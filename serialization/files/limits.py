"""How much an archive may ask for."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...frontend.limits.bounds import DEEPEST_VALUES
from ...interpreter.bounds.guard import Bounds

__all__ = ["DEFAULT_LIMITS", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds that no honest archive comes near.

    `inflated` bounds the bytes of all deflated entries together, unless `ratio` times the size of
    the file is more.  `depth` bounds how deep values lie in each other (modules in modules, lists
    in lists), `pickle` the bytes of one pickle, `code` those of one code file.  `opcodes` bounds
    the steps of one pickle, `nodes` the tuples, lists, dicts, names and objects that it makes: at
    most some 1 GB and ten seconds.  `running` bounds each call of code that is not trusted, and
    is looked at only then.
    """

    entries: int = 1_000_000
    inflated: int = 1 << 30
    ratio: int = 100
    depth: int = DEEPEST_VALUES
    pickle: int = 1 << 28
    code: int = 1 << 24
    opcodes: int = 1 << 24
    nodes: int = 1 << 21
    running: Bounds = field(default_factory=Bounds)


DEFAULT_LIMITS = Limits()

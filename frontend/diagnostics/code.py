"""What one error code means."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Code"]


@dataclass(frozen=True, slots=True)
class Code:
    """An error code: its slug, one line, an example that has it, the same put right, and why.

    The examples are written as after `import rushlight as torch`, `from rushlight import nn` and
    `from typing import *`; a function `f` or a module `M` in them is what gets scripted.
    """

    slug: str
    line: str
    bad: str
    good: str
    why: str

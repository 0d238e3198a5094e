"""Which codes have been hot before, in this process or another: those are native from their first
call, if their native code is still on disk.

It is only asked whether to look for that: what is found there goes by the whole of a source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ...ops.kernels.code.loading.objects import is_marked, mark
from ...typecheck.types.types import Type
from ..code.code import Code

__all__ = ["looks_of", "remember", "was_hot"]


def looks_of(code: Code, arguments: Sequence[Type]) -> str:
    """What tells a code, of arguments of some types, from those that look otherwise."""
    names = [entry.full_name for entry in code.operators]
    types = [each.annotation_str for each in (*code.types, *arguments)]
    about = (code.name, code.instructions, code.constants, names, types)
    return hashlib.sha256(repr(about).encode()).hexdigest()


def was_hot(looks: str) -> bool:
    """Whether a code that looks like this has been hot."""
    return is_marked("hot", (looks,))


def remember(looks: str) -> None:
    """A code that looks like this is hot, and its native code pays."""
    mark("hot", (looks,))

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

__all__ = ["remember", "was_hot"]


def was_hot(code: Code, arguments: Sequence[Type]) -> bool:
    """Whether a code that looks like this one has been hot."""
    return is_marked("hot", (_digest(code, arguments),))


def remember(code: Code, arguments: Sequence[Type]) -> None:
    """A code is hot, and its native code pays."""
    mark("hot", (_digest(code, arguments),))


def _digest(code: Code, arguments: Sequence[Type]) -> str:
    names = [entry.full_name for entry in code.operators]
    types = [each.annotation_str for each in (*code.types, *arguments)]
    about = (code.name, code.instructions, code.constants, names, types)
    return hashlib.sha256(repr(about).encode()).hexdigest()

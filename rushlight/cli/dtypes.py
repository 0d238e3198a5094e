"""The dtypes of inputs that a command makes of their sizes."""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.memory.dtype import DType
from .failure import CommandError

__all__ = ["check_dtypes"]


def check_dtypes(dtypes: Sequence[DType], count: int) -> None:
    """Take one dtype for all inputs, or one for each.

    Raises:
        CommandError: there is another number of them.
    """
    if len(dtypes) > 1 and len(dtypes) != count:
        raise CommandError(f"{count} inputs have {len(dtypes)} dtypes")

"""The dtypes of inputs that a command makes of their sizes."""

from __future__ import annotations

import argparse

from ..ops.memory.dtype import DTYPES, DType
from .arguments.options import Sized
from .failure import CommandError

__all__ = ["dtypes_of"]


def dtypes_of(arguments: argparse.Namespace) -> list[DType]:
    """The dtype of each `--input`: its own, or what `--dtype` says of all or of this one.

    Raises:
        CommandError: `--dtype` is given several times, but not once for each.
    """
    inputs: list[Sized] = arguments.input or []
    others: list[DType] = arguments.dtype or [DTYPES["float32"]]
    if len(others) > 1 and len(others) != len(inputs):
        raise CommandError(f"{len(inputs)} inputs have {len(others)} dtypes")
    if len(others) == 1:
        others = others * len(inputs)
    return [each.dtype or other for each, other in zip(inputs, others, strict=True)]

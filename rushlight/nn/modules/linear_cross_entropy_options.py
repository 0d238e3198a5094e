"""How `linear_cross_entropy` is cut in pieces in torch; here it is computed whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...ops.memory.dtype import DType

__all__ = ["LinearCrossEntropyOptions"]


@dataclass
class LinearCrossEntropyOptions:
    """Options that change no value.

    Args:
        allow_retain_graph: whether the way back can be walked twice, as it can.
        batch_chunk_size: the size of a piece.
        chunking_method: how that is found.
        acc_policy: what is kept exactly.
        acc_dtype: the dtype of sums.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: Literal["accurate", "balanced", "compact", "auto"] = "auto"
    acc_dtype: DType | None = None

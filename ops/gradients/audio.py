"""Gradients of the operators of `torchaudio`, for scripts, which have no functions of its own."""

from __future__ import annotations

from typing import Any

from .rows import gradient

__all__: list[str] = []


def _of_costs(gs: Any, results: Any) -> Any:
    return gs[0].reshape(-1, 1, 1, 1) * results[1]


gradient("torchaudio::rnnt_loss_forward", logits=_of_costs)

"""Where nodes were made, and what is told of one that fails on the way back.

Nodes keep this while `torch.autograd.detect_anomaly` is on, as torch does in their `metadata`.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..memory.warned import warn_caller
from ..tensors.tensor import Tensor

__all__ = ["note_place", "tell_of_failure"]

_PLACE: Final = "traceback_"
"""What torch calls it in the metadata of a node."""

_INSIDE: Final = __name__.partition(".")[0] + "."


def note_place(node: Any) -> None:
    """Have a node keep the lines that led to the call it was made by."""
    frames = [
        traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_stack(None)
        if not str(frame.f_globals.get("__name__", "")).startswith(_INSIDE)
    ]
    node.metadata[_PLACE] = traceback.format_list(frames[::-1])


def tell_of_failure(node: Any, grads: list[Any], looks: bool) -> Sequence[Any]:
    """The gradients of a node's arguments; a warning says where the node of a failure was made.

    Raises:
        RuntimeError: a gradient has a NaN, where that is looked for.
    """
    try:
        results: Sequence[Any] = node.run(grads)
    except Exception:
        _warn(node)
        raise
    for at, grad in enumerate(results):
        if looks and type(grad) is Tensor and np.isnan(grad._array).any():
            _warn(node)
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {at}th output."
            )
    return results


def _warn(node: Any) -> None:
    place = None if node.attached is None else node.attached.metadata.get(_PLACE)
    if place is None:
        warn_caller(
            f"Error detected in {node.name()}. No forward pass information available. Enable "
            "detect anomaly during forward pass for more information."
        )
        return
    warn_caller(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        + "".join(place)
    )

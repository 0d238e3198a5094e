"""Where nodes were made, and what is told of one that fails on the way back.

Nodes keep this while `torch.autograd.detect_anomaly` is on, as torch does in their `metadata`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from ....frontend.foundations.loaded_names import loaded_name
from ...memory.warned import warn_caller
from ...tensors.tensor import Tensor

__all__ = ["note_place", "tell_of_failure"]

_PLACE: Final = "traceback_"
"""What torch calls it in the metadata of a node."""

_INDUCED_BY: Final = "parent_"
"""The same, for the node that a walk had come to when this one was made."""

_INSIDE: Final = __name__.partition(".")[0] + "."


class _Put(Protocol):
    """What was put on a node."""

    metadata: dict[Any, object]


class _Node(Protocol):
    """A node of the way back, as far as it is asked here."""

    @property
    def attached(self) -> _Put | None: ...
    @property
    def metadata(self) -> dict[object, object]: ...
    def name(self) -> str: ...
    def run(self, grads: list[Tensor | None]) -> Sequence[Tensor | None]: ...


class _Walk(Protocol):
    """A walk back, which has come to a node."""

    @property
    def node(self) -> _Node | None: ...


def note_place(node: _Node, walk: _Walk | None) -> None:
    """Have a node keep the lines that led to the call it was made by, and the node that the walk
    back that runs has come to."""
    frames = [
        traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_stack(None)
        if not loaded_name(frame.f_globals).startswith(_INSIDE)
    ]
    node.metadata[_PLACE] = traceback.format_list(frames[::-1])
    if walk is not None and walk.node is not None:
        node.metadata[_INDUCED_BY] = walk.node


def tell_of_failure(
    node: _Node, grads: list[Tensor | None], looks: bool
) -> Sequence[Tensor | None]:
    """The gradients of a node's arguments; a warning says where the node of a failure was made.

    Raises:
        RuntimeError: a gradient has a NaN, where that is looked for.
    """
    try:
        results = node.run(grads)
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


def _warn(node: _Node) -> None:
    _tell(f"Error detected in {node.name()}.", "caused the error", node)
    above = _noted(node, _INDUCED_BY)
    while above is not None:
        begin = f"\n\nPrevious calculation was induced by {above.name()}."
        _tell(begin, "induced the previous calculation", above)
        above = _noted(above, _INDUCED_BY)


def _noted(node: _Node, key: str) -> Any:
    return None if node.attached is None else node.attached.metadata.get(key)


def _tell(begin: str, what: str, node: _Node) -> None:
    place = _noted(node, _PLACE)
    if place is None:
        end = "No forward pass information available. Enable "
        end += "detect anomaly during forward pass for more information."
    else:
        end = f"Traceback of forward call that {what}:\n" + "".join(place)
    try:
        warn_caller(f"{begin} {end}")
    except Warning as told:  # warnings are errors: the failure itself shall be raised
        print(f"{type(told).__name__}: {told}", file=sys.stderr)

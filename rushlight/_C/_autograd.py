"""`torch._C._autograd`: what is kept for the way back, and hooks of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.gradients.nodes.autograd import WALKING
from ..ops.gradients.nodes.packing import PACKING
from ..ops.gradients.nodes.saved_tensors import SavedTensor as SavedTensor
from ..ops.memory.versions import counts_of
from ..ops.tensors.tensor import Tensor

__all__ = ["SavedTensor"]


def _unsafe_set_version_counter(
    tensors: Sequence[Tensor] | Tensor, versions: Sequence[int]
) -> None:
    """Have tensors count their writes from other numbers on: gradients believe that.

    Raises:
        TypeError: the tensors are no sequence.
        ValueError: there are more or fewer numbers, or one is below 0.
    """
    if isinstance(tensors, Tensor):
        raise TypeError("_unsafe_set_version_counter(): tensors must be a sequence, not a tensor")
    for tensor, version in zip(tensors, versions, strict=True):
        if version < 0:
            raise ValueError(f"Cannot set a version_counter to a value below 0: {version}")
        counts_of(tensor._array)[1] = version


def _saved_tensors_hooks_is_enabled() -> bool:
    """Whether `saved_tensors_hooks` may be entered."""
    return not PACKING.refusal


def _saved_tensors_hooks_disable(error_message: str, fail_if_non_empty: bool = True) -> None:
    """Refuse them with an error of that text.

    Raises:
        RuntimeError: some are entered.
    """
    if fail_if_non_empty:
        PACKING.refuse(error_message)
    PACKING.refusal = error_message


def _saved_tensors_hooks_enable() -> None:
    """Allow them again."""
    PACKING.refusal = ""


def _saved_tensors_hooks_get_disabled_error_message() -> str | None:
    """The text with which they are refused, if they are."""
    return PACKING.refusal or None


def _push_saved_tensors_default_hooks(
    pack_hook: Callable[[Tensor], object], unpack_hook: Callable[[Any], Tensor]
) -> None:
    """Have tensors that are kept go through hooks from now on."""
    PACKING.put([*PACKING.hooks, (pack_hook, unpack_hook)])


def _pop_saved_tensors_default_hooks() -> None:
    """Take the last ones away."""
    PACKING.put(PACKING.hooks[:-1])


def _top_saved_tensors_default_hooks(
    ignore_is_tracing: bool,
) -> tuple[Callable[[Tensor], object], Callable[[object], Tensor]] | None:
    """The last ones, if there are any."""
    del ignore_is_tracing
    return PACKING.hooks[-1] if PACKING.hooks else None


def _get_current_graph_task_keep_graph() -> bool:
    """Whether nodes keep what they need for another walk; true outside of walks."""
    return WALKING.walk is None or WALKING.keep

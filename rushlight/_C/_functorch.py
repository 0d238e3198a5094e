"""`torch._C._functorch`: what a tensor is inside a transform of a function.

Levels are those of `vmap`, the outermost 1; transforms of gradients wrap no tensors here.
"""

from __future__ import annotations

from typing import Final

from .._functorch.vmap import _add_batch_dim as _add_batch_dim
from .._functorch.vmap import _remove_batch_dim as _remove_batch_dim
from .._functorch.vmap import in_levels
from ..frontend.foundations.chosen import Chosen
from ..ops.batching.batched import Batched
from ..ops.tensors.tensor import Tensor

__all__ = [
    *("_add_batch_dim", "_remove_batch_dim", "current_level", "get_unwrapped", "is_batchedtensor"),
    *("is_functionaltensor", "is_functorch_wrapped_tensor", "is_gradtrackingtensor"),
    *("is_legacy_batchedtensor", "maybe_current_level", "maybe_get_bdim", "maybe_get_level"),
]


_FALLBACK: Final = Chosen(True)


def _is_vmap_fallback_enabled() -> bool:
    """Whether slices may go one by one where nothing does them together.  The answer is kept alone:
    they do in any case."""
    return bool(_FALLBACK.now)


def _set_vmap_fallback_enabled(enabled: bool) -> None:
    """Say whether they may."""
    _FALLBACK.choose(enabled)


def is_batchedtensor(tensor: Tensor) -> bool:
    """Whether a tensor stands for each of the slices of another one."""
    return type(tensor) is Batched


is_functorch_wrapped_tensor = is_batchedtensor


def is_gradtrackingtensor(tensor: Tensor) -> bool:
    """Whether a tensor is wrapped for a gradient: none is."""
    del tensor
    return False


is_functionaltensor = is_legacy_batchedtensor = is_gradtrackingtensor


def maybe_get_level(tensor: Tensor) -> int:
    """The level of the `vmap` whose slices a tensor stands for, else -1."""
    return tensor._level.number if type(tensor) is Batched else -1


def maybe_get_bdim(tensor: Tensor) -> int:
    """The dimension of the slices in `get_unwrapped(tensor)`, always the first; else -1."""
    return 0 if type(tensor) is Batched else -1


def get_unwrapped(tensor: Tensor) -> Tensor:
    """The tensor whose slices another one stands for.

    Raises:
        RuntimeError: it stands for itself.
    """
    if type(tensor) is not Batched:
        raise RuntimeError("No wrappers present!")
    return tensor._value


def maybe_current_level() -> int | None:
    """The level of the innermost `vmap` that runs, if one does."""
    return len(in_levels()) or None


def current_level() -> int:
    """The same.

    Raises:
        RuntimeError: none runs.
    """
    if not in_levels():
        raise RuntimeError("no vmap runs: there is no current level")
    return len(in_levels())

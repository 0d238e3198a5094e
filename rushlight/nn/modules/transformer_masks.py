"""Masks of sequences, and what encoders and decoders have in common."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, attr-defined"

from __future__ import annotations

import copy
from collections.abc import Callable

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Tensor
from .. import functional as F
from .container import ModuleList
from .module import Module

__all__: list[str] = []

Activation = Callable[[Tensor], Tensor]
Operator = Callable[..., Tensor]

_full: Operator = eager_function("aten::full")
_triu: Operator = eager_function("aten::triu")


def _generate_square_subsequent_mask(
    sz: int, device: Device | None = None, dtype: DType | None = None
) -> Tensor:
    """A mask to be added by which a place sees only itself and what comes before."""
    closed = _full((sz, sz), float("-inf"), dtype=dtype, device=device)
    return _triu(closed, 1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    """T of (T, E), (T, B, E), or (B, T, E) with `batch_first`; None where rows have their own."""
    if src.is_nested:
        return None
    return src.size(1 if batch_first and src.ndim == 3 else 0)


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Whether a mask is the causal one; `is_causal` says so if it is not None."""
    if is_causal is not None or mask is None:
        return is_causal is True
    length = mask.size(-2) if size is None else size
    causal = _generate_square_subsequent_mask(length, mask.device, mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


for _function in (_generate_square_subsequent_mask, _get_seq_len, _detect_is_causal_mask):
    _function.__module__ = "rushlight.nn.modules.transformer"  # as archives know it


def _get_clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _get_activation_fn(activation: str) -> Activation:
    """The function of a name.

    Raises:
        RuntimeError: another name than "relu" and "gelu".
    """
    functions = {"relu": F.relu, "gelu": F.gelu}
    if activation not in functions:
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return functions[activation]

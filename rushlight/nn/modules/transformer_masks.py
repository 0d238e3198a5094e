"""Masks of sequences, and what encoders and decoders have in common."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, attr-defined"

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Tensor
from .. import functional as F
from .container import ModuleList
from .module import Module

__all__: list[str] = []

Activation = Callable[[Tensor], Tensor]
Operator = Callable[..., Any]

_full: Operator = eager_function("aten::full")
_triu: Operator = eager_function("aten::triu")


def _generate_square_subsequent_mask(
    sz: int, device: Device | None = None, dtype: DType | None = None
) -> Tensor:
    """A mask to be added by which a place sees only itself and what comes before."""
    return _triu(_full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int | None:
    if src.is_nested:
        return None
    else:
        src_size = src.size()
        if len(src_size) == 2:
            return src_size[0]
        else:
            seq_len_pos = 1 if batch_first else 0
            return src_size[seq_len_pos]


def _detect_is_causal_mask(
    mask: Tensor | None, is_causal: bool | None = None, size: int | None = None
) -> bool:
    """Whether a mask is the causal one; `is_causal` says so if it is not None."""
    make_causal = is_causal is True
    if is_causal is None and mask is not None:
        sz = size if size is not None else mask.size(-2)
        causal_comparison = _generate_square_subsequent_mask(
            sz, device=mask.device, dtype=mask.dtype
        )
        if mask.size() == causal_comparison.size():
            make_causal = bool((mask == causal_comparison).all())
        else:
            make_causal = False
    return make_causal


for _function in (_generate_square_subsequent_mask, _get_seq_len, _detect_is_causal_mask):
    _function.__module__ = "rushlight.nn.modules.transformer"  # as archives know it


def _get_clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _get_activation_fn(activation: str) -> Activation:
    """The function of a name.

    Raises:
        RuntimeError: another name than "relu" and "gelu".
    """
    if activation == "relu":
        return F.relu
    if activation == "gelu":
        return F.gelu
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")

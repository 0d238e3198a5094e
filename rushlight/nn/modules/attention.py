"""`MultiheadAttention`.

Where nothing but the result is asked for, all of it is one operator, the "fast path", under the
conditions of torch: it treats rows without any place to attend to in another way.
"""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, unreachable"

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...backends import mha
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.overriding import has_torch_function
from ...ops.tensors.tensor import Parameter, Tensor
from .. import functional as F
from .. import init
from ..functional.attention import added_masks
from ..layer_options import Placed
from ..modes import is_autocast_enabled, is_grad_enabled
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]

Operator = Callable[..., Tensor]
Pair = Callable[..., tuple[Tensor, Tensor]]

_empty: Operator = eager_function("aten::empty")
_is_floating_point: Callable[..., bool] = eager_function("aten::is_floating_point")
_native: Pair = eager_function("aten::_native_multi_head_attention")


def records(tensors: list[Tensor]) -> bool:
    """Whether what is computed of them is recorded for gradients."""
    return is_grad_enabled() and any([x.requires_grad for x in tensors])  # noqa: C419


def _is_floating(mask: Tensor | None) -> bool:
    return mask is not None and _is_floating_point(mask)


def _turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(B, T, E) as (T, B, E); what is one tensor stays one."""
    of_query = query.transpose(0, 1)
    of_key = of_query if key is query else key.transpose(0, 1)
    return of_query, of_key, of_key if value is key else value.transpose(0, 1)


for _function in (records, _is_floating, _turned):
    _function.__module__ = "rushlight.nn.modules.activation"  # as archives know it


class MultiheadAttention(Module):
    """Attention with several heads (Vaswani et al., arXiv:1706.03762).

    Inputs are (T, E), (T, B, E), or (B, T, E) with `batch_first`; the weights of the attention are
    given back too.
    """

    __module__ = "rushlight.nn.modules.activation"  # as archives know it

    __constants__: ClassVar[list[str]] = ["batch_first"]
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        made: Placed = {"device": device, "dtype": dtype}
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._make_projections(made)
        if bias:
            self.in_proj_bias = Parameter(_empty(3 * embed_dim, **made))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(_empty(1, 1, embed_dim, **made))
            self.bias_v = Parameter(_empty(1, 1, embed_dim, **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_projections(self, made: Placed) -> None:
        """One weight for all three projections, or three of different widths."""
        width, apart = self.embed_dim, not self._qkv_same_embed_dim
        for name, size in (("q", width), ("k", self.kdim), ("v", self.vdim)):
            weight: Parameter | None = Parameter(_empty(width, size, **made)) if apart else None
            self.register_parameter(f"{name}_proj_weight", weight)
        weight = None if apart else Parameter(_empty(3 * width, width, **made))
        self.register_parameter("in_proj_weight", weight)

    def _reset_parameters(self) -> None:
        joined = [self.in_proj_weight]
        apart = [self.q_proj_weight, self.k_proj_weight, self.v_proj_weight]
        for weight in joined if self._qkv_same_embed_dim else apart:
            init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            for bias in (self.in_proj_bias, self.out_proj.bias):
                init.constant_(bias, 0.0)
        for place in (self.bias_k, self.bias_v):
            if place is not None:
                init.xavier_normal_(place)

    def __setstate__(self, state: dict[str, Any]) -> None:
        state.setdefault("_qkv_same_embed_dim", True)  # older versions lack these
        for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight"):
            state["_parameters"].setdefault(name, None)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """See `functional.multi_head_attention_forward`."""
        is_batch = query.dim() == 3
        attends_to_itself = is_batch and not self.training and query is key and key is value
        masks_are_bool = not _is_floating(attn_mask) and not _is_floating(key_padding_mask)
        attn_mask, key_padding_mask = added_masks(attn_mask, key_padding_mask, query.dtype)
        if attends_to_itself and masks_are_bool:  # noqa: SIM102  (what is None is known to script)
            if self.in_proj_weight is not None and self.in_proj_bias is not None:  # noqa: SIM102
                if self._is_one_operator(query):
                    mask, kind = self.merge_masks(attn_mask, key_padding_mask, query)
                    return self._at_once(query, mask, kind, need_weights, average_attn_weights)
        if query.is_nested or key.is_nested or value.is_nested:
            raise AssertionError(
                "MultiheadAttention does not support NestedTensor outside of its fast path."
            )
        turned = self.batch_first and is_batch
        if turned:
            query, key, value = _turned(query, key, value)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            self.training,
            key_padding_mask,
            need_weights,
            attn_mask,
            not self._qkv_same_embed_dim,
            self.q_proj_weight,
            self.k_proj_weight,
            self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return output.transpose(0, 1) if turned else output, weights

    def _is_one_operator(self, x: Tensor) -> bool:
        """Whether one operator computes attention of `x` to itself: in inference, over a batch."""
        if not self.batch_first or self.num_heads % 2 == 1:
            return False
        weight, bias = self.in_proj_weight, self.in_proj_bias
        tensors = [x, weight, bias, self.out_proj.weight, self.out_proj.bias]
        return (
            (x.is_cpu or x.is_cuda)
            and not (self.add_zero_attn or self.bias_k is not None)
            and x.dtype == weight.dtype
            and x.dtype == bias.dtype
            and mha.get_fastpath_enabled()
            and not is_autocast_enabled()
            and not has_torch_function(tensors)
            and not records(tensors)
        )

    def _at_once(
        self, x: Tensor, mask: Tensor | None, kind: int | None, need_weights: bool, average: bool
    ) -> tuple[Tensor, Tensor | None]:
        output, weights = _native(
            x,
            x,
            x,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.out_proj.weight,
            self.out_proj.bias,
            mask,
            need_weights,
            average,
            kind,
        )
        if need_weights:
            return output, weights
        return output, None

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """The two masks as one, and its kind: 1 is padding (B, T), 2 is (B, heads, T, T)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, steps, _ = query.shape
        if attn_mask.ndim == 3:
            merged = attn_mask.view(batch, -1, steps, steps)
        else:
            every = attn_mask.view(1, 1, steps, steps)
            merged = every.expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, steps)
        return merged, 2

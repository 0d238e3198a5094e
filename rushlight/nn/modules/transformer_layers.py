"""One layer of an encoder, one of a decoder."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, unreachable"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...backends import mha
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.overriding import has_torch_function
from ...ops.tensors.tensor import Tensor
from .. import functional as F
from ..functional.attention import added_masks
from ..layer_options import Biased
from ..modes import is_autocast_enabled
from ..sizes import is_scripting
from .activation import GELU, MultiheadAttention, ReLU
from .attention import records
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm
from .transformer_masks import Activation, _get_activation_fn

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]

Operator = Callable[..., Tensor]

_encoder_layer: Operator = eager_function("aten::_transformer_encoder_layer_fwd")


def _has_hooks(module: Module) -> bool:
    """Whether somebody wants to see what goes in or comes out somewhere inside."""
    waiting = [module]
    for each in waiting:
        own = each.__dict__
        if own.get("_forward_hooks") or own.get("_forward_pre_hooks"):
            return True
        waiting += [child for child in own.get("_modules", {}).values() if child is not None]
    return False


def _activation(given: str | Activation) -> Activation:
    return _get_activation_fn(given) if isinstance(given, str) else given


def _number_of(activation: Activation) -> int:
    """What the operator for a whole layer knows an activation by; 0 is none of its own."""
    if activation is F.relu or isinstance(activation, ReLU):
        return 1
    return 2 if activation is F.gelu or isinstance(activation, GELU) else 0


def _furnish(
    layer: Module,
    attentions: tuple[str, ...],
    widths: tuple[int, int, int],
    dropout: float,
    eps: float,
    batch_first: bool,
    made: Biased,
) -> None:
    """Give a layer its parts: each that is added to what comes in has its own norm and dropout."""
    width, heads, inner = widths
    for name in attentions:
        attention = MultiheadAttention(width, heads, dropout, batch_first=batch_first, **made)
        setattr(layer, name, attention)
    layer.linear1 = Linear(width, inner, **made)
    layer.dropout = Dropout(dropout)
    layer.linear2 = Linear(inner, width, **made)
    numbers = range(1, len(attentions) + 2)
    for number in numbers:
        setattr(layer, f"norm{number}", LayerNorm(width, eps, **made))
    for number in numbers:
        setattr(layer, f"dropout{number}", Dropout(dropout))


class TransformerEncoderLayer(Module):
    """Self-attention and two linear layers, each added to its input and normalised.

    In inference the whole layer is one operator where torch's is.
    """

    __module__ = "rushlight.nn.modules.transformer"  # as archives know it

    __constants__ = ["norm_first"]  # noqa: RUF012  (an annotation would show in archives)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        made: Biased = {"bias": bias, "device": device, "dtype": dtype}
        widths = (d_model, nhead, dim_feedforward)
        _furnish(self, ("self_attn",), widths, dropout, layer_norm_eps, batch_first, made)
        self.norm_first = norm_first
        self.activation = _activation(activation)
        self.activation_relu_or_gelu = _number_of(self.activation)

    def __setstate__(self, state: dict[str, Any]) -> None:
        inside = "activation" in state.get("_modules", ())
        super().__setstate__(state if inside else {"activation": F.relu, **state})

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """(T, B, E), or (B, T, E) with `batch_first`, or (T, E)."""
        src_mask, src_key_padding_mask = added_masks(
            src_mask, src_key_padding_mask, src.dtype, "src_mask", "src_key_padding_mask"
        )
        if self.self_attn.in_proj_bias is not None:  # noqa: SIM102
            if not self.training:
                masked = src_mask is not None or src_key_padding_mask is not None
                if self._is_one_operator(src, masked):
                    weights = self._weights()
                    if self._infers_by(src, weights):
                        mask, kind = self.self_attn.merge_masks(src_mask, src_key_padding_mask, src)
                        return self._at_once(src, weights, mask, kind)
        if self.norm_first:
            src = src + self._sa_block(self.norm1(src), src_mask, src_key_padding_mask, is_causal)
            return src + self._ff_block(self.norm2(src))
        src = self.norm1(src + self._sa_block(src, src_mask, src_key_padding_mask, is_causal))
        return self.norm2(src + self._ff_block(src))

    def _weights(self) -> list[Tensor]:
        """The parameters, as the operator takes them."""
        attention, out = self.self_attn, self.self_attn.out_proj
        one, other, up, down = self.norm1, self.norm2, self.linear1, self.linear2
        weights = [attention.in_proj_weight, attention.in_proj_bias, out.weight, out.bias]
        weights += [one.weight, one.bias, other.weight, other.bias]
        weights += [up.weight, up.bias, down.weight, down.bias]
        return weights

    def _is_one_operator(self, src: Tensor, masked: bool) -> bool:
        """Whether one operator does all that such a layer does to a batch, if it infers."""
        attention = self.self_attn
        if not attention.batch_first or not attention._qkv_same_embed_dim:
            return False
        if self.activation_relu_or_gelu == 0 or self.norm1.eps != self.norm2.eps:
            return False
        if attention.num_heads % 2 == 1 or (masked and src.is_nested):
            return False
        if not is_scripting():  # noqa: SIM102
            if _has_hooks(self):
                return False
        return True

    def _infers(self, src: Tensor) -> bool:
        """Whether nothing but the result for a batch is asked of the layer."""
        return not self.training and self._infers_by(src, self._weights())

    def _infers_by(self, src: Tensor, weights: list[Tensor]) -> bool:
        """The same in evaluation."""
        if src.ndim != 3 or not (src.is_cpu or src.is_cuda):
            return False
        if not mha.get_fastpath_enabled() or is_autocast_enabled():
            return False
        given = [src] + weights  # noqa: RUF005  (script has no stars in lists)
        return not (has_torch_function(given) or records(given))

    def _at_once(
        self, src: Tensor, weights: list[Tensor], mask: Tensor | None, kind: int | None
    ) -> Tensor:
        attention = self.self_attn
        return _encoder_layer(
            src,
            attention.embed_dim,
            attention.num_heads,
            weights[0],
            weights[1],
            weights[2],
            weights[3],
            self.activation_relu_or_gelu == 2,
            self.norm_first,
            self.norm1.eps,
            weights[4],
            weights[5],
            weights[6],
            weights[7],
            weights[8],
            weights[9],
            weights[10],
            weights[11],
            mask,
            kind,
        )

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        attended, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout1(attended)

    def _ff_block(self, x: Tensor) -> Tensor:
        inner = self.dropout(self.activation(self.linear1(x)))
        return self.dropout2(self.linear2(inner))


class TransformerDecoderLayer(Module):
    """Self-attention, attention to an encoder's result, and two linear layers."""

    __module__ = "rushlight.nn.modules.transformer"  # as archives know it

    __constants__ = ["norm_first"]  # noqa: RUF012  (an annotation would show in archives)

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        made: Biased = {"bias": bias, "device": device, "dtype": dtype}
        widths = (d_model, nhead, dim_feedforward)
        attentions = ("self_attn", "multihead_attn")
        _furnish(self, attentions, widths, dropout, layer_norm_eps, batch_first, made)
        self.norm_first = norm_first
        self.activation = _activation(activation)

    def __setstate__(self, state: dict[str, object]) -> None:
        # torch's copies of a layer forget an activation that is a module; so do its results
        super().__setstate__({"activation": F.relu, **state})

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Both (T, B, E), or (B, T, E) with `batch_first`, or (T, E)."""
        if self.norm_first:
            x = tgt + self._sa_block(self.norm1(tgt), tgt_mask, tgt_key_padding_mask, tgt_is_causal)
            x = x + self._mha_block(
                self.norm2(x), memory, memory_mask, memory_key_padding_mask, memory_is_causal
            )
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(tgt + self._sa_block(tgt, tgt_mask, tgt_key_padding_mask, tgt_is_causal))
        seen = self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self.norm2(x + seen)
        return self.norm3(x + self._ff_block(x))

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        attended, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout1(attended)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        attended, _ = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout2(attended)

    def _ff_block(self, x: Tensor) -> Tensor:
        inner = self.dropout(self.activation(self.linear1(x)))
        return self.dropout3(self.linear2(inner))

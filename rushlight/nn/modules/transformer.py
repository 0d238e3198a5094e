"""Transformers (Vaswani et al., arXiv:1706.03762): encoder, decoder, and both together."""

# Script reads these bodies: no casts in them.
# mypy: disable-error-code="no-any-return, unreachable"

from __future__ import annotations

import warnings
from collections.abc import Callable

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import Device, DType
from ...ops.tensors.tensor import Tensor
from .. import functional as F
from .. import init
from ..functional.attention import added_masks
from ..layer_options import Biased
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import TransformerDecoderLayer, TransformerEncoderLayer
from .transformer_masks import (
    Activation,
    _detect_is_causal_mask,
    _generate_square_subsequent_mask,
    _get_clones,
    _get_seq_len,
)
from .transformer_masks import _get_activation_fn as _get_activation_fn

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Operator = Callable[..., Tensor]

_arange: Operator = eager_function("aten::arange")
_left_aligned: Operator = eager_function("aten::_nested_tensor_from_mask_left_aligned")


class Transformer(Module):
    """An encoder and a decoder, unless others are given."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device | str | None = None,
        dtype: DType | None = None,
    ) -> None:
        super().__init__()
        made: Biased = {"bias": bias, "device": device, "dtype": dtype}
        shape = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps)
        order = (batch_first, norm_first)
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*shape, *order, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            other = TransformerDecoderLayer(*shape, *order, **made)
            norm = LayerNorm(d_model, layer_norm_eps, **made)
            custom_decoder = TransformerDecoder(other, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Both (T, B, E), or (B, T, E) with `batch_first`, or (T, E)."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        return self.decoder(
            tgt,
            self.encoder(
                src,
                mask=src_mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=src_is_causal,
            ),
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device | None = None, dtype: DType | None = None
    ) -> Tensor:
        """A mask by which a place sees only itself and what comes before."""
        return _generate_square_subsequent_mask(sz, dtype=dtype, device=device)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


def _why_not_nested(layer: Module) -> str:
    """Why an encoder of such layers never makes nested tensors; "" if it may."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    if layer.norm_first:
        return "encoder_layer.norm_first was True"
    attention = layer.self_attn
    if not attention.batch_first:
        return (
            "encoder_layer.self_attn.batch_first was not True"
            "(use batch_first for better inference performance)"
        )
    if not attention._qkv_same_embed_dim:
        return "encoder_layer.self_attn._qkv_same_embed_dim was not True"
    if attention.in_proj_bias is None:
        return "encoder_layer.self_attn was passed bias=False"
    if not layer.activation_relu_or_gelu:
        return "encoder_layer.activation_relu_or_gelu was not True"
    if layer.norm1.eps != layer.norm2.eps:
        return "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"
    if attention.num_heads % 2 == 1:
        return "encoder_layer.self_attn.num_heads is odd"
    return ""


class TransformerEncoder(Module):
    """Copies of a layer one after the other.

    In inference, padded places may be left out of the computation; they are 0 in the result then.
    """

    __constants__ = ["norm"]  # noqa: RUF012  (an annotation would show in archives)

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why = _why_not_nested(encoder_layer)
        if enable_nested_tensor and why:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because " + why,
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """(T, B, E), or (B, T, E) with `batch_first`, or (T, E)."""
        mask, padding = added_masks(
            mask, src_key_padding_mask, src.dtype, "mask", "src_key_padding_mask"
        )
        output, padded = src, self._left_out(src, mask, padding)
        if padded is not None:
            padding, _ = added_masks(padded, None, src.dtype)
        length = _get_seq_len(src, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(mask, is_causal, length)
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if padded is not None:
            output = output.masked_fill(padded.unsqueeze(-1), 0.0)
        if self.norm is not None:
            output = self.norm(output)
        return output

    def _left_out(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> Tensor | None:
        """Where the result is 0, (B, T): in inference, places behind the ends of sequences."""
        first = self.layers[0]
        if padding is None or first.training or not getattr(self, "use_nested_tensor", False):
            return None
        if src.ndim != 3:
            return None
        kept = padding.logical_not()
        if getattr(self, "mask_check", True) and not _left_aligned(src, kept):
            return None
        if hasattr(first, "_infers") and first.self_attn.in_proj_bias is not None:  # noqa: SIM102
            if mask is None and first._infers(src) and not src.is_nested:
                if kept.size() != src.size()[:2]:
                    raise RuntimeError("Mask size should match input size")
                return _arange(src.size(1), device=src.device) >= kept.sum(1).unsqueeze(1)
        return None


class TransformerDecoder(Module):
    """Copies of a layer one after the other."""

    __constants__ = ["norm"]  # noqa: RUF012  (an annotation would show in archives)

    def __init__(
        self,
        decoder_layer: TransformerDecoderLayer,
        num_layers: int,
        norm: Module | None = None,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Both (T, B, E), or (B, T, E) with `batch_first`, or (T, E)."""
        output, length = tgt, _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        if self.norm is not None:
            output = self.norm(output)
        return output


__getattr__ = names_of(__name__)

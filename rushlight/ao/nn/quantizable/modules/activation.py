"""Attention of layers that can be observed and quantized one by one."""

from __future__ import annotations

import math
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, Final

from .....nn import functional as F
from .....nn.functional.attention import added_masks
from .....nn.layer_options import Biased
from .....nn.modules import attention as floats
from .....nn.modules.linear import Linear
from .....nn.modules.module import Module
from .....nn.parameter import Parameter
from .....ops.eager.dispatch import eager_function
from .....ops.memory.dtype import DTYPES, Device, DType
from .....ops.tensors.tensor import Tensor
from ...quantized.modules.functional_modules import FloatFunctional

__all__ = ["MultiheadAttention"]

_OWN: Final = __name__.partition(".")[0]
_FLOAT: Final = DTYPES["float32"]

_bmm = eager_function("aten::bmm")
_cat = eager_function("aten::cat")
_quantize = eager_function("aten::quantize_per_tensor")
_zeros = eager_function("aten::zeros")


class MultiheadAttention(floats.MultiheadAttention):
    """`nn.MultiheadAttention` with linear layers for query, key and value, which are quantized;
    scores and their softmax are floats."""

    _FLOAT_MODULE: ClassVar[type[Module]] = floats.MultiheadAttention
    __constants__ = ["batch_first"]  # noqa: RUF012  (an annotation would show in archives)

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
        super().__init__(
            *(embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim),
            *(batch_first, device, dtype),
        )
        made: Biased = {"bias": bias, "device": device, "dtype": dtype}
        self.linear_Q = Linear(self.embed_dim, self.embed_dim, **made)
        self.linear_K = Linear(self.kdim, self.embed_dim, **made)
        self.linear_V = Linear(self.vdim, self.embed_dim, **made)
        self.out_proj: Any = Linear(self.embed_dim, self.embed_dim, **made)
        self.q_scaling_product = FloatFunctional()
        stubs = import_module(f"{_OWN}.ao.quantization.stubs")  # whose package imports this file
        self.quant_attn_output = stubs.QuantStub()
        self.quant_attn_output_weights = stubs.QuantStub()
        self.dequant_q = stubs.DeQuantStub()
        self.dequant_k = stubs.DeQuantStub()
        self.dequant_v = stubs.DeQuantStub()

    def _get_name(self) -> str:
        return "QuantizableMultiheadAttention"

    @classmethod
    def from_float(cls, other: Module) -> Module:
        """The observed layer of a float one, which is in evaluation.

        Raises:
            AssertionError: it is another module, or has no configuration.
        """
        if type(other) is not cls._FLOAT_MODULE:
            raise AssertionError(f"Expected type {cls._FLOAT_MODULE}, got {type(other)}")
        if not hasattr(other, "qconfig"):
            raise AssertionError("The float module must have 'qconfig'")
        made = cls(
            *(other.embed_dim, other.num_heads, other.dropout, other.out_proj.bias is not None),
            *(other.bias_k is not None, other.add_zero_attn, other.kdim, other.vdim),
            batch_first=other.batch_first,
        )
        made.bias_k, made.bias_v, made.qconfig = other.bias_k, other.bias_v, other.qconfig
        made.out_proj.weight, made.out_proj.bias = other.out_proj.weight, other.out_proj.bias
        linears = made.linear_Q, made.linear_K, made.linear_V
        if other._qkv_same_embed_dim:
            weights = other.in_proj_weight.detach().chunk(3)
        else:
            weights = [other.q_proj_weight, other.k_proj_weight, other.v_proj_weight]
        bias = other.in_proj_bias
        biases = [None] * 3 if bias is None else bias.detach().chunk(3)
        for linear, weight, own in zip(linears, weights, biases, strict=True):
            linear.weight = Parameter(weight.detach().clone())
            if own is not None:
                linear.bias = Parameter(own.clone())
        made.eval()
        steps: ModuleType = import_module(f"{_OWN}.ao.quantization.quantize")
        observed: Module = steps.prepare(made, inplace=True)
        return observed

    @classmethod
    def from_observed(cls, other: Module) -> Module:
        """Raises: NotImplementedError: this is the observed layer itself."""
        raise NotImplementedError(
            "It looks like you are trying to prepare an MHA module. Please, see the examples on "
            "quantizable MHAs."
        )

    def dequantize(self) -> Module:
        """The float layer with the weights of this one, quantized or not."""
        made = floats.MultiheadAttention(
            *(self.embed_dim, self.num_heads, self.dropout, _bias(self.out_proj) is not None),
            add_bias_kv=self.bias_k is not None,
            add_zero_attn=self.add_zero_attn,
            kdim=self.kdim,
            vdim=self.vdim,
            batch_first=self.batch_first,
        )
        linears = self.linear_Q, self.linear_K, self.linear_V
        weights = [_weight(each) for each in linears]
        if made._qkv_same_embed_dim:
            made.in_proj_weight = Parameter(_cat(weights, 0))
        else:
            made.q_proj_weight, made.k_proj_weight, made.v_proj_weight = map(Parameter, weights)
        biases = [_bias(each) for each in linears]
        if made.in_proj_bias is not None:
            made.in_proj_bias = Parameter(_cat(biases, 0))
        made.out_proj.weight = Parameter(_weight(self.out_proj))
        if made.out_proj.bias is not None:
            made.out_proj.bias = Parameter(_bias(self.out_proj))
        if self.bias_k is not None and self.bias_v is not None:
            made.bias_k, made.bias_v = (Parameter(_plain(b)) for b in (self.bias_k, self.bias_v))
        made.train(self.training)
        return made

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
        """As `nn.MultiheadAttention`, of batches alone.

        Raises:
            AssertionError: `is_causal` stands without `attn_mask`.
            ValueError: there is no batch.
        """
        if is_causal and attn_mask is None:
            raise AssertionError("Need attn_mask if specifying the is_causal hint.")
        if query.dim() != 3:
            raise ValueError(
                f"quantizable.MultiheadAttention takes batches, and query has {query.dim()} "
                "dimensions"
            )
        mask, padding = added_masks(attn_mask, key_padding_mask, _FLOAT)
        if self.batch_first:
            query, key, value = (each.transpose(0, 1) for each in (query, key, value))
        targets, batch, _ = query.shape
        width = self.embed_dim // self.num_heads
        q = self.q_scaling_product.mul_scalar(self.linear_Q(query), 1 / math.sqrt(width))
        k, v = self.linear_K(key), self.linear_V(value)
        more = 0
        if self.bias_k is not None and self.bias_v is not None:
            k, v = (
                _cat([each, _like(bias, each).expand(1, batch, self.embed_dim)], 0)
                for each, bias in ((k, self.bias_k), (v, self.bias_v))
            )
            more += 1
        q, k, v = self.dequant_q(q), self.dequant_k(k), self.dequant_v(v)
        if self.add_zero_attn:
            rest = _zeros([1, batch, self.embed_dim])
            k, v = _cat([k, rest], 0), _cat([v, rest], 0)
            more += 1
        shape = [batch, self.num_heads, targets, k.shape[0]]
        scores = _bmm(self._heads(q), self._heads(k).transpose(1, 2))
        scores = _masked(scores, shape, mask, padding, more)
        weights = F.dropout(F.softmax(scores, -1), self.dropout, self.training)
        mixed = _bmm(weights, self._heads(v)).transpose(0, 1)
        mixed = mixed.reshape(targets, batch, self.embed_dim)
        if self.batch_first:
            mixed = mixed.transpose(0, 1)
        result = self.out_proj(self.quant_attn_output(mixed))
        shown = self.quant_attn_output_weights(weights)
        if not need_weights:
            return result, None
        shown = shown.view(shape)
        return result, shown.mean(1) if average_attn_weights else shown

    def _heads(self, x: Tensor) -> Tensor:
        """(T, B, E) as (B * heads, T, E / heads)."""
        length, batch, width = x.shape
        rows = batch * self.num_heads
        return x.reshape(length, rows, width // self.num_heads).transpose(0, 1)


def _masked(
    scores: Tensor, shape: list[int], mask: Tensor | None, padding: Tensor | None, more: int
) -> Tensor:
    """Scores (B * heads, T, S), of a shape (B, heads, T, S), plus masks that are `more` narrow."""
    for each in (mask, padding):
        if each is not None:
            wide = F.pad(each, [0, more])
            if each is padding:
                wide = wide.view(shape[0], 1, 1, shape[-1])
            elif wide.dim() == 3:
                wide = wide.view(shape)
            scores = (scores.view(shape) + wide).view(-1, *shape[2:])
    return scores


def _like(bias: Tensor, other: Tensor) -> Tensor:
    """A bias (1, 1, E), quantized as another tensor is."""
    if not other.is_quantized or bias.is_quantized:
        return bias
    return _quantize(bias, other.q_scale(), other.q_zero_point(), other.dtype)  # type: ignore[no-any-return]


def _plain(tensor: Tensor) -> Tensor:
    found = tensor.detach()
    return found.dequantize() if found.is_quantized else found.clone()


def _weight(linear: Module) -> Tensor:
    """The weight of a float or quantized layer, in floats."""
    return _plain(linear.weight() if callable(linear.weight) else linear.weight)


def _bias(linear: Module) -> Tensor | None:
    found = linear.bias() if callable(linear.bias) else linear.bias
    return None if found is None else _plain(found)

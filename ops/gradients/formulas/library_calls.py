"""Gradients of the operators that torch's own library calls are made of, as graphs and old archives
name them: most do what an operator without the underscore does, and give more results.
"""

from __future__ import annotations

from ...resizing.resize_by_mode import interpolate, upsample, upsample_bilinear, upsample_nearest
from ...tensors.tensor import Tensor
from ..table.rows import (
    ROWS,
    Grads,
    Ints,
    Tensors,
    Wanted,
    aten,
    composite,
    conj,
    gradient,
    joint,
    lying,
    refused,
    rewritten,
    same_as,
    undifferentiated,
)
from ..table.rules import computed_wide
from .activation import log_sigmoid_slope
from .convolution import _convolution
from .factorisation import _eigh, _log_det, _outer, _solve
from .layers import (
    _batch_norm,
    attended,
    attention,
    batch_norm_with_update,
    native_batch_norm,
    rms_norm,
)
from .linear import turned
from .loss import _nll, _picked, ctc_loss, multilabel_margin_loss
from .spectral import resized

# --------------------------------------------------------------------------- convolutions


def _slow(
    gs: Tensors, wanted: Wanted, self: Tensor, weight: Tensor, stride: Ints, padding: Ints,
    dilation: Ints | None = None, groups: int = 1,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    asked = {"input": wanted.get("self", False), **wanted}
    return _convolution(gs, asked, self, weight, None, stride, padding, dilation, groups)


def _by_depth(
    gs: Tensors, wanted: Wanted, self: Tensor, weight: Tensor, stride: Ints, padding: Ints,
    dilation: Ints,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    groups = self.shape[-weight.ndim + 1]
    return _slow(gs, wanted, self, weight, stride, padding, dilation, groups)


def _transposed(
    gs: Tensors, wanted: Wanted, self: Tensor, weight: Tensor, stride: Ints, padding: Ints,
    output_padding: Ints, dilation: Ints,
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:  # fmt: skip
    asked = {"input": wanted.get("self", False), **wanted}
    return _convolution(
        gs, asked, self, weight, None, stride, padding, dilation, 1, True, output_padding
    )


_OF = "self weight bias"
joint("aten::_slow_conv2d_forward", "aten::thnn_conv2d", of=_OF, name="SlowConv2DBackward0")(_slow)
joint("aten::slow_conv3d_forward", "aten::slow_conv3d", of=_OF, name="SlowConv3DBackward0")(_slow)
joint("aten::slow_conv_dilated2d", of=_OF, name="SlowConvDilated2DBackward0")(_slow)
joint("aten::slow_conv_dilated3d", of=_OF, name="SlowConvDilated3DBackward0")(_slow)
joint("aten::mkldnn_convolution", of=_OF)(_slow)
joint("aten::_conv_depthwise2d", of=_OF, name="ConvDepthwise2DBackward0")(_by_depth)
joint("aten::conv_depthwise3d", of=_OF, name="ConvDepthwise3DBackward0")(_by_depth)
joint("aten::slow_conv_transpose2d", of=_OF, name="SlowConvTranspose2DBackward0")(_transposed)
joint("aten::slow_conv_transpose3d", of=_OF, name="SlowConvTranspose3DBackward0")(_transposed)


# --------------------------------------------------------------------------- layers


@composite(
    "aten::_batch_norm_no_update",
    "aten::_native_batch_norm_legit_no_training",
    apart=(1, 2, 3),
)
@computed_wide
def batch_norm_without_update(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor,
    running_var: Tensor, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Channels brought by running means and variances."""
    return _batch_norm(input, weight, bias, running_mean, running_var, False, eps)


@composite("aten::_batch_norm_impl_index", name="NativeBatchNormBackward0", apart=(1, 2, 3))
@computed_wide
def batch_norm_impl_index(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, training: bool, eps: float,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The same in training or not."""
    return _batch_norm(input, weight, bias, running_mean, running_var, training, eps)


composite(
    "aten::_native_batch_norm_legit_functional",
    name="NativeBatchNormLegitBackward0",
    apart=(1, 2, 3, 4),
)(native_batch_norm)
composite(
    "aten::_batch_norm_with_update_functional",
    name="BatchNormWithUpdateBackward0",
    apart=(1, 2, 3, 4, 5),
)(batch_norm_with_update)


@composite("aten::_fused_rms_norm", name="MulBackward0")
@computed_wide
def fused_rms_norm(
    input: Tensor, normalized_shape: Ints, weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """The last dimensions brought to mean square 1, and by what."""
    small = 2.220446049250313e-16 if input.dtype.itemsize == 8 else 1.1920928955078125e-07
    dims = list(range(-len(normalized_shape), 0))
    scale = ((input * input).mean(dims, True) + (small if eps is None else eps)).rsqrt()
    return rms_norm(input, normalized_shape, weight, eps), scale


@composite("aten::_weight_norm_interface")
def weight_norm_interface(v: Tensor, g: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """A direction and a length apart, and the length there was."""
    dims = [d for d in range(v.ndim) if d != dim]
    size = (v * v).sum(dims, True).sqrt()
    return v * (g / size), size


def _norm_name(v: Tensor, pow: int, dim: int) -> str:
    return {0: "ViewBackward0", -1: "NormBackward0"}.get(dim, "TransposeBackward0")


@composite("aten::norm_except_dim", name=_norm_name)
def norm_except_dim(v: Tensor, pow: int, dim: int) -> Tensor:
    """The lengths along all dimensions but one."""
    if dim == -1:
        return aten.linalg_vector_norm(v, pow)
    return aten.linalg_vector_norm(v, pow, [d for d in range(v.ndim) if d != dim % v.ndim], True)


@composite("aten::_scaled_dot_product_flash_attention_for_cpu", apart=(1,))
def flash_attention(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float, is_causal: bool,
    attn_mask: Tensor | None, scale: float | None, results: Tensors,
) -> Tensor:  # fmt: skip
    """Values averaged by the likeness of keys to queries."""
    return attention(query, key, value, attn_mask, dropout_p, is_causal, scale, False, results[0])


@composite("aten::_scaled_dot_product_attention_math", name="UnsafeViewBackward0")
def attention_and_weights(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float,
    is_causal: bool, dropout_mask: Tensor | None, scale: float | None, enable_gqa: bool,
    results: Tensors,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The same with the weights; what is dropped may be given."""
    drawn = dropout_p if dropout_mask is None else 0.0
    options = attn_mask, drawn, is_causal, scale, enable_gqa, results[0]
    found, weights = attended(query, key, value, *options)
    if dropout_mask is None or not dropout_p:
        return found, weights
    if enable_gqa:
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    return (weights * dropout_mask / (1 - dropout_p)) @ value, weights


@composite("aten::_trilinear")
def trilinear(
    i1: Tensor, i2: Tensor, i3: Tensor, expand1: Ints, expand2: Ints, expand3: Ints, sumdim: Ints
) -> Tensor:
    """A product of three, summed."""
    for dims, place in ((expand1, 0), (expand2, 1), (expand3, 2)):
        for dim in sorted(dims):
            if place == 0:
                i1 = i1.unsqueeze(dim)
            elif place == 1:
                i2 = i2.unsqueeze(dim)
            else:
                i3 = i3.unsqueeze(dim)
    return (i1 * i2 * i3).sum(list(sumdim)) if sumdim else i1 * i2 * i3


def _rows_of(g: Tensor, indices: Tensor, padding_idx: int) -> Tensor:
    """torch leaves the frequencies out here."""
    found = g.index_select(0, indices.reshape([-1])).reshape([*indices.shape, g.shape[1]])
    return found.masked_fill((indices == padding_idx).unsqueeze(-1), 0)


gradient("aten::embedding_dense_backward", grad_output=_rows_of)


# --------------------------------------------------------------------------- activations, losses

gradient(
    "aten::log_sigmoid_forward",
    self=lambda gs, self: log_sigmoid_slope(gs[0], self),
    name="LogSigmoidBackward0",
    apart=(1,),
)
gradient(
    "aten::_log_softmax_backward_data",
    grad_output=lambda g, output, dim: g - (g * output.exp()).sum([dim], True),
    output=lambda g, grad_output, output, dim: -g * output.exp() * grad_output.sum([dim], True),
)
for _kind in ("tensor", "channel"):
    gradient(
        f"aten::fake_quantize_per_{_kind}_affine_cachemask_backward",
        grad=lambda g, mask: g * mask,
        name="MulBackward0",
    )


@composite("aten::nll_loss_forward", name="NllLossBackward0", apart=(1,))
def nll_loss_forward(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """The loss, and how much all targets count."""
    loss = _nll(self, target, weight, reduction, ignore_index)
    return loss, _picked(self, target, weight, ignore_index)[1].sum()


composite("aten::nll_loss2d_forward", name="NllLoss2DBackward0", apart=(1,))(nll_loss_forward)


@composite("aten::multilabel_margin_loss_forward", name="MultilabelMarginLossBackward0", apart=(1,))
def multilabel_margin_loss_forward(self: Tensor, target: Tensor, reduction: int) -> Tensor:
    """What other classes lack to the margin from every right one."""
    return multilabel_margin_loss(self, target, reduction)


@composite("aten::_ctc_loss", apart=(1,))
def ctc_loss_forward(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor | Ints, target_lengths: Tensor | Ints,
    blank: int, zero_infinity: bool,
) -> Tensor:  # fmt: skip
    """The likelihoods of sequences over all their alignments."""
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, 0, zero_infinity)


# --------------------------------------------------------------------------- Fourier transforms


def _whole(g: Tensor, self_sizes: Ints, dim: Ints, normalization: int, onesided: bool) -> Tensor:
    whole = resized(g, self_sizes[dim[-1]], dim[-1]) if onesided else g
    return aten._fft_c2c(whole, dim, normalization, False).real


def _half(g: Tensor, self_sizes: Ints, dim: Ints, normalization: int) -> Tensor:
    """The halves of the spectrum that are not seen count twice."""
    last = dim[-1]
    found = aten._fft_r2c(g, dim, normalization, True)
    twice = g.shape[last] - found.shape[last]
    ends = found.shape[last] - 1 - twice
    parts = [found.narrow(last, 0, 1), found.narrow(last, 1, twice) * 2]
    found = aten.cat([*parts, found.narrow(last, 1 + twice, ends)], last)
    return resized(found, self_sizes[last], last)


gradient("aten::_fft_r2c", self=_whole, name="FftR2CBackward0")
gradient("aten::_fft_c2r", self=_half, name="FftC2RBackward0")


# --------------------------------------------------------------------------- linear algebra

gradient(
    "aten::_linalg_det",
    A=lambda gs, A, results: _outer(gs[0] * conj(results[0])) * turned(aten.linalg_inv(A)),
    name="LinalgDetBackward0",
    apart=(1,),
)
gradient("aten::_linalg_slogdet", A=_log_det, name="LinalgSlogdetBackward0", apart=(2,))


def _of_eigh(gs: Grads, A: Tensor, UPLO: str, results: Tensors) -> Tensor | None:
    return _eigh(gs, results if results[1].numel() else aten.linalg_eigh(A, UPLO))


gradient("aten::_linalg_eigh", A=_of_eigh, name="LinalgEighBackward0")
joint("aten::_linalg_solve_ex", of="A B", name="LinalgSolveExBackward0")(
    lambda gs, A, B, left, results: _solve(gs, {}, A, B, left, results[0])
)
ROWS["aten::_linalg_solve_ex"].apart = (1,)


# --------------------------------------------------------------------------- elements

gradient(
    "aten::_test_serialization_subcmul",
    self=lambda g: g,
    other=lambda g, alpha: -g * alpha,
    name="SubBackward0",
)
gradient(
    "aten::fill_diagonal",
    self=lambda g, wrap: g.clone().fill_diagonal_(0, wrap),
    name="FillBackward0",
)
gradient("aten::lift", self=lambda g: g)
same_as("aten::view_as_real", "aten::view_as_real_copy")
for _name in (
    *("_unique", "_unique2", "unique_dim", "unique_dim_consecutive", "unique_consecutive"),
    "geqrf",
):
    gradient(f"aten::{_name}", self=refused(_name))
rewritten("aten::__interpolate")(interpolate)
rewritten("aten::__upsample")(upsample)
rewritten("aten::__upsample_nearest")(upsample_nearest)
rewritten("aten::__upsample_bilinear")(upsample_bilinear)

lying("by rows", "_log_softmax_backward_data", "_ctc_loss")
lying(
    "as images",
    *("_native_batch_norm_legit_no_training", "_batch_norm_no_update", "_batch_norm_impl_index"),
    *("_native_batch_norm_legit_functional", "_batch_norm_with_update_functional"),
)

_STATISTICS = "running_mean running_var"
undifferentiated(
    _STATISTICS,
    *("_native_batch_norm_legit_no_training", "_batch_norm_no_update"),
    *("_native_batch_norm_legit_functional", "_batch_norm_with_update_functional"),
)
undifferentiated(_STATISTICS, "_batch_norm_impl_index", called="native_batch_norm")
undifferentiated("weight", "nll_loss_forward", "nll_loss2d_forward")


@composite("_test::leaky_relu", name="LeakyReluBackward0")
def example_leaky_relu(self: Tensor, v: float = 0.01) -> Tensor:
    """torch's example of an operator with a number."""
    return aten.leaky_relu(self, v)


@composite("_test::cat", name="CatBackward0")
def example_cat(inputs: list[Tensor]) -> Tensor:
    """torch's example of an operator over a list."""
    return aten.cat(inputs, 0)

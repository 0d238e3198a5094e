"""Forms of layers; see `forms.py`."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, prod
from typing import Any, Final

from ..eager.aten import aten
from ..eager.dispatch import eager_function
from ..tensors.construct import finfo
from ..tensors.tensor import Tensor
from .forms import by_schema, form_of
from .shapes import converted

Ints = Sequence[int]

# --------------------------------------------------------------------------- convolutions


def _convolved(x: Tensor, weight: Tensor, bias: Tensor | None, *options: object) -> Tensor:
    rank = weight.dim()
    if x.dim() == rank - 1:
        return aten.squeeze(aten.convolution(aten.unsqueeze(x, 0), weight, bias, *options), 0)
    return aten.convolution(x, weight, bias, *options)


@form_of("conv1d", "conv2d", "conv3d")
def _conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: object,
    dilation: list[int],
    groups: int,
) -> object:
    zeros = [0] * (weight.dim() - 2)
    if isinstance(padding, str):
        if padding == "valid":
            padding = zeros
        else:
            around = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
            if any(each % 2 for each in around):
                return NotImplemented
            padding = [each // 2 for each in around]
    return _convolved(x, weight, bias, stride, padding, dilation, False, zeros, groups)


@form_of("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def _transposed(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: list[int],
    padding: list[int],
    extra: list[int],
    groups: int,
    dilation: list[int],
) -> Tensor:
    return _convolved(x, weight, bias, stride, padding, dilation, True, extra, groups)


# --------------------------------------------------------------------------- normalisations


@form_of("batch_norm")
def _batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn: bool,
) -> Tensor:
    return aten.native_batch_norm(x, weight, bias, mean, var, training, momentum, eps)[0]


@form_of("layer_norm")
def _layer_norm(
    x: Tensor, sizes: list[int], weight: Tensor | None, bias: Tensor | None, eps: float, cudnn: bool
) -> Tensor:
    return aten.native_layer_norm(x, sizes, weight, bias, eps)[0]


@form_of("group_norm")
def _group_norm(
    x: Tensor, groups: int, weight: Tensor, bias: object, eps: float, cudnn: bool
) -> object:
    if x.dim() < 2 or x.shape[1] % groups:
        return NotImplemented
    batch, channels = x.shape[:2]
    area = prod(x.shape[2:])
    x = aten.contiguous(x)
    return aten.native_group_norm(x, weight, bias, batch, channels, area, groups, eps)[0]


@form_of("rms_norm")
def _rms_norm(x: Tensor, sizes: Sequence[int], weight: Tensor, eps: object) -> object:
    if x.dtype.itemsize < 4:
        return NotImplemented
    eps = finfo(x.dtype).eps if eps is None else eps
    dims = list(range(x.dim() - len(sizes), x.dim()))
    found = aten.mul(x, aten.rsqrt(aten.add_(aten.mean(aten.pow(x, 2), dims, True), eps)))
    return found if weight is None else aten.mul(found, weight)


@form_of("instance_norm")
def _instance_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    var: Tensor | None,
    by_input: bool,
    momentum: float,
    eps: float,
    cudnn: bool,
) -> object:
    if mean is not None or var is not None or not by_input:
        return NotImplemented
    batch, channels, *rest = x.shape
    wide = aten.view(aten.contiguous(x), [1, batch * channels, *rest])
    each = [None if w is None else aten.repeat(w, [batch]) for w in (weight, bias)]
    made = aten.batch_norm(wide, *each, None, None, True, momentum, eps, cudnn)
    return aten.view(made, list(x.shape))


# --------------------------------------------------------------------------- activations


@form_of("softmax.int")
def _softmax(x: Tensor, dim: int, dtype: object) -> Tensor:
    return aten._softmax(converted(x, dtype, False, None), dim, False)


@form_of("log_softmax.int")
def _log_softmax(x: Tensor, dim: int, dtype: object) -> Tensor:
    return aten._log_softmax(converted(x, dtype, False, None), dim, False)


@form_of("log_sigmoid")
def _log_sigmoid(x: Tensor) -> Tensor:
    return aten.log_sigmoid_forward(x)[0]


@form_of("relu6")
def _relu6(x: Tensor) -> Tensor:
    return aten.hardtanh(x, 0, 6)


@form_of("relu6_")
def _relu6_(x: Tensor) -> Tensor:
    return aten.hardtanh_(x, 0, 6)


@form_of("selu")
def _selu(x: Tensor) -> Tensor:
    return aten.elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946)


@form_of("square")
def _square(x: Tensor) -> Tensor:
    return aten.pow(x, 2)


@form_of("prelu")
def _prelu(x: Tensor, weight: Tensor) -> Tensor:
    if x.dim() > 1 and weight.numel() > 0:
        weight = aten.view(weight, [1, weight.numel(), *[1] * (x.dim() - 2)])
    return aten._prelu_kernel(x, weight)


@form_of("dropout")
def _dropout(x: Tensor, p: float, train: bool) -> object:
    if not train or p == 0 or not x.numel():
        return x
    if not 0 < p < 1:
        return NotImplemented
    kept = aten.bernoulli_(aten.empty_like(x), 1 - p)
    return aten.mul(x, by_schema("div_.Scalar", kept, 1 - p))


# --------------------------------------------------------------------------- pooling


@form_of("max_pool2d")
def _max_pool2d(x: Tensor, *options: object) -> Tensor:
    return aten.max_pool2d_with_indices(x, *options)[0]


@form_of("max_pool3d")
def _max_pool3d(x: Tensor, *options: object) -> Tensor:
    return aten.max_pool3d_with_indices(x, *options)[0]


@form_of("avg_pool1d")
def _avg_pool1d(
    x: Tensor, size: Ints, stride: Ints | None, padding: Ints, ceil: bool, counts: bool
) -> Tensor:
    steps = [1, *(stride or size)]
    made = aten.avg_pool2d(aten.unsqueeze(x, -2), [1, *size], steps, [0, *padding], ceil, counts)
    return aten.squeeze(made, -2)


@form_of("max_pool1d")
def _max_pool1d(
    x: Tensor, size: Ints, stride: Ints | None, padding: Ints, dilation: Ints, ceil: bool
) -> Tensor:
    steps = [1, *(stride or size)]
    made = aten.max_pool2d_with_indices(
        aten.unsqueeze(x, -2), [1, *size], steps, [0, *padding], [1, *dilation], ceil
    )[0]
    return aten.squeeze(made, -2)


@form_of("adaptive_avg_pool2d")
def _adaptive_avg_pool2d(x: Tensor, size: Sequence[int]) -> Tensor:
    if list(size) == [1, 1]:
        return aten.mean(x, [-1, -2], True)
    return aten._adaptive_avg_pool2d(x, size)


@form_of("adaptive_avg_pool1d")
def _adaptive_avg_pool1d(x: Tensor, size: Sequence[int]) -> Tensor:
    made = aten.adaptive_avg_pool2d(aten.unsqueeze(x, -2), [1, *size])
    return aten.squeeze(made, -2)


def _resized(name: str) -> None:
    def form(x: Tensor, sizes: Ints | None, *rest: Any) -> object:
        flags, scales = rest[:-1], rest[-1]
        if scales is not None:
            sizes = [floor(n * scale) for n, scale in zip(x.shape[2:], scales, strict=True)]
        return by_schema(name, x, sizes, *flags, *(scales or []))

    form_of(f"{name}.vec")(form)


for _name in """upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d
upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d""".split():
    _resized(_name)


_PADS: Final = {"reflect": "reflection", "replicate": "replication"}


@form_of("pad")
def _pad(x: Tensor, pad: Sequence[int], mode: str, value: object) -> object:
    if mode == "constant":
        return aten.constant_pad_nd(x, pad, value or 0)
    if mode not in _PADS:
        return NotImplemented
    return eager_function(f"aten::{_PADS[mode]}_pad{len(pad) // 2}d")(x, pad)


@form_of("grid_sampler")
def _grid_sampler(x: Tensor, grid: Tensor, *options: object) -> object:
    return eager_function(f"aten::grid_sampler_{x.dim() - 2}d")(x, grid, *options)


@form_of("embedding_bag.padding_idx")
def _embedding_bag(*args: object) -> object:
    return by_schema("_embedding_bag", *args[:-1], -1 if args[-1] is None else args[-1])


# --------------------------------------------------------------------------- losses


@form_of("cross_entropy_loss")
def _cross_entropy(
    x: Tensor, target: Tensor, weight: Tensor, reduction: int, ignored: int, smoothing: float
) -> object:
    if smoothing or target.is_floating_point():
        return NotImplemented
    scores = aten.log_softmax(x, 0 if x.dim() == 1 else 1)
    return _nll_loss(scores, target, weight, reduction, ignored)


@form_of("nll_loss_nd", "nll_loss", "nll_loss2d")
def _nll_loss(x: Tensor, target: Tensor, weight: Tensor, reduction: int, ignored: int) -> object:
    if x.dim() in (1, 2):
        return by_schema("nll_loss_forward", x, target, weight, reduction, ignored)[0]
    if x.dim() == 4:
        return by_schema("nll_loss2d_forward", x, target, weight, reduction, ignored)[0]
    return NotImplemented


@form_of("l1_loss")
def _l1_loss(x: Tensor, target: Tensor, reduction: int) -> Tensor:
    found = aten.abs(aten.sub(x, target))
    return found if not reduction else aten.mean(found) if reduction == 1 else aten.sum(found)


# --------------------------------------------------------------------------- statistics


def _corrected(name: str) -> None:
    def whole(x: Tensor, unbiased: bool) -> object:
        return eager_function(f"aten::{name}")(x, None, correction=int(unbiased))

    def over(x: Tensor, dim: object, unbiased: bool, keepdim: bool) -> object:
        return eager_function(f"aten::{name}")(x, dim, correction=int(unbiased), keepdim=keepdim)

    form_of(f"{name}.dim")(over)
    form_of(f"{name}.")(whole)


for _name in ("var", "std", "var_mean", "std_mean"):
    _corrected(_name)


# --------------------------------------------------------------------------- attention


@form_of("scaled_dot_product_attention")
def _attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    p: float,
    causal: bool,
    scale: float | None,
    gqa: bool,
) -> object:
    if gqa or q.dim() < 3:
        return NotImplemented
    if q.dim() == 4 and not p and (mask is None or not mask.requires_grad):
        mask = _as_numbers(mask, q)
        options = {"attn_mask": mask, "scale": scale}
        return aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, causal, **options)[0]
    return _attention_by_products(q, k, v, mask, p, causal, scale)


def _as_numbers(mask: Tensor | None, q: Tensor) -> Tensor | None:
    """A mask of bools as what is added to the scores."""
    if mask is None or mask.is_floating_point():
        return mask
    out, kept = (aten.scalar_tensor(n, dtype=q.dtype, device=q.device) for n in (-inf, 0.0))
    return aten.where(mask, kept, out)


def _attention_by_products(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    p: float,
    causal: bool,
    scale: float | None,
) -> object:
    if causal:
        return NotImplemented
    mask = _as_numbers(mask, q)
    factor = (1 / q.shape[-1] ** 0.5 if scale is None else scale) ** 0.5
    one = by_schema("mul.Scalar", q, factor)
    scores = aten.matmul(one, by_schema("mul.Scalar", aten.transpose(k, -2, -1), factor))
    if mask is not None:
        scores = aten.add(scores, mask)
    shares = aten.dropout(aten._safe_softmax(scores, -1), p, True)
    return aten.matmul(shares, v)

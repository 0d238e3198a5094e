"""What the backward operators of norms compute, by the means and deviations that they are given.

These came from the input, and so their own gradients lead there: means and deviations are computed
again where somebody differentiates, but have the numbers that were given.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...layers.normalize import check_normalized_shape
from ...table.grad_mode import is_recording
from ...tensors.tensor import Tensor
from ..table.rows import Ints, composite
from ..table.rules import widened

Found = tuple[Tensor | None, Tensor | None, Tensor | None]


def _as_given(mean: Tensor, scale: Tensor, x: Tensor, dims: list[int]) -> tuple[Tensor, Tensor]:
    """A mean and an inverse deviation, with the history that they have in `x`."""
    if not (is_recording() and x.requires_grad):
        return mean, scale
    own = x.mean(dims, True)
    apart = x - own
    spread = (apart * apart).mean(dims, True)
    rest = (scale.detach() ** -2 - spread).detach()
    return own + (mean - own).detach(), (spread + rest).rsqrt()


def _off(g: Tensor, normal: Tensor, scale: Tensor, dims: list[int]) -> Tensor:
    """The gradient of what was brought to mean 0 and variance 1."""
    return scale * (g - g.mean(dims, True) - normal * (g * normal).mean(dims, True))


def _narrowed(found: Sequence[Tensor | None], like: Sequence[Tensor | None]) -> Found:
    """The gradients in the dtypes of what they are of."""
    made = [
        None if each is None else each if other is None else each.to(other.dtype)
        for each, other in zip(found, like, strict=True)
    ]
    return made[0], made[1], made[2]


@composite("aten::native_layer_norm_backward")
def layer_norm_back(
    grad_out: Tensor, input: Tensor, normalized_shape: Ints, mean: Tensor, rstd: Tensor,
    weight: Tensor | None, bias: Tensor | None, output_mask: Sequence[bool],
) -> Found:  # fmt: skip
    """Of input, weight and bias, as they are asked for."""
    _check(input, normalized_shape, weight, bias)
    g, x, w = widened(grad_out, input, weight)
    dims = list(range(x.ndim - len(normalized_shape), x.ndim))
    lead = list(range(x.ndim - len(normalized_shape)))
    middle, scale = _as_given(mean, rstd, x, dims)
    normal = (x - middle) * scale
    first = _off(g if w is None else g * w, normal, scale, dims) if output_mask[0] else None
    second = summed(g * normal, lead) if output_mask[1] and weight is not None else None
    third = summed(g, lead) if output_mask[2] and bias is not None else None
    return _narrowed((first, second, third), (input, weight, bias))


def _check(x: Tensor, shape: Ints, weight: Tensor | None, bias: Tensor | None) -> None:
    factor, term = (None if each is None else each._array for each in (weight, bias))
    check_normalized_shape(x._array, tuple(shape), factor, term, ", ")


def summed(x: Tensor, dims: list[int]) -> Tensor:
    """A sum over some dimensions, if there are any."""
    return x.sum(dims) if dims else x


@composite("aten::native_group_norm_backward")
def group_norm_back(
    grad_out: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, weight: Tensor | None, N: int,
    C: int, HxW: int, group: int, output_mask: Sequence[bool],
) -> Found:  # fmt: skip
    """Of input, weight and bias, as they are asked for."""
    g, x, w = widened(grad_out, input, weight)
    g, x = g.reshape([N, C, HxW]), x.reshape([N, C, HxW])
    parts = x.reshape([N, group, -1])
    middle, scale = _as_given(mean.reshape([N, group, 1]), rstd.reshape([N, group, 1]), parts, [-1])
    normal = (parts - middle) * scale
    whole = normal.reshape([N, C, HxW])
    inner = (g if w is None else g * w.reshape([1, C, 1])).reshape([N, group, -1])
    first = second = third = None
    if output_mask[0]:
        first = _off(inner, normal, scale, [-1]).reshape(input.shape)
    if output_mask[1]:
        second = (g * whole).sum([0, 2])
    if output_mask[2]:
        third = g.sum([0, 2])
    return _narrowed((first, second, third), (input, weight, weight))


@composite("aten::native_batch_norm_backward")
def batch_norm_back(
    grad_out: Tensor, input: Tensor, weight: Tensor | None, running_mean: Tensor | None,
    running_var: Tensor | None, save_mean: Tensor | None, save_invstd: Tensor | None, train: bool,
    eps: float, output_mask: Sequence[bool],
) -> Found:  # fmt: skip
    """Of input, weight and bias, as they are asked for, by the statistics of the batch or those
    that were kept."""
    g, x, w = widened(grad_out, input, weight)
    dims = [0, *range(2, x.ndim)]
    sizes = [1, -1, *[1] * (x.ndim - 2)]
    mean, scale = save_mean, save_invstd
    if not train:
        assert running_mean is not None
        assert running_var is not None
        mean, scale = running_mean, (running_var + eps).rsqrt()
    assert mean is not None
    assert scale is not None
    mean, scale = mean.reshape(sizes), scale.reshape(sizes)
    if train:
        mean, scale = _as_given(mean, scale, x, dims)
    normal = (x - mean) * scale
    inner = g if w is None else g * w.reshape(sizes)
    first = second = third = None
    if output_mask[0]:
        first = _off(inner, normal, scale, dims) if train else inner * scale
    if output_mask[1]:
        second = (g * normal).sum(dims)
    if output_mask[2]:
        third = g.sum(dims)
    return _narrowed((first, second, third), (input, weight, weight))


@composite("aten::_fused_rms_norm_backward")
def rms_norm_back(
    grad_out: Tensor, input: Tensor, normalized_shape: Ints, rstd: Tensor, weight: Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:  # fmt: skip
    """Of input and weight, as they are asked for."""
    _check(input, normalized_shape, weight, None)
    g, x, w = widened(grad_out, input, weight)
    dims = list(range(x.ndim - len(normalized_shape), x.ndim))
    scale = rstd
    if is_recording() and x.requires_grad:
        squares = (x * x).mean(dims, True)
        scale = (squares + (rstd.detach() ** -2 - squares).detach()).rsqrt()
    normal = x * scale
    inner = g if w is None else g * w
    first = second = None
    if output_mask[0]:
        first = scale * (inner - normal * (inner * normal).mean(dims, True))
    if output_mask[1] and weight is not None:
        second = summed(g * normal, list(range(x.ndim - len(normalized_shape))))
    return _narrowed((first, second, None), (input, weight, None))[:2]

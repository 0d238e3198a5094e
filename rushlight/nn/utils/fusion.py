"""Batch normalisation worked into the layer before it, for inference."""

from __future__ import annotations

import copy
from typing import TypeVar

from ...ops.eager.dispatch import eager_function
from ...ops.tensors.tensor import Parameter, Tensor
from ..modules.linear import Linear
from ..modules.module import Module

__all__ = [
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
]

ModuleT = TypeVar("ModuleT", bound=Module)

_ones_like = eager_function("aten::ones_like")
_rsqrt = eager_function("aten::rsqrt")
_zeros_like = eager_function("aten::zeros_like")


def _fused(
    weight: Tensor,
    bias: Tensor | None,
    norm: tuple[Tensor, Tensor, float, Tensor | None, Tensor | None],
    shape: list[int],
) -> tuple[Parameter, Parameter]:
    mean, variance, eps, norm_weight, norm_bias = norm
    trained = weight.requires_grad
    moved = trained if bias is None else bias.requires_grad
    if bias is None:
        bias = _zeros_like(mean)
    if norm_weight is None:
        norm_weight = _ones_like(mean)
    if norm_bias is None:
        norm_bias = _zeros_like(mean)
    scale = norm_weight * _rsqrt(variance + eps)
    new_weight = (weight * scale.reshape(shape)).to(weight.dtype)
    new_bias = ((bias - mean) * scale + norm_bias).to(bias.dtype)
    return Parameter(new_weight.detach(), trained), Parameter(new_bias.detach(), moved)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a convolution that does what it and the normalisation do."""
    rest = [1] * (conv_w.dim() - 2)
    shape = [1, -1, *rest] if transpose else [-1, 1, *rest]
    return _fused(conv_w, conv_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), shape)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor,
    bn_b: Tensor,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of a linear layer that does what it and the normalisation do."""
    return _fused(linear_w, linear_b, (bn_rm, bn_rv, bn_eps, bn_w, bn_b), [-1, 1])


def _check_eval(layer: Module, norm: Module) -> None:
    if layer.training or norm.training:
        raise AssertionError("Fusion only for eval!")


def _given(norm: Module) -> tuple[Tensor, Tensor, float, Tensor, Tensor]:
    return norm.running_mean, norm.running_var, norm.eps, norm.weight, norm.bias


def fuse_conv_bn_eval(conv: ModuleT, bn: Module, transpose: bool = False) -> ModuleT:
    """A copy of the convolution that also normalises.

    Raises:
        AssertionError: a module is in training, or the normalisation keeps no statistics.
    """
    _check_eval(conv, bn)
    fused = copy.deepcopy(conv)
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused.weight, fused.bias = fuse_conv_bn_weights(conv.weight, conv.bias, *_given(bn), transpose)
    return fused


def fuse_linear_bn_eval(linear: Linear, bn: Module) -> Linear:
    """A copy of the linear layer that also normalises.

    Raises:
        AssertionError: a module is in training, or the numbers of features differ.
    """
    _check_eval(linear, bn)
    fused = copy.deepcopy(linear)
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused.weight, fused.bias = fuse_linear_bn_weights(linear.weight, linear.bias, *_given(bn))
    return fused

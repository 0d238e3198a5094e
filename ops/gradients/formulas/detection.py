"""Gradients of the operators of `torchvision`, for who does not import that, which has its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from ...eager.dispatch import eager_function
from ...tensors.tensor import Tensor
from ..table.rows import Formula, Ints, gradient, joint


def _call(name: str, *args: object) -> object:
    return eager_function(f"torchvision::_{name}_backward")(*args)


def _aligned(
    g: Tensor,
    rois: Tensor,
    input_sizes: Ints,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> object:
    size = (spatial_scale, pooled_height, pooled_width)
    return _call("roi_align", g, rois, *size, *input_sizes, sampling_ratio, aligned)


def _pooled(name: str) -> Formula:
    def backward(
        gs: list[Tensor],
        results: list[Tensor],
        rois: Tensor,
        input_sizes: Ints,
        spatial_scale: float,
        pooled_height: int,
        pooled_width: int,
    ) -> object:
        size = (spatial_scale, pooled_height, pooled_width)
        return _call(name, gs[0], rois, results[1], *size, *input_sizes)

    return backward


def _sensitively_aligned(
    gs: list[Tensor],
    results: list[Tensor],
    rois: Tensor,
    input_sizes: Ints,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> object:
    size = (spatial_scale, pooled_height, pooled_width, sampling_ratio)
    return _call("ps_roi_align", gs[0], rois, results[1], *size, *input_sizes)


gradient("torchvision::roi_align", input=_aligned)
gradient("torchvision::roi_pool", input=_pooled("roi_pool"))
gradient("torchvision::ps_roi_pool", input=_pooled("ps_roi_pool"))
gradient("torchvision::ps_roi_align", input=_sensitively_aligned)


@joint("torchvision::deform_conv2d", of="input weight offset mask bias")
def _deformed(
    g: Tensor,
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> object:
    sizes = (stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups)
    given = (input, weight, offset, mask, bias)
    return _call("deform_conv2d", g, *given, *sizes, use_mask)


def _once(name: str) -> Callable[[Tensor], NoReturn]:
    def refuse(g: Tensor) -> NoReturn:
        raise RuntimeError(f"double backwards on {name} not supported")

    return refuse


gradient("torchvision::_roi_align_backward", grad=_once("roi_align"))
gradient("torchvision::_roi_pool_backward", grad=_once("roi_pool"))
gradient("torchvision::_ps_roi_align_backward", grad=_once("ps_roi_align"))
gradient("torchvision::_ps_roi_pool_backward", grad=_once("ps_roi_pool"))
gradient("torchvision::_deform_conv2d_backward", grad=_once("deform_conv2d"))

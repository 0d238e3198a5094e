"""Operators that walk back through others, as torch has them by name.

What each computes is a formula over tensors (`gradients/backward_operators.py`), which is loaded
when one is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np

from ..memory.dtype import Array
from ..table.grad_mode import no_grad
from ..table.table import operator


def _declare(schema: str, out: str = "grad_input grad_input", order: str = "") -> None:
    """Declare one by its schema; the formula has its full name."""
    name = schema[: schema.index("(")]
    operator(schema, face="operator", out=out, order=order)(_walking(name))


def _walking(name: str) -> Callable[..., object]:
    def forward(*given: object) -> object:
        formulas = import_module("..gradients.formulas.backward_operators", __package__)
        with no_grad():
            return formulas.on_arrays(name, given, _own)

    return forward


def _own(found: Array, given: tuple[object, ...]) -> Array:
    """A gradient that shares no memory with arguments, in one piece."""
    if any(each is found for each in given) or not found.flags.owndata:
        return np.array(found)
    return np.ascontiguousarray(found)


# --------------------------------------------------------------------------- activations

_declare(
    'aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate="none") -> Tensor'
)
_declare("aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor")
_declare("aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor", out="")
_declare(
    "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
    "bool is_result, Tensor self_or_result) -> Tensor",
)
_declare("aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor")
_declare("aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor")
_declare("aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor")
_declare(
    "aten::_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, "
    "Tensor)",
    out="",
)
_declare(
    "aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar "
    "lower, Scalar upper, bool training, bool self_is_result) -> Tensor",
    out="out",
)
_declare(
    "aten::infinitely_differentiable_gelu_backward(Tensor grad, Tensor self) -> Tensor",
    out="",
)

# --------------------------------------------------------------------------- losses

_declare(
    "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int "
    "reduction, float beta) -> Tensor",
    order="grad_input -",
)
_declare(
    "aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "float delta) -> Tensor",
    out="out",
    order="out -",
)
_declare(
    "aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
)
_declare(
    "aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int "
    "reduction) -> Tensor",
)
_declare(
    "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, "
    "Scalar margin, Tensor? weight=None, int reduction=1) -> Tensor",
)
_declare(
    "aten::multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int "
    "reduction, Tensor is_target) -> Tensor",
)
_declare(
    "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
    "int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor",
)
_declare(
    "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, "
    "int reduction, SymInt ignore_index, Tensor total_weight) -> Tensor",
)
_declare(
    "aten::_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] "
    "input_lengths, int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int "
    "blank, bool zero_infinity=False) -> Tensor",
    out="out",
)
_declare(
    "aten::_ctc_loss_backward.Tensor(Tensor grad, Tensor log_probs, Tensor targets, Tensor "
    "input_lengths, Tensor target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int "
    "blank, bool zero_infinity=False) -> Tensor",
    out="",
)

# --------------------------------------------------------------------------- pooling

_declare(
    "aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", out="out"
)
_declare(
    "aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", out="out"
)
_declare(
    "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] "
    "stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> "
    "Tensor",
)
_declare(
    "aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] "
    "stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> "
    "Tensor",
)
_declare(
    "aten::max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] "
    "stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
    out="out",
    order="out -",
)
_declare(
    "aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"
)
_declare(
    "aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"
)
_declare(
    "aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] "
    "kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor "
    "indices) -> Tensor",
)
_declare(
    "aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, "
    "int[2] output_size, Tensor indices) -> Tensor",
)
_declare(
    "aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, "
    "int[3] output_size, Tensor indices) -> Tensor",
)

# --------------------------------------------------------------------------- resizing

_declare(
    "aten::reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"
)
_declare(
    "aten::reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"
)
_declare(
    "aten::reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"
)
_declare(
    "aten::replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> "
    "Tensor",
)
_declare(
    "aten::replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> "
    "Tensor",
)
_declare(
    "aten::replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> "
    "Tensor",
)
_declare(
    "aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] "
    "input_size, float? scales=None) -> Tensor",
)
_declare(
    "aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
    "input_size, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] "
    "input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, "
    "SymInt[3] input_size, float? scales=None) -> Tensor",
)
_declare(
    "aten::_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, "
    "SymInt[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, "
    "SymInt[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> "
    "Tensor",
)
_declare(
    "aten::upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] "
    "input_size, bool align_corners, float? scales=None) -> Tensor",
)
_declare(
    "aten::upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
    "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] "
    "input_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? "
    "scales_w=None) -> Tensor",
)
_declare(
    "aten::upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
    "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::_upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, "
    "SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> "
    "Tensor",
)
_declare(
    "aten::_upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
    "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::_upsample_lanczos2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] "
    "input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
)
_declare(
    "aten::affine_grid_generator_backward(Tensor grad, SymInt[] size, bool align_corners) -> "
    "Tensor",
    out="",
)
_declare(
    "aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
    "interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
    "Tensor)",
    out="out",
)
_declare(
    "aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int "
    "interpolation_mode, int padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, "
    "Tensor)",
    out="out",
)

# --------------------------------------------------------------------------- elements and slices

_declare(
    "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> "
    "Tensor",
    out="out",
)
_declare(
    "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, "
    "SymInt end, SymInt step) -> Tensor",
    out="out",
)
_declare(
    "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, "
    "int dim2) -> Tensor",
    out="out",
)
_declare(
    "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) "
    "-> Tensor",
    out="out",
)
_declare("aten::trace_backward(Tensor grad, SymInt[] sizes) -> Tensor", out="")
_declare(
    "aten::index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> "
    "Tensor",
    out="",
)
_declare(
    "aten::gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) "
    "-> Tensor",
    out="",
)
_declare("aten::masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor", out="")
_declare(
    "aten::masked_scatter_backward(Tensor grad_output, Tensor mask, SymInt[] sizes) -> Tensor",
    out="",
)
_declare(
    "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] "
    "sizes, bool keepdim) -> Tensor",
    out="",
)
_declare(
    "aten::cummaxmin_backward(Tensor grad, Tensor input, Tensor indices, int dim) -> Tensor",
    out="",
)
# --------------------------------------------------------------------------- products

_declare("aten::matrix_exp_backward(Tensor self, Tensor grad) -> Tensor", out="")
_declare(
    "aten::_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    out="out",
)
_declare(
    "aten::_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor", out="out"
)
_declare(
    "aten::conv_tbc_backward(Tensor self, Tensor input, Tensor weight, Tensor bias, int pad) -> "
    "(Tensor, Tensor, Tensor)",
    out="",
)
_declare(
    "aten::_weight_norm_interface_backward(Tensor grad_w, Tensor saved_v, Tensor saved_g, "
    "Tensor saved_norms, int dim) -> (Tensor, Tensor)",
    out="out",
)
_declare(
    "aten::_segment_reduce_backward(Tensor grad, Tensor output, Tensor data, str reduce, *, "
    "Tensor? lengths=None, Tensor? offsets=None, int axis=0, Scalar? initial=None) -> Tensor",
    out="out",
)
_declare(
    "aten::_masked_softmax_backward(Tensor grad_output, Tensor output, Tensor mask, int? "
    "dim=None) -> Tensor",
    out="out",
)
_declare(
    "aten::_fake_quantize_learnable_per_tensor_affine_backward(Tensor grad, Tensor self, Tensor "
    "scale, Tensor zero_point, int quant_min, int quant_max, float grad_factor=1.) -> (Tensor, "
    "Tensor, Tensor)",
    out="",
)
_declare(
    "aten::_fake_quantize_learnable_per_channel_affine_backward(Tensor grad, Tensor self, "
    "Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max, float "
    "grad_factor=1.) -> (Tensor, Tensor, Tensor)",
    out="",
)

# --------------------------------------------------------------------------- norms

_declare(
    "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, "
    "Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, "
    "Tensor, Tensor)",
    out="out",
)
_declare(
    "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, "
    "Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> "
    "(Tensor, Tensor, Tensor)",
    out="out",
)
_declare(
    "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
    "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, "
    "float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    out="out",
)
_declare(
    "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, "
    "Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
    out="",
)

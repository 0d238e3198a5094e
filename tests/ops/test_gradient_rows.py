"""Every operator over tensors has a gradient, is marked as having none, or is known to lack one."""

from __future__ import annotations

from rushlight.ops.gradients import bound
from rushlight.ops.table.table import TABLE, Operator

LACKING = """
__and_ __iand_ __ilshift_ __interpolate __ior_ __irshift_ __ixor_ __lshift_ __or_ __rshift_
__upsample __upsample_bilinear __upsample_nearest __xor_ _aminmax _batch_norm_impl_index
_batch_norm_no_update _batch_norm_with_update_functional _cast_Byte _cast_Char _cast_Int
_cast_Long _cast_Short _conv_depthwise2d _ctc_loss _dim_arange _embedding_bag_forward_only
_fft_c2r _fft_r2c _fused_rms_norm _histogramdd_bin_edges _histogramdd_from_bin_cts
_histogramdd_from_bin_tensors _int_mm _is_all_true _is_any_true _linalg_det _linalg_eigh
_linalg_eigvals _linalg_slogdet _linalg_solve_ex _log_softmax_backward_data _logcumsumexp
_make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor
_native_batch_norm_legit_functional _native_batch_norm_legit_no_training
_native_multi_head_attention _ncf_unsqueeze _ncf_view _nested_tensor_from_mask _no_grad_fill
_no_grad_normal _no_grad_uniform _no_grad_zero _pack_sequence _sample_dirichlet
_saturate_weight_to_fp16 _scaled_dot_product_attention_math
_scaled_dot_product_flash_attention_for_cpu _shape_as_tensor _slow_conv2d_forward _stack
_standard_gamma _test_serialization_subcmul _transformer_encoder_layer_fwd _trilinear _unique
_unique2 _weight_norm_interface all any argwhere as_tensor binomial bitwise_and bitwise_left_shift
bitwise_not bitwise_or bitwise_right_shift bitwise_xor cauchy conv_depthwise3d dequantize
detach_copy dict embedding_dense_backward embedding_renorm eq exponential
fake_quantize_per_channel_affine_cachemask_backward
fake_quantize_per_tensor_affine_cachemask_backward fill_diagonal gcd ge geometric geqrf grad
greater greater_equal gt hash_tensor histogramdd igammac int_repr isclose isfinite isin isinf
isnan isneginf isposinf isreal items keys lcm le less less_equal lift linalg__powsum
linalg_ldl_factor linalg_ldl_factor_ex linalg_ldl_solve linalg_matrix_rank linspace log_normal
log_sigmoid_forward logical_and logical_not logical_or logical_xor logspace lt mkldnn_convolution
multilabel_margin_loss_forward ne nested_to_padded_tensor nll_loss2d_forward nll_loss_forward
nonzero nonzero_numpy norm_except_dim normal_functional not_equal one_hot poisson popitem
q_per_channel_scales q_per_channel_zero_points quantize_per_channel quantize_per_tensor
quantize_per_tensor_dynamic quantized_batch_norm quantized_gru quantized_lstm random range
requires_grad signbit slow_conv3d slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d
slow_conv_transpose2d slow_conv_transpose3d special_airy_ai special_bessel_j0 special_bessel_j1
special_bessel_y0 special_bessel_y1 special_chebyshev_polynomial_t special_chebyshev_polynomial_u
special_chebyshev_polynomial_v special_chebyshev_polynomial_w special_gammainc special_gammaincc
special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
special_legendre_polynomial_p special_modified_bessel_i0 special_modified_bessel_i1
special_modified_bessel_k0 special_modified_bessel_k1 special_scaled_modified_bessel_k0
special_scaled_modified_bessel_k1 special_shifted_chebyshev_polynomial_t
special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v
special_shifted_chebyshev_polynomial_w special_spherical_bessel_j0 special_zeta thnn_conv2d
to_padded_tensor unique_dim unique_dim_consecutive vander view_as_complex_copy view_as_real_copy
"""
"""Results are never floats, or torch has no derivative either, or ours is still to be written."""


def _is_of_tensors(entry: Operator) -> bool:
    """Whether it makes tensors of tensors, and not in `out`."""
    given = any("Tensor" in str(argument.type) for argument in entry.signature.arguments)
    made = any("Tensor" in str(returned.type) for returned in entry.signature.returns)
    return given and made and entry.name.startswith("aten::") and not bound._is_out(entry)


def test_no_operator_lacks_a_gradient_that_did_not_before() -> None:
    names = {e.name for e in TABLE if _is_of_tensors(e) and bound._find(e) is None}
    lacking = {name.removeprefix("aten::").removesuffix("_") for name in names}
    assert lacking == set(LACKING.split())

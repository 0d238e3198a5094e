"""Which operators are neither `torch.<name>` nor methods of a tensor.

Those of `LAYER_FUNCTIONS` are reached through `torch.nn.functional` and `torch._C._nn`.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LAYER_FUNCTIONS", "NEVER_METHODS", "OPERATORS_ALONE"]

LAYER_FUNCTIONS: Final = frozenset(
    """gelu gelu_ silu silu_ leaky_relu leaky_relu_ elu elu_ hardsigmoid hardsigmoid_ hardswish
    hardswish_ mish mish_ log_sigmoid softplus softshrink hardtanh hardtanh_ relu6 relu6_ glu linear
    scaled_dot_product_attention nll_loss nll_loss2d nll_loss_nd cross_entropy_loss
    multi_margin_loss multilabel_margin_loss one_hot rrelu_with_noise rrelu_with_noise_ mse_loss
    l1_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy pad_sequence
    adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d
    avg_pool3d max_pool2d_with_indices max_pool3d_with_indices max_unpool2d max_unpool3d
    fractional_max_pool2d fractional_max_pool3d reflection_pad1d reflection_pad2d reflection_pad3d
    replication_pad1d replication_pad2d replication_pad3d pad im2col col2im thnn_conv2d slow_conv3d
    slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d slow_conv_transpose2d
    slow_conv_transpose3d conv_depthwise3d upsample_nearest1d upsample_nearest2d upsample_nearest3d
    upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d""".split()
)
"""The functions of layers."""

OPERATORS_ALONE: Final = frozenset(
    """log_sigmoid_forward nll_loss_forward nll_loss2d_forward multilabel_margin_loss_forward
    embedding_renorm embedding_dense_backward native_dropout_backward""".split()
)
"""What only `torch.ops.aten` has."""

NEVER_METHODS: Final = (
    LAYER_FUNCTIONS
    | OPERATORS_ALONE
    | frozenset(
        """embedding_renorm_ kl_div hinge_embedding_loss pdist rrelu rrelu_
    binary_cross_entropy_with_logits selu selu_ celu celu_ threshold threshold_ alpha_dropout_
    feature_dropout_ feature_alpha_dropout_
    adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d max_pool2d max_pool3d
    max_pool1d_with_indices constant_pad_nd pixel_shuffle pixel_unshuffle channel_shuffle
    native_channel_shuffle mkldnn_convolution conv_tbc""".split()
    )
)
"""Operators with a `self` that Python knows as functions alone."""

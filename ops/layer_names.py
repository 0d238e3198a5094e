"""Which operators are neither `torch.<name>` nor methods of a tensor.

Those of `LAYER_FUNCTIONS` are reached through `torch.nn.functional` and `torch._C._nn`.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LAYER_FUNCTIONS", "NEVER_METHODS"]

LAYER_FUNCTIONS: Final = frozenset(
    """gelu gelu_ silu silu_ leaky_relu leaky_relu_ elu elu_ hardsigmoid hardsigmoid_ hardswish
    hardswish_ mish mish_ log_sigmoid softplus softshrink hardtanh hardtanh_ relu6 relu6_ glu linear
    scaled_dot_product_attention nll_loss nll_loss2d nll_loss_nd cross_entropy_loss
    multi_margin_loss multilabel_margin_loss one_hot rrelu_with_noise rrelu_with_noise_ mse_loss
    l1_loss smooth_l1_loss huber_loss soft_margin_loss binary_cross_entropy pad_sequence""".split()
)
"""The functions of layers."""

NEVER_METHODS: Final = LAYER_FUNCTIONS | frozenset(
    """log_sigmoid_forward nll_loss_forward nll_loss2d_forward multilabel_margin_loss_forward
    embedding_renorm embedding_renorm_ kl_div hinge_embedding_loss pdist rrelu rrelu_
    binary_cross_entropy_with_logits selu selu_ celu celu_ threshold threshold_ alpha_dropout_
    feature_dropout_ feature_alpha_dropout_""".split()
)
"""Operators with a `self` that Python knows as functions alone."""

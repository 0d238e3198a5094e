"""Gradients of the operators that torch's library calls are made of, against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.autograd.gradcheck import gradcheck
from rushlight.ops.eager.dispatch import eager_function

WIDE = torch.float64
STATS = torch.tensor([0.1, 0.2], dtype=WIDE), torch.tensor([1.0, 0.3], dtype=WIDE)
MASK = torch.tensor([[True, False], [True, True]])
PLACES, MARKS = torch.tensor([1, 0, 2]), torch.tensor([[1, 2, -1], [0, -1, 2]])
CASES: dict[str, tuple[str, tuple[tuple[int, ...], ...]]] = {
    "igamma": ("t.igamma(t.ones(2, dtype=WIDE), x.abs())", ((2,),)),
    "igammac": ("t.special.gammaincc(t.ones(2, dtype=WIDE), x.abs())", ((2,),)),
    "special_zeta": ("t.special.zeta(3.0, x.abs() + 1)", ((2,),)),
    "thnn_conv2d": (
        "a.thnn_conv2d(x, y, [2, 1], z, [1, 2], [1, 0])", ((1, 2, 3, 3), (2, 2, 2, 1), (2,))
    ),
    "slow_conv3d": ("a.slow_conv3d(x, y, [2, 1, 1], z)", ((1, 2, 2, 2, 1), (1, 2, 2, 1, 1), (1,))),
    "slow_conv_dilated2d": (
        "a.slow_conv_dilated2d(x, y, [2, 1], z, [1, 1], [1, 0], [2, 1])",
        ((2, 3, 2), (2, 2, 2, 1), (2,)),
    ),
    "slow_conv_transpose2d": (
        "a.slow_conv_transpose2d(x, y, [2, 2], z, [2, 1], [1, 0], [1, 0], [1, 2])",
        ((1, 2, 2, 2), (2, 1, 2, 2), (1,)),
    ),
    "_conv_depthwise2d": (
        "a._conv_depthwise2d(x, y, [2, 2], z, [1, 1], [0, 0], [1, 1])",
        ((1, 2, 3, 3), (2, 1, 2, 2), (2,)),
    ),
    "mkldnn_convolution": (
        "a.mkldnn_convolution(x, y, z, [1], [2], [1], 2)", ((1, 4, 3), (2, 2, 2), (2,))
    ),
    "convolution_backward": (
        "t.cat([g.reshape([-1]) for g in a.convolution_backward("
        "x, y, z, [2], [2], [1], [1], False, [0], 1, [True] * 3)])",
        ((1, 2, 3), (1, 2, 5), (2, 2, 2)),
    ),
    "_batch_norm_no_update": (
        "a._batch_norm_no_update(x, y, z, *STATS, 0.1, 1e-5)[0]", ((3, 2), (2,), (2,))
    ),
    "_native_batch_norm_legit_no_training": (
        "a._native_batch_norm_legit_no_training(x, y, z, *STATS, 0.1, 1e-5)[0]",
        ((3, 2), (2,), (2,)),
    ),
    "_batch_norm_impl_index": (
        "a._batch_norm_impl_index(x, y, z, None, None, True, 0.1, 1e-5, False)[0]",
        ((3, 2), (2,), (2,)),
    ),
    "_fused_rms_norm": ("a._fused_rms_norm(x, [3], y, 1e-5)", ((2, 3), (3,))),
    "_weight_norm_interface": ("a._weight_norm_interface(x, y, 0)", ((2, 3), (2, 1))),
    "norm_except_dim": ("t.norm_except_dim(x, 2, 1)", ((2, 3, 2),)),
    "_scaled_dot_product_flash_attention_for_cpu": (
        "a._scaled_dot_product_flash_attention_for_cpu(x, y, z, 0.0, True)[0]",
        ((1, 1, 2, 3), (1, 1, 2, 3), (1, 1, 2, 3)),
    ),
    "_scaled_dot_product_attention_math": (
        "a._scaled_dot_product_attention_math(x, y, z, None, 0.5, False, MASK, enable_gqa=True)",
        ((1, 2, 2, 3), (1, 1, 2, 3), (1, 1, 2, 3)),
    ),
    "_trilinear": ("a._trilinear(x, y, z, [1], [0], [1], [2])", ((2, 2), (3, 2), (2, 2))),
    "embedding_dense_backward": ("a.embedding_dense_backward(x, PLACES, 3, 2, False)", ((3, 2),)),
    "log_sigmoid_forward": ("a.log_sigmoid_forward(x)[0]", ((3,),)),
    "_log_softmax_backward_data": (
        "a._log_softmax_backward_data(x, y, 1, WIDE)", ((2, 3), (2, 3))
    ),
    "nll_loss_forward": ("a.nll_loss_forward(x, PLACES, None, 1, 0)[0]", ((3, 3),)),
    "nll_loss2d_forward": (
        "a.nll_loss2d_forward(x, PLACES.reshape(1, 1, 3), None, 1, -1)[0]", ((1, 3, 1, 3),)
    ),
    "multilabel_margin_loss_forward": (
        "a.multilabel_margin_loss_forward(x, MARKS, 1)[0]", ((2, 3),)
    ),
    "_ctc_loss": (
        "a._ctc_loss(x.log_softmax(2), t.tensor([[1, 2]]), [4], [2], 0, False)[0]", ((4, 1, 3),)
    ),
    "_fft_r2c": ("a._fft_r2c(x, [0, 1], 1, True)", ((2, 5),)),
    "_fft_c2r": ("a._fft_c2r(t.complex(x, y), [0, 1], 2, 6)", ((2, 4), (2, 4))),
    "_linalg_det": ("a._linalg_det(x)[0]", ((3, 3),)),
    "_linalg_slogdet": ("a._linalg_slogdet(x)[1]", ((3, 3),)),
    "_linalg_eigh": ("a._linalg_eigh(x + x.mT)[0]", ((3, 3),)),
    "_linalg_solve_ex": ("a._linalg_solve_ex(x, y)[0]", ((3, 3), (3, 2))),
    "_test_serialization_subcmul": ("a._test_serialization_subcmul(x, y, 2.0)", ((2,), (2,))),
    "fill_diagonal_": ("(x * 1).fill_diagonal_(3.0, True)", ((5, 2),)),
    "__interpolate": ("by_mode(x, 4, None, 'linear', True)", ((1, 1, 3),)),
    "view_as_real_copy": ("t.view_as_real_copy(t.complex(x, y))", ((2,), (2,))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name: str) -> None:
    call, sizes = CASES[name]
    source = np.random.default_rng(2)
    given = [torch.tensor(source.standard_normal(size), requires_grad=True) for size in sizes]
    names = {"t": torch, "a": torch.ops.aten, "by_mode": eager_function("aten::__interpolate")}

    def function(*values: Any) -> Any:
        return eval(call, {**globals(), **names, **dict(zip("xyz", values, strict=False))})

    assert gradcheck(function, given, atol=1e-5)


@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_convolutions_by_their_operator(transposed: bool) -> None:
    torch.manual_seed(0)
    x, w = torch.randn(2, 4, 5, 4), torch.randn(*((4, 3, 3, 2) if transposed else (6, 2, 3, 2)))
    groups = 1 if transposed else 2
    settings = ([2, 2], [1, 1], [1, 1], transposed, [1, 0] if transposed else [0, 0], groups)
    leaves = [t.requires_grad_() for t in (x, w, torch.zeros(3 if transposed else 6))]
    y = torch.convolution(*leaves, *settings)
    g = torch.randn_like(y)
    wanted = torch.autograd.grad(y, leaves, g)
    backward = torch.ops.aten.convolution_backward
    given = (g, x.detach(), w.detach(), list(leaves[2].shape), *settings)
    for one, two in zip(backward(*given, [True] * 3), wanted, strict=True):
        torch.testing.assert_close(one, two)
        assert one.is_contiguous()
    assert [each is None for each in backward(*given, [True, False, False])] == [False, True, True]
    assert str(backward.default) == "aten.convolution_backward.default"

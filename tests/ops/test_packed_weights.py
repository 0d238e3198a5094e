"""Packed weights of quantized layers keep what they were made of."""

from __future__ import annotations

import rushlight as torch


def test_a_bias_that_becomes_another_tensor_leaves_the_layer_as_it_was() -> None:
    x = torch.quantize_per_tensor(torch.rand(16, 62), 0.01, 0, torch.quint8)
    weight = torch.quantize_per_tensor(torch.rand(32, 62), 0.01, 0, torch.qint8)
    bias = torch.rand(32)
    packed = torch.ops.quantized.linear_prepack(weight, bias)
    before = torch.ops.quantized.linear(x, packed, 0.5, 3).int_repr()
    bias.set_(torch.zeros(2))
    weight.resize_(1, 1)
    for scale in (0.5, 0.5):
        assert torch.equal(torch.ops.quantized.linear(x, packed, scale, 3).int_repr(), before)
    assert torch.ops.quantized.linear_unpack(packed)[1].shape == (32,)

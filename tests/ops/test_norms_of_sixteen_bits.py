"""Gradients of norms of 16-bit floats are computed in float32, and rounded once."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.layers import batch_norm, batch_norm_of_halves


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("mixed", [False, True])
def test_group_norm(dtype: Any, mixed: bool) -> None:
    torch.manual_seed(0)
    narrow = torch.randn(4, 8, 4, 3).to(dtype)
    slopes, weight = torch.randn(4, 8, 4, 3).to(dtype), torch.randn(8).to(dtype)
    found = []
    for x in (narrow, narrow.float()):
        layer = torch.nn.GroupNorm(4, 8)
        layer.weight.data = weight.float() if mixed or x.dtype is torch.float32 else weight.clone()
        layer.bias.data = layer.bias.data.to(layer.weight.dtype)
        x = x.detach().clone().requires_grad_()
        layer(x).backward(slopes.to(x.dtype))
        found.append([x.grad, layer.weight.grad, layer.bias.grad])
    for made, exact in zip(*found, strict=True):
        assert made is not None
        assert exact is not None
        once = torch.finfo(made.dtype).eps
        near = 1e-4 if mixed else 4 * once  # of means and factors that 16 bits hold
        assert torch.allclose(made.float(), exact, rtol=once, atol=near)
    if not mixed:
        assert found[0][0].flatten()[:4].tolist() == TORCH[dtype]


TORCH = {
    torch.bfloat16: [-0.30078125, 0.07861328125, 0.6640625, 0.36328125],
    torch.float16: [-0.301025390625, 0.07940673828125, 0.662109375, 0.36376953125],
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("last", [False, True])
def test_batch_norms_in_evaluation_are_rounded_as_by_numpy(
    dtype: Any, last: bool, monkeypatch: Any
) -> None:
    torch.manual_seed(0)
    layer = torch.nn.BatchNorm2d(5).to(dtype).eval()
    for each in (layer.running_mean, layer.weight.data, layer.bias.data):
        each.normal_()
    x = torch.randn(3, 5, 9, 7).to(dtype)
    x = x.to(memory_format=torch.channels_last) if last else x
    found = layer(x)
    monkeypatch.setattr(batch_norm, "scales_of_halves", lambda *_: None)
    monkeypatch.setattr(batch_norm_of_halves, "halves_natively", lambda *_: None)
    wanted = layer(x)
    assert torch.equal(found, wanted)
    assert found.stride() == wanted.stride() == x.stride()

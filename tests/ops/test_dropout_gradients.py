"""Gradients of dropout: what was drawn is kept as a tensor, of every dtype."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional as F


def dropped(x: torch.Tensor) -> torch.Tensor:
    return F.dropout(x, 0.25, True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("shape", [(6, 3), ()])
@pytest.mark.parametrize("way", [dropped, torch.jit.script(dropped)])
def test_a_gradient_is_zero_where_the_result_is(dtype: Any, shape: Any, way: Any) -> None:
    torch.manual_seed(0)
    x = torch.ones(shape, dtype=dtype, requires_grad=True)
    y = way(x)
    y.backward(torch.ones_like(y))
    assert x.grad is not None
    assert x.grad.dtype is dtype
    assert torch.equal(x.grad, y.detach())


def test_the_noise_is_kept_as_a_tensor() -> None:
    y = dropped(torch.ones(3, requires_grad=True))
    assert isinstance(y.grad_fn._saved_other, torch.Tensor)

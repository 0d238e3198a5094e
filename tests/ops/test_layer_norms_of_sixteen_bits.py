"""Layer norms of 16-bit floats: rows are added up in short runs, results rounded once."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("size", [2, 16, 17, 100, 513, 4000])
@pytest.mark.parametrize("parameters", ["none", "own", "float32", "weight"])
def test_results_are_rounded_once(name: str, size: int, parameters: str) -> None:
    dtype = getattr(torch, name)
    x = (torch.randn(6, size) * 3 + 2).to(dtype)
    kind = torch.float32 if parameters == "float32" else dtype
    weight = None if parameters == "none" else (torch.rand(size) + 0.5).to(kind)
    bias = None if parameters in ("none", "weight") else torch.randn(size).to(kind)
    wide = x.double().numpy()
    wanted = wide - wide.mean(-1, keepdims=True)
    wanted /= np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    wanted = wanted if weight is None else wanted * weight.double().numpy()
    wanted = wanted if bias is None else wanted + bias.double().numpy()
    made = F.layer_norm(x, (size,), weight, bias)
    assert made.dtype == dtype
    half = 2.0 ** (-8 if name == "bfloat16" else -11)  # half a unit in the last place
    np.testing.assert_allclose(made.double().numpy(), wanted, 1.02 * half, 2e-5)

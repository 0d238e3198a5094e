"""Convolutions whose windows are as wide as the input, as networks over texts have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 2, 3)])
def test_their_gradients_are_those_of_volumes(
    batch: int, groups: int, stride: int, padding: int, dilation: int
) -> None:
    torch.manual_seed(0)
    x = torch.randn(batch, 4, 30, 25, dtype=torch.float64)
    weight = torch.randn(6, 4 // groups, 3, 25, dtype=torch.float64)
    settings = {"stride": (stride, 1), "padding": (padding, 0), "dilation": (dilation, 1)}

    def gradient(dtype: Any) -> np.ndarray[Any, Any]:
        given = x.to(dtype, copy=True).requires_grad_()
        made = torch.nn.functional.conv2d(given, weight.to(dtype), groups=groups, **settings)
        assert made.shape[-1] == 1
        assert made.shape[-2] > 1
        made.square().sum().backward()
        assert given.grad is not None
        return given.grad.double().numpy()

    wanted = gradient(torch.float64)
    assert np.abs(gradient(torch.float32) - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_their_windows_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    native = family("convolutions.transposed")
    if native is None:
        pytest.skip("there is no native code here")
    counts, put_back = list[tuple[int, ...]](), native.put_back

    def noted(columns: Any, output: Any, windows: Any, *given: Any, **named: Any) -> Any:
        counts.append(tuple(windows))
        return put_back(columns, output, windows, *given, **named)

    monkeypatch.setattr(native, "put_back", noted)
    y, weight = torch.randn(2, 6, 28, 1), torch.randn(6, 1, 3, 25)
    made = torch.nn.functional.conv_transpose2d(y, weight)
    assert made.shape == (2, 1, 30, 25)
    assert counts == [(1, 28)]
    assert made.is_contiguous()

"""Windows with steps far beyond the input: where one window fits, its step does not matter."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

F: Any = torch.nn.functional


@pytest.mark.parametrize("step", [2**20, 2**31 - 1, 2**40, 2**62, 2**63 - 1])
def test_one_window(step: int) -> None:
    x = torch.arange(8.0).reshape(1, 1, 2, 4).requires_grad_()
    weight = torch.ones(1, 1, 2, 3, requires_grad=True)
    found = F.conv2d(x, weight, stride=step)
    found.sum().backward()
    assert found.tolist() == [[[[18.0]]]]
    assert x.grad.tolist() == [[[[1, 1, 1, 0]] * 2]] or x.grad[0, 0].tolist() == [[1, 1, 1, 0]] * 2
    assert weight.grad.reshape(-1).tolist() == [0, 1, 2, 4, 5, 6]
    wide = F.conv2d(x.detach(), weight.detach()[..., :1], dilation=(1, step))
    assert wide.reshape(-1).tolist() == [4, 6, 8, 10]
    assert torch.arange(4.0).unfold(0, 3, step).tolist() == [[0, 1, 2]]
    assert torch.as_strided(torch.ones(2), (1,), (step,)).tolist() == [1]
    assert F.unfold(x.detach(), (2, 4), stride=step).reshape(-1).tolist() == list(range(8))
    assert F.max_pool1d(torch.arange(3.0)[None], 2, step).tolist() == [[1.0]]


def test_settings_that_do_not_fit_are_told() -> None:
    x = torch.zeros(1, 1, 4, 4)
    for pool in (F.max_pool2d, F.avg_pool2d):
        with pytest.raises(RuntimeError, match="value cannot be converted to type int without"):
            pool(x, 2, 2**40)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        F.conv2d(x, torch.zeros(1, 1, 1, 1), padding=2**40)

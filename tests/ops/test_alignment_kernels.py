"""Likelihoods over alignments by a kernel, beside NumPy's way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.losses import ctc

pytestmark = pytest.mark.skipif(
    family("sequences.alignments") is None, reason="no native code here"
)


def _logs(steps: int, batch: int, classes: int) -> Any:
    x = np.random.default_rng(3).standard_normal((steps, batch, classes)) * 3
    return (x - np.log(np.exp(x).sum(-1, keepdims=True))).astype(np.float32)


@pytest.mark.parametrize(
    ("steps", "sizes", "inputs"),
    [
        (30, [8, 3, 0, 1], [30, 9, 30, 1]),
        (50, [40, 20], [50, 50]),  # more than there are ways for
        (7, [0, 2], [0, 0]),
        (12, [1], [12]),
    ],
)
@pytest.mark.parametrize("blank", [0, 4])
@pytest.mark.parametrize("in_a_row", [False, True])
def test_like_numpys_way(
    steps: int, sizes: list[int], inputs: list[int], blank: int, in_a_row: bool, monkeypatch: Any
) -> None:
    logs = _logs(steps, len(sizes), 6)
    logs[:, :, 2] = -np.inf
    count = sum(sizes) if in_a_row else (len(sizes), max(sizes) + 2)
    targets = np.random.default_rng(5).integers(0, 6, count)
    call = (logs, targets, inputs, sizes, blank)
    with np.errstate(all="ignore"):
        losses, alphas = ctc._likelihood(*call)
        monkeypatch.setattr(ctc, "_natively", lambda *_: None)
        wanted, wanted_alphas = ctc._likelihood(*call)
    np.testing.assert_allclose(losses, wanted, rtol=2e-5, atol=1e-5)
    np.testing.assert_allclose(alphas, wanted_alphas, rtol=2e-5, atol=1e-4)


def test_targets_that_are_no_classes_are_refused() -> None:
    logs = torch.from_numpy(_logs(9, 2, 5))
    for wrong in (5, 1 << 40):
        targets = torch.tensor([[1, 2], [3, wrong]])
        with pytest.raises((IndexError, RuntimeError)):
            torch.nn.functional.ctc_loss(logs, targets, [9, 9], [2, 2])


def test_gradients_begin_with_it() -> None:
    logs = torch.from_numpy(_logs(20, 3, 5)).requires_grad_()
    targets, lengths = torch.randint(1, 5, (3, 4)), torch.tensor([4, 2, 3])
    loss = torch.nn.functional.ctc_loss(logs, targets, torch.tensor([20, 18, 20]), lengths)
    double = torch.nn.functional.ctc_loss(
        logs.detach().double(), targets, torch.tensor([20, 18, 20]), lengths
    )
    assert abs(loss.item() - double.item()) < 1e-5
    loss.backward()
    assert torch.isfinite(logs.grad).all()

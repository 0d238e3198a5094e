"""Gradients through functions of masked tensors."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck

MASK = torch.tensor([[True, False, True], [True, True, False]])


@pytest.mark.parametrize(
    "name", ["sum", "prod", "cumsum", "amax", "mean", "var", "softmax", "logsumexp", "normalize"]
)
def test_elements_that_count_have_gradients(name: str) -> None:
    x = torch.tensor([[0.5, 1.5, -1.0], [2.0, 0.3, 0.7]], dtype=torch.float64, requires_grad=True)

    def reduced(x: Any) -> Any:
        function = getattr(torch.masked, name)
        found = function(x, 2.0, 1, mask=MASK) if name == "normalize" else function(x, 1, mask=MASK)
        return found.nan_to_num(0.0, 0.0, 0.0)

    assert reduced(x).requires_grad
    assert gradcheck(reduced, [x], atol=1e-4)

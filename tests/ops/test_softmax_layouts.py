"""Softmaxes of tensors that do not lie in one piece: as of copies that do, in every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

TIMES = 60
"""Calls after which what they run is known beforehand."""

VIEWS: dict[str, Callable[[Any], Any]] = {
    "turned": lambda x: x.t(),
    "every second": lambda x: x[:, ::2],
    "expanded": lambda x: x[:1].expand(40, 36),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmaxes_of_views_are_contiguous(name: str, dtype: Any, dim: int, view: str) -> None:
    run = getattr(torch, name)
    for seed in range(TIMES):
        x = VIEWS[view](torch.linspace(-3, seed, 40 * 36).reshape(40, 36).to(dtype))
        made = run(x, dim)
        assert made.is_contiguous()
    assert torch.equal(made, run(x.contiguous(), dim))

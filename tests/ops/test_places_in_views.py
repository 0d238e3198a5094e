"""Elements at places of tensors that do not lie in one piece: values and strides in every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

TIMES = 60
"""Calls after which what they run is known beforehand."""
ROWS = torch.tensor([3, 0, 2])
PLACES = torch.tensor([[0, 1, 2], [2, 1, 0]])

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "index_put": lambda x, s: x.index_put((ROWS,), s[:3]),
    "index_put adding": lambda x, s: x.index_put((ROWS,), s[:3], accumulate=True),
    "index_fill": lambda x, s: x.index_fill(1, ROWS, 2.0),
    "index_copy": lambda x, s: x.index_copy(0, ROWS, s[:3]),
    "index_add": lambda x, s: x.index_add(0, ROWS, s[:3]),
    "scatter": lambda x, s: x.scatter(0, PLACES, s),
    "scatter_add": lambda x, s: x.scatter_add(0, PLACES, s),
    "pad": lambda x, s: torch.nn.functional.pad(x, (1, 2, 1, 0), value=3.0),
}
VIEWS: dict[str, Callable[[Any], Any]] = {
    "turned": lambda x: x.t().contiguous().t(),
    "every second": lambda x: x.repeat_interleave(2, 1)[:, ::2],
    "flipped and turned": lambda x: x.flip(0).t().contiguous().flip(1).t(),
}
DENSE = "index_put", "index_put adding", "index_fill"
"""What lies like its operand afterwards, where that leaves no gaps."""


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
def test_calls_on_views_are_those_on_copies(name: str, view: str, dtype: Any) -> None:
    run = CALLS[name]
    for seed in range(TIMES):
        x, source = (torch.arange(30).reshape(5, 6).to(dtype) * part + seed for part in (1, 2))
        seen, given = VIEWS[view](x), VIEWS[view](source)
        assert torch.equal(seen, x)
        made = run(seen, given)
        assert torch.equal(made, run(x, source))
        assert torch.equal(seen, x)
        is_turned = name in DENSE and "turned" in view
        assert made.stride() == ((1, 5) if is_turned else made.contiguous().stride())

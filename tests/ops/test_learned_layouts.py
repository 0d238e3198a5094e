"""Calls that have come often give what first ones do, of operands that lie otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "argmax": torch.argmax,
    "argmin": torch.argmin,
    "median": torch.median,
    "max": torch.max,
    "sum": torch.sum,
    "count": torch.count_nonzero,
    "flat": lambda x: x.flatten(),
    "repeat": lambda x: x.repeat_interleave(2),
    "roll": lambda x: x.roll(1),
    "take": lambda x: x.take(torch.tensor([1, 8, 3])),
    "sorted": lambda x: x.flatten().sort()[0],
}


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.float16], ids=str)
def test_transposed_operands_are_read_in_their_own_order(name: str, dtype: Any) -> None:
    torch.manual_seed(2)
    function = _FUNCTIONS[name]
    for _ in range(90):
        x = torch.randint(0, 15, (5, 7)).to(dtype)
        rows = [[x[j, i].item() for j in range(5)] for i in range(7)]
        assert torch.equal(function(x.t()), function(torch.tensor(rows, dtype=dtype)))

"""Calls that have come often give what first ones do, of operands that lie otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.table.table import TABLE

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


def test_borders_follow_the_layout_while_somebody_learns() -> None:
    """What kernels put together for who looks on lies as what NumPy does."""
    watching = family("calls.watching")
    if watching is None:
        pytest.skip("there is no native code here")
    x = torch.arange(288.0).reshape(2, 3, 6, 8).contiguous(memory_format=torch.channels_last)
    for pad in ([1, 1, 1, 1], [1, 2], [0, 0, 2, 1, 1, 0]):
        plain = torch.nn.functional.pad(x, pad)
        for _ in range(3):
            with watching.watching(lambda *note: None):
                looked = TABLE.operator("aten::constant_pad_nd").forward(x._array, pad, 0)
            assert looked.strides == plain._array.strides
            assert looked.tolist() == plain.tolist()


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.float16], ids=str)
def test_transposed_operands_are_read_in_their_own_order(name: str, dtype: Any) -> None:
    torch.manual_seed(2)
    function = _FUNCTIONS[name]
    for _ in range(90):
        x = torch.randint(0, 15, (5, 7)).to(dtype)
        rows = [[x[j, i].item() for j in range(5)] for i in range(7)]
        assert torch.equal(function(x.t()), function(torch.tensor(rows, dtype=dtype)))

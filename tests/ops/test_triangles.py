"""`tril` and `triu`: what lies on one side of a diagonal, of every dtype, however it lies."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import threads

DTYPES = "float32 float64 bfloat16 float16 int64 int32 int16 uint8 bool complex64 complex128"
DIAGONALS = (0, 1, -1, 3, -4, 100, -100)


def _layouts(dtype: torch.dtype) -> list[torch.Tensor]:
    numbers = torch.arange(1, 2401)
    whole = (numbers % 2 == 1) if dtype is torch.bool else (numbers % 120).to(dtype)
    return [
        *(whole[:600].view(20, 30), whole[:600].view(20, 30).t(), whole.view(40, 60)[:, ::2]),
        *(whole.view(40, 60)[::3], whole.view(4, 20, 30), whole.view(20, 4, 30).transpose(0, 1)),
        *(whole.view(2, 2, 20, 30).permute(1, 3, 0, 2), whole[:30].expand(20, 30)),
        *(whole[:7].view(7, 1), whole[:7].view(1, 7), whole[:0].view(0, 3)),
    ]


@pytest.mark.parametrize("name", DTYPES.split())
def test_every_dtype_and_layout(name: str) -> None:
    for x in _layouts(getattr(torch, name)):
        rows, columns = (torch.arange(size) for size in x.shape[-2:])
        for diagonal in DIAGONALS:
            below = columns[None] - rows[:, None] <= diagonal
            above = columns[None] - rows[:, None] >= diagonal
            for made, kept in ((x.tril(diagonal), below), (x.triu(diagonal), above)):
                assert made.is_contiguous()
                assert made.dtype is x.dtype
                assert torch.equal(made, torch.where(kept, x, torch.zeros_like(x)))


def test_later_calls_and_threads_give_the_same() -> None:
    x = torch.randn(700, 300)
    wanted, before = np.tril(x.numpy(), 5).tobytes(), threads.get_threads()
    for count in (1, 2, 3):
        threads.set_threads(count)
        for _ in range(60):
            assert x.tril(5).numpy().tobytes() == wanted
    threads.set_threads(before)


def test_what_is_left_out_may_be_no_number() -> None:
    x = torch.full((3, 3), torch.nan)
    assert x.tril(-1).triu(1).tolist() == [[0.0] * 3] * 3

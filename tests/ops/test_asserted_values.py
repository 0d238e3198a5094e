"""`_assert_async`, which packages call as they call `assert`, and draws of no rows."""

from __future__ import annotations

import pytest

import rushlight as torch


def positive(x: torch.Tensor) -> torch.Tensor:
    torch._assert_async((x > 0).all(), "all of them must be positive")
    return x * 2


@pytest.mark.parametrize("run", [positive, torch.jit.script(positive)])
def test_values_are_asserted(run: object) -> None:
    assert callable(run)
    assert run(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="all of them must be positive"):
        run(torch.zeros(2))


def test_what_torch_says_without_a_message() -> None:
    assert torch._assert_async(torch.tensor([3])) is None
    with pytest.raises(
        RuntimeError, match="Expected Tensor with single nonzero value, but got zero"
    ):
        torch._assert_async(torch.tensor(0))
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch._assert_async(torch.ones(2))


def test_no_rows_are_drawn_from_no_rows() -> None:
    assert torch.multinomial(torch.ones(0, 3), 2, replacement=True).shape == (0, 2)

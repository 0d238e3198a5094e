"""What `item()` gives, a number of any kind, where a condition is expected."""

from __future__ import annotations

import pytest

import rushlight as torch


def chosen(x: torch.Tensor) -> int:
    return 1 if x.item() else 0


def checked(x: torch.Tensor) -> torch.Tensor:
    assert (x > 0).all().item(), "all are above zero"
    return x


def combined(x: torch.Tensor) -> tuple[bool, bool, bool]:
    return not x.item(), x.item() and True, x.item() or False


def counted(x: torch.Tensor) -> int:
    steps = 0
    while x.item():
        x = x - 1
        steps += 1
    return steps


def test_a_number_is_a_condition() -> None:
    scripted = torch.jit.script(chosen)
    assert [scripted(torch.tensor(value)) for value in (2, 0, 1.5, 0.0, True)] == [1, 0, 1, 0, 1]
    assert torch.jit.script(combined)(torch.tensor(3)) == (False, True, True)
    assert torch.jit.script(combined)(torch.tensor(0)) == (True, False, False)
    assert torch.jit.script(counted)(torch.tensor(4)) == 4


def test_a_number_is_made_whole_before() -> None:
    """As `bool(x.item())` is read in script, so that a half is no."""
    assert torch.jit.script(chosen)(torch.tensor(0.5)) == 0
    assert "bool(int(torch.item(x)))" in torch.jit.script(chosen).code


def test_a_number_is_asserted() -> None:
    scripted = torch.jit.script(checked)
    assert scripted(torch.ones(2)).tolist() == [1, 1]
    with pytest.raises(torch.jit.Error, match="all are above zero"):
        scripted(torch.zeros(2))

"""Modules whose state their own `__getstate__` and `__setstate__` say."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import nn


class Counted(nn.Module):
    """Counts how often its state was taken."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(2)
        self.taken: dict[str, int] = {"times": 0}

    @torch.jit.export
    def __getstate__(self) -> tuple[torch.Tensor, int, bool]:
        return self.weight, self.taken["times"], self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, int, bool]) -> None:
        self.weight = state[0]
        self.taken = {"times": state[1] + 1}
        self.training = state[2]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight + self.taken["times"]


class Holding(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Counted()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)


def loaded(module: nn.Module) -> Any:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module.eval()), file)
    return torch.jit.load(io.BytesIO(file.getvalue()))


def test_deep_copies_take_the_state_anew_and_shallow_ones_do_not() -> None:
    for made in (loaded(Counted()), torch.jit.script(Counted())):
        times = made.taken["times"]
        copied = copy.deepcopy(made)
        assert copied.taken == {"times": times + 1}
        copied.weight.zero_()
        assert made.weight.tolist() == [1.0, 1.0]
        assert copy.copy(made).taken == {"times": times}


def test_frozen_modules_take_the_state_anew() -> None:
    made = loaded(Holding())
    assert torch.jit.freeze(made)(torch.zeros(2)).tolist() == [2.0, 2.0]
    assert made(torch.zeros(2)).tolist() == [1.0, 1.0]


class Failing(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.count

    @torch.jit.export
    def __getstate__(self) -> int:
        assert self.count < 0, "this has no state"
        return self.count

    @torch.jit.export
    def __setstate__(self, state: int) -> None:
        self.count = state
        self.training = False


@pytest.mark.parametrize("copied", [copy.deepcopy, torch.jit.freeze])
def test_methods_that_fail_are_told_as_those_that_are_called(copied: Any) -> None:
    module = torch.jit.script(Failing().eval())
    with pytest.raises(torch.jit.Error, match="AssertionError: this has no state") as failed:
        copied(module)
    assert "assert self.count < 0" in str(failed.value)

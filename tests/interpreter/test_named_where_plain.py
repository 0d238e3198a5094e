"""A NamedTuple where a script says that a plain tuple stands: the value keeps its names."""

from __future__ import annotations

from typing import NamedTuple

import rushlight as torch


class Pair(NamedTuple):
    first: torch.Tensor
    second: int


class Numbers(NamedTuple):
    first: int
    second: int


class Holding(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = (torch.zeros(2), 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        self.held = Pair(x, 2)
        return self.held


def numbers(count: int) -> tuple[int, int]:
    total = 0
    for i in range(count):
        total += i
    return Numbers(count, total)


def plain(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    return x, 2


def test_an_attribute_of_a_plain_tuple_type() -> None:
    module = torch.jit.script(Holding())
    assert type(module.held) is tuple
    for _ in range(5):
        x = torch.ones(2)
        found = module(x)
        assert type(found).__name__ == type(module.held).__name__ == "Pair"
        assert found.first is x
        assert module.held.second == found[1] == 2


def test_a_result_of_a_plain_tuple_type() -> None:
    script = torch.jit.script(numbers)
    for count in range(100, 400):
        found = script(count)
        assert type(found).__name__ == "Numbers"
        assert found == (count, sum(range(count)))
    assert type(torch.jit.script(plain)(torch.ones(1))) is tuple

"""A module in two places becomes two script objects, as in torch: they share tensors alone."""

from __future__ import annotations

from typing import List, Tuple

import rushlight as torch

# ruff: noqa: UP006, UP035


class Times(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.k = 2
        self.seen = [1]
        self.register_buffer("total", torch.zeros(1))

    def forward(self, x: int) -> int:
        return x * self.k


class Twice(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = Times()
        self.same = self.one

    def forward(self, x: int) -> Tuple[int, int, List[int], torch.Tensor]:
        self.one.k = x
        self.one.seen.append(x)
        self.one.total += 1
        return self.one(1), self.same(1), self.same.seen, self.same.total


def test_what_is_set_in_one_place_is_not_set_in_the_other() -> None:
    module = torch.jit.script(Twice())
    assert repr(module(5)) == "(5, 2, [1], tensor([1.]))"
    assert repr(module(7)) == "(7, 2, [1], tensor([2.]))"
    assert (module.one.k, module.same.k) == (7, 2)

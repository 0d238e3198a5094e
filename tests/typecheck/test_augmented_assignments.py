"""`x |= y` and the like in script: torch changes tensors in place for arithmetic only."""

from __future__ import annotations

import pytest

import rushlight as torch


def bits(x: torch.Tensor, y: torch.Tensor):
    kept = x
    x |= y
    x &= 6
    x ^= y
    x **= 2
    return x, kept


def element(x: torch.Tensor, y: torch.Tensor):
    x[0] |= y
    x[:, 0] **= 2
    x[1] += y
    return x, x


def indexed(x: torch.Tensor, y: torch.Tensor):
    x[[1, 0]] ^= y
    return x, x


class Held(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.tensor([[1, 2], [3, 5]]))

    def forward(self, x: torch.Tensor, y: torch.Tensor):
        kept = self.held
        self.held |= y
        return self.held, kept


@pytest.mark.parametrize(
    ("target", "result", "left"),
    [
        (bits, [[0, 1], [0, 25]], [[1, 2], [3, 5]]),
        (element, [[1, 2], [5, 8]], [[1, 2], [5, 8]]),
        (indexed, [[3, 1], [1, 6]], [[3, 1], [1, 6]]),
        (Held(), [[3, 3], [3, 7]], [[1, 2], [3, 5]]),
    ],
)
def test_what_is_changed_in_place(target, result, left) -> None:
    x = torch.tensor([[1, 2], [3, 5]])
    got, kept = torch.jit.script(target)(x, torch.tensor([2, 3]))
    assert (got.tolist(), kept.tolist()) == (result, left)

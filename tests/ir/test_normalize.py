"""`rsub` of two tensors is `sub` the other way round; of a number it stays."""

from __future__ import annotations

import rushlight as torch


def tensors(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.rsub(x, y)


def number(x: torch.Tensor) -> torch.Tensor:
    return torch.rsub(x, 7)


def test_the_overload_decides() -> None:
    both, one = torch.jit.script(tensors), torch.jit.script(number)
    assert "aten::sub(%y.1, %x.1" in str(both.graph)
    assert "aten::rsub(%x.1" in str(one.graph)
    x = torch.tensor([1.0, 2.0])
    assert both(x, x + 3).tolist() == [3.0, 3.0]
    assert one(x).tolist() == [6.0, 5.0]

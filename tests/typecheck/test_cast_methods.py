"""`x.long()` and its like in script: conversions to a dtype."""

from __future__ import annotations

from typing import Any

import rushlight as torch


def casts(x: torch.Tensor) -> Any:
    return x.long(), x.float().double(), x.int(), x.short(), x.char(), x.byte(), x.half()


def test_they_are_conversions() -> None:
    scripted = torch.jit.script(casts)
    x = torch.tensor([1.5, -2.5, 3.0])
    for one, other in zip(scripted(x), casts(x), strict=True):
        assert one.dtype is other.dtype
        assert torch.equal(one, other)
    assert "torch.to(x, 4)" in scripted.code

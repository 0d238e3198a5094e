"""`a % b` in script."""

from __future__ import annotations

import time

import rushlight as torch


def popped(xs: list[int]) -> int:
    return xs.pop() % 4


def deep(a: int) -> int:
    b = a % 97 % 96 % 95 % 94 % 93 % 92 % 91 % 90 % 89 % 88 % 87 % 86 % 85 % 84 % 83 % 82 % 81
    c = -(-(-(-(-(-(-(-(-(-(b % 9) % 11) % 12) % 13) % 14) % 15) % 16) % 17) % 18) % 19) % 20
    return -(-(-(-(-(-(-(-(-(-(c % 9) % 11) % 12) % 13) % 14) % 15) % 16) % 17) % 18) % 19) % 20


def test_the_left_side_runs_twice_as_in_torch() -> None:
    assert torch.jit.script(popped)([1, 2, 3]) == 2


def test_nested_remainders_stay_small() -> None:
    started = time.monotonic()
    assert torch.jit.script(deep)(1000) == deep(1000)
    assert time.monotonic() - started < 30

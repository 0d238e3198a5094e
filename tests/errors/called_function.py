"""A run-time error two calls deep, and the way to it."""

from typing import List

import rushlight as torch


def pick(xs: List[int], at: int) -> int:
    return xs[at]


def total(xs: List[int], n: int) -> int:
    found = 0
    for i in range(n):
        found += pick(xs, i)
    return found


def run():
    torch.jit.script(total)([1, 2], 5)

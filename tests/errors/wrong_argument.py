"""A Python argument of the wrong type."""

import rushlight as torch


def double(x: int) -> int:
    return x * 2


def run():
    torch.jit.script(double)("two")

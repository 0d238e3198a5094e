"""Blocks of scripted functions that are left to Python."""

from __future__ import annotations

import pytest

import rushlight as torch

SCALE = {"by": 3}


class Mixed(torch.nn.Module):
    def forward(self, a: int):
        b: int = 5
        c: int = 0
        d: int = 6
        with torch.jit._IgnoreContextManager(a="inp:int", b="inp:int", c="out:int", d="out:int"):
            doubled = {i: 2 * i for i in range(a) if i > 2}
            c = doubled[3] + b
            d = sum(SCALE.values())
        return c, d


class Nothing(torch.nn.Module):
    def forward(self, a: int):
        with torch.jit._IgnoreContextManager(a="inp:int"):
            assert a in {1, 2}, f"{a!r}"
        return a


def test_what_goes_in_and_out() -> None:
    assert torch.jit.script(Mixed())(4) == (11, 3)


def test_a_block_that_gives_nothing() -> None:
    scripted = torch.jit.script(Nothing())
    assert scripted(1) == 1
    with pytest.raises(RuntimeError):
        scripted(3)


def test_the_block_runs_in_python_too() -> None:
    assert Mixed()(4) == (11, 3)


def test_an_argument_without_direction_is_refused() -> None:
    class Wrong(torch.nn.Module):
        def forward(self, a: int):
            with torch.jit._IgnoreContextManager(a="int"):
                pass
            return a

    with pytest.raises(torch.jit.frontend.NotSupportedError):
        torch.jit.script(Wrong())

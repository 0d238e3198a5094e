"""A family of modules that keep something from call to call: tensors, parts of them, numbers."""

from __future__ import annotations

import random

from fuzz_families import Family

__all__ = ["STREAMS"]

_HEADER = """import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = torch.full((2, 3), 0.5)
        self.w = torch.arange(9.0).view(3, 3) * 0.1 - 0.4
        self.calls = 1

    def forward(self, x: Tensor) -> Tensor:
        self.h = torch.tanh(x @ self.w + self.h)
        self.calls += 1
        return self.h


class Module(nn.Module):
    last: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.a = torch.arange(6.0).view(2, 3) * 0.1
        self.b = torch.ones(2, 3)
        self.wide = torch.arange(12.0).view(4, 3) * 0.1
        self.last = None
        self.n = 1
        self.f = 0.5
        self.on = True
        self.one = Cell()
        self.two = %s
        self.cells = nn.ModuleList([%s])
"""
_TENSORS = ("x", "y", "z", "self.a", "self.b", "self.one.h", "self.two.h")
_SLOTS = ("self.a", "self.b", "self.one.h", "self.two.h")


class _Writer:
    """The statements of one method, over tensors of 2 by 3 elements."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def tensor(self) -> str:
        """A tensor that has a name."""
        return self.rng.choice(_TENSORS)

    def value(self) -> str:
        """A tensor that is made, or a part of one."""
        t, pick = self.tensor, self.rng.choice
        return pick(
            (
                *(f"torch.tanh({t()})", f"{t()} * 0.5 + {t()}", f"torch.sigmoid({t()} - {t()})"),
                *(f"{t()} @ self.one.w", f"torch.exp(-{t()}.abs())", f"{t()}.t().reshape(2, 3)"),
                *(f"torch.cat([{t()}, {t()}])[{pick((0, 1, 2))}:][:2]", f"{t()} * self.f"),
                *(
                    f"torch.cat([{t()}, {t()}], 1)[:, -3:]",
                    f"{t()} + self.n",
                    f"{t()}.contiguous()",
                ),
                *(f"{t()}.chunk(2, 1)[0].expand(2, 3) if self.on and False else {t()}", t()),
                *(
                    "self.wide[self.n % 3 : self.n % 3 + 2]",
                    f"torch.softmax({t()}, {pick((0, 1))})",
                ),
                *(f"{t()}[{pick((0, 1))}].expand(2, 3)", f"self.{pick(('one', 'two'))}({t()})"),
                *(f"torch.stack([{t()}[0], {t()}[1]])", f"{t()}.clone()", "torch.zeros(2, 3)"),
                *(f"torch.where({t()} > 0, {t()}, {t()})", f"{t()}.flip(0)", f"{t()}.relu()"),
            )
        )

    def number(self) -> str:
        """What changes a number that is kept."""
        return self.rng.choice(
            (
                *(
                    "self.n += 1",
                    "self.n = (self.n + k) % 3",
                    "self.f = self.f * 0.5",
                    "self.n = 2",
                ),
                *("self.on = not self.on", "self.n = y.size(0)", "self.on = self.n > 2"),
                *("self.f = float(k)", "self.one.calls += 1", "self.two.calls = self.one.calls"),
            )
        )

    def simple(self) -> str:
        """A statement without others in it."""
        kind = self.rng.random()
        if kind < 0.4:
            return f"{self.rng.choice(('y', 'z'))} = {self.value()}"
        if kind < 0.75:
            return f"{self.rng.choice(_SLOTS)} = {self.value()}"
        if kind < 0.9:
            return self.number()
        return self.rng.choice(
            (
                *(f"self.last = {self.value()}", f"{self.tensor()}.mul_(0.5)", "y = y.clone()"),
                *(
                    f"{self.tensor()}[0] = {self.tensor()}[1]",
                    "self.wide = torch.cat([self.wide[2:], z])",
                ),
            )
        )

    def statement(self, depth: int) -> list[str]:
        """The lines of a statement."""
        kind = self.rng.random()
        if depth and kind < 0.12:
            head = self.rng.choice(("if flag:", "if self.on:", "if k > 1:", "if self.n % 2 == 0:"))
            lines = [head, *self.block(depth - 1)]
            return [*lines, "else:", *self.block(depth - 1)] if kind < 0.05 else lines
        if depth and kind < 0.22:
            head = self.rng.choice(("for i in range(k):", "for i in range(2):"))
            return [head, *self.block(depth - 1)]
        if depth and kind < 0.27:
            return ["for cell in self.cells:", "    y = cell(y) + z"]
        if kind < 0.31:
            return ["last = self.last", "if last is not None:", "    z = z + last"]
        return [self.simple()]

    def block(self, depth: int) -> list[str]:
        """Some statements, indented."""
        count = self.rng.randint(1, 3)
        return [f"    {line}" for _ in range(count) for line in self.statement(depth)]


def _made(rng: random.Random) -> tuple[str, list[str]]:
    """A program, and the arguments of its calls."""
    shared = rng.random() < 0.2
    header = _HEADER % ("self.one" if shared else "Cell()", "Cell(), Cell()")
    writer = _Writer(rng)
    body = [line for _ in range(rng.randint(5, 14)) for line in writer.statement(2)]
    results = rng.sample(("y", "z", "self.a", "self.b", "y[:, 1:]", "self.one.h", "x"), 3)
    lines = [
        "    def forward(self, x: Tensor, k: int, flag: bool"
        ") -> Tuple[Tensor, Tensor, Tensor, int]:",
        *("        y = torch.tanh(x) + self.b", "        z = x * 2"),
        *(f"        {line}" for line in body),
        f"        return {', '.join(results)}, self.n",
    ]
    text = header + "\n" + "\n".join(lines) + "\n"
    calls = [
        f"(torch.arange(6.0).view(2, 3) * {rng.choice((0.1, -0.2, 0.3))}, {k}, {flag})"
        for k, flag in ((1, True), (2, False), (rng.randint(0, 3), True))
    ]
    return text, calls


STREAMS = Family(make=_made, target="Module")

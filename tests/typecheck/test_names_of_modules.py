"""Names for modules are no variables: a block that depends on a condition cannot give them anew."""

from __future__ import annotations

import pytest

import rushlight as torch

# mypy: disable-error-code="no-untyped-def"


class Inner(torch.nn.Module):
    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k

    def forward(self, x: int) -> int:
        return x + self.k


class Base(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList([Inner(1), Inner(2)])
        self.one = Inner(3)


class LoopThenComprehension(Base):
    def forward(self, n: int):
        for p in self.parts:
            n += p(n)
        return [p.k for p in self.parts]


class InBranch(Base):
    def forward(self, n: int):
        p = self.one
        if n > 0:
            p = self.parts[0]
        return p(n)


class InLoop(Base):
    def forward(self, n: int):
        p = self.one
        while n < 3:
            n += p(n)
            p = self.one
        return n


class NumberThenModule(Base):
    def forward(self, n: int):
        p = 3
        return [p.k for p in self.parts], p


class ModuleThenNumber(Base):
    def forward(self, n: int):
        for p in self.parts:
            n += p(n)
        for p in range(3):
            n += p
        return n


class Allowed(Base):
    def forward(self, n: int):
        known = [p.k for p in self.parts]
        for p in self.parts:
            n += p(n)
        for p in self.parts:
            n += p(n)
        p = self.one
        return p(n), known


class Mixed(Base):
    def forward(self, n: int):
        for p, q in zip(self.parts, [1, 2]):  # noqa: B905
            n += p(q)
        return n


@pytest.mark.parametrize(
    ("module", "told"),
    [
        *((m, "to a value of type module because p is") for m in (LoopThenComprehension, InBranch)),
        *((m, "to a value of type module because p is") for m in (InLoop, NumberThenModule)),
        (ModuleThenNumber, "because it has type value of type 'int' and p is"),
    ],
)
def test_what_is_refused(module: type[Base], told: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(module())
    sentence = f"Cannot re-assign 'p' {told} not a first-class value.  Only reassignments to "
    assert f"{sentence}first-class values are allowed:" in str(caught.value)


def test_what_is_allowed() -> None:
    assert torch.jit.script(Allowed())(1) == (39, [1, 2])


def test_modules_beside_lists() -> None:
    with pytest.raises(RuntimeError, match="does not have a statically determinable length\n"):
        torch.jit.script(Mixed())

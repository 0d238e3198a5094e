"""Dataclasses as script classes: the methods Python writes for them are written for script."""

# ruff: noqa: UP045

from __future__ import annotations

import dataclasses
import enum
import io
from dataclasses import InitVar, dataclass
from typing import Optional

import pytest

import rushlight as torch


@torch.jit.script
@dataclass
class Point:
    x: float
    y: int = 2
    label: Optional[str] = None

    def area(self):
        return self.x * self.y


@torch.jit.script
@dataclass(order=True)
class Version:
    major: int
    minor: Optional[int] = None
    note: str = dataclasses.field(default="", compare=False)


@torch.jit.script
@dataclass
class Shifted:
    a: float
    by: InitVar[float] = 3.0

    def __post_init__(self, by: float):
        self.a = self.a + by

    def __eq__(self, other: Shifted) -> bool:
        return self.a > 100.0


def points():
    p, q = Point(2.0), Point(2.0, y=3)
    return p.y, q.area(), p == p, p == q, p.label is None


def versions():
    old, new = Version(1, 2), Version(1, 3, "new")
    return old < new, new < old, old <= old, new > old, old >= new, Version(1) == Version(1)


def shifted():
    s = Shifted(1.0, 2.0)
    return s.a, s == s, Shifted(1.0).a


def with_none():
    return Version(1) < Version(1, 2)


def x_of(p: Point):
    return p.x


def test_fields_methods_and_equality() -> None:
    assert torch.jit.script(points)() == (2, 6.0, True, False, True)


def test_ordering() -> None:
    assert torch.jit.script(versions)() == (True, False, True, True, False, True)


def test_variables_of_init_and_methods_of_its_own() -> None:
    assert torch.jit.script(shifted)() == (3.0, False, 4.0)


def test_none_is_not_ordered() -> None:
    with pytest.raises(torch.jit.Error, match="Cannot compare Version with None"):
        torch.jit.script(with_none)()


def test_an_object_of_python_passes_the_border() -> None:
    assert torch.jit.script(x_of)(Point(1.5)) == 1.5


def test_default_factories_are_refused() -> None:
    @dataclass
    class Bag:
        items: list[int] = dataclasses.field(default_factory=list)

    with pytest.raises(NotImplementedError, match="Default factory initializers"):
        torch.jit.script(Bag)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclasses.dataclass
class Painted:
    colour: Colour = Colour.BLUE
    times: int = 2


class Paints(torch.nn.Module):
    def forward(self, x: torch.Tensor, times: int) -> torch.Tensor:
        painted, other = Painted(times=times), Painted(Colour.RED)
        return x * painted.times if painted.colour == Colour.BLUE else x - other.times


def test_members_of_enumerations_are_defaults_in_archives() -> None:
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(Paints()), buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert loaded(torch.ones(1), 3).item() == 3.0

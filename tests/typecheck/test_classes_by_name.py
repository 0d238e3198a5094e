"""Script classes that others stand for by their names, and what is compiled anew after them."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

import rushlight as torch
from rushlight import nn
from rushlight._jit_internal import _qualified_name


class Record:
    """What programs name in annotations; scripts have one of the classes below for it."""


class Narrow:
    def __init__(self, size: int) -> None:
        self.size = size
        self.held = torch.ones(1)

    def area(self) -> int:
        return self.size


class Wide:
    def __init__(self, size: int) -> None:
        self.size = size
        self.held = torch.ones(1)

    def area(self) -> int:
        return self.size * 10


def twice(record: Record):
    return record.held * 2  # type: ignore[attr-defined]


class Reads(nn.Module):
    def forward(self, record: Record):
        return record.held + twice(record)  # type: ignore[attr-defined]

    @torch.jit.export
    def made(self, size: int) -> Record:
        return Record(size)  # type: ignore[call-arg]


@pytest.mark.parametrize(("cls", "area"), [(Narrow, 3), (Wide, 30)])
def test_a_class_that_says_a_name_stands_for_the_class_of_that_name(
    monkeypatch: pytest.MonkeyPatch, cls: type, area: int
) -> None:
    torch.jit._recursive.concrete_type_store.type_store.clear()
    import_module("rushlight.jit._state")._jit_caching_layer.clear()
    torch.jit.script(cls)
    monkeypatch.setattr(Record, "_jit_override_qualname", _qualified_name(cls), raising=False)
    scripted = torch.jit.script(Reads())
    given = cls(3)
    given.held = torch.full((2,), 3.0)
    assert scripted(given).tolist() == [9.0, 9.0]
    made = scripted.made(3)
    assert type(made) is cls
    assert made.area() == area


class Described:
    @torch.jit.unused
    def __init__(self, size, most=sys.maxsize, style="range", *, by=2.5):
        self.size = size

    @torch.jit.unused
    def shown(self, text, times=3):
        return text * times

    @staticmethod
    def doubled(size: int) -> int:
        return size * 2


def test_parameters_of_unused_methods_have_any_default() -> None:
    """This file knows no `Any`, which such parameters are."""
    assert "Any" not in globals()

    def asks(x: torch.Tensor) -> int:
        return Described.doubled(x.shape[0])

    assert torch.jit.script(asks)(torch.ones(3)) == 6

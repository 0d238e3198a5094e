"""Where classes give names their meaning: found once for each class."""

from __future__ import annotations

import inspect

import pytest

from rushlight.frontend.diagnostics.paths import is_library_file
from rushlight.frontend.syntax.places import attribute_place


class Base:
    size: int = 3

    def __init__(self) -> None:
        self.inner, self.outer = 1, 2
        self.inner = 4

    def other(self) -> None:
        self.late = 1


class Derived(Base):
    size = 5


def statement(cls: type, name: str) -> str | None:
    place = attribute_place(cls, name)
    return place and f"{place.holder}: {place.statement.text}"


def test_a_class_body_comes_before_its_initialiser_and_its_bases() -> None:
    assert statement(Derived, "size") == "Derived: size = 5"
    assert statement(Base, "size") == "Base: size: int = 3"
    assert statement(Derived, "inner") == "Base: self.inner, self.outer = 1, 2"
    assert statement(Derived, "late") is None
    assert statement(Derived, "0") is None


def test_a_class_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert attribute_place(Base, "outer") is not None
    monkeypatch.setattr(inspect, "getsourcelines", None)
    assert statement(Base, "outer") == "Base: self.inner, self.outer = 1, 2"
    assert attribute_place(Base, "nothing") is None


def test_modules_that_python_has_built_in_are_not_the_users() -> None:
    assert is_library_file("<frozen genericpath>")
    assert not is_library_file("<string>")

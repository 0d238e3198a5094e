"""Exceptions that carry diagnostics, and tracebacks without rushlight's own frames."""

from __future__ import annotations

import linecache
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest
from frontend_support import marked

from rushlight.frontend.diagnostics.diagnostics import Collector, Diagnostic, Label
from rushlight.frontend.diagnostics.exceptions import (
    FrontendError,
    NotSupportedError,
    ScriptError,
    ScriptWarning,
    UnsupportedNodeError,
    exception_class,
    exception_for,
    raise_for,
)
from rushlight.frontend.diagnostics.paths import PACKAGE
from rushlight.frontend.diagnostics.terminal import colors_wanted, width_wanted

TEXT = "def f(x):\n    return a + b\n"


def error(name: str, **more: str) -> Diagnostic:
    return Diagnostic(
        "undefined-name",
        f"`{name}` is not defined",
        Label(marked(TEXT, name, nth=0), "no such name"),
        torch_message=f"undefined value {name}",
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUSHLIGHT_DIAGNOSTICS", "RUSHLIGHT_TRACEBACK", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_the_text_is_that_of_the_first_found_the_note_has_all() -> None:
    collector = Collector()
    collector.add(error("b"))
    collector.add(error("a +"))
    with pytest.raises(RuntimeError) as caught:
        raise_for(collector)
    assert str(caught.value).startswith("\nundefined value b:\n")
    assert caught.value.diagnostics == collector.found  # type: ignore[attr-defined]
    (note,) = caught.value.__notes__
    assert note.startswith("\nerror[undefined-name]: `a +` is not defined\n")
    assert note.endswith("\n2 errors; `rushlight explain undefined-name` says more")


def test_nothing_found_nothing_raised() -> None:
    raise_for(Collector())


def test_rich_alone_and_torch_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_DIAGNOSTICS", "rich")
    rich = exception_for([error("b")])
    assert str(rich).startswith("error[undefined-name]: `b` is not defined\n")
    assert not hasattr(rich, "__notes__")
    monkeypatch.setenv("RUSHLIGHT_DIAGNOSTICS", "torch")
    torch = exception_for([error("b")])
    assert str(torch).startswith("\nundefined value b:\n")
    assert not hasattr(torch, "__notes__")


def test_warnings_are_warnings() -> None:
    collector = Collector()
    collector.add(replace(error("b"), code="mixed-list", severity="warning"))
    with pytest.warns(ScriptWarning, match=r"\[mixed-list\] `b` is not defined") as caught:
        raise_for(collector)
    assert (caught[0].filename, caught[0].lineno) == ("m.py", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ScriptWarning):
            raise_for(collector)


def test_classes_and_bases() -> None:
    assert UnsupportedNodeError.__mro__[1:4] == (NotSupportedError, FrontendError, Exception)
    assert not issubclass(FrontendError, RuntimeError)
    assert exception_class("UnsupportedNodeError") is UnsupportedNodeError
    assert exception_class("AttributeError") is AttributeError
    assert exception_class("ScriptError") is ScriptError
    assert exception_class("print") is RuntimeError
    assert ScriptError.__name__ == "Error"


def test_a_failure_of_its_own_has_no_text_of_torch() -> None:
    raised = exception_for([replace(error("b"), code="internal", severity="bug")])
    assert str(raised) == "`b` is not defined"


@pytest.fixture
def entry_points() -> ModuleType:
    """A module whose code seems to lie among rushlight's own."""
    module = ModuleType("rushlight.frontend.made_for_a_test")
    module.__package__ = "rushlight.frontend"
    code = """
from .diagnostics.exceptions import trim_traceback, trimmed

def inner(callback):
    callback()

def with_context(callback):
    with trimmed():
        inner(callback)

def with_except(callback):
    try:
        inner(callback)
    except BaseException as error:
        trim_traceback(error)
        raise
"""
    exec(compile(code, str(PACKAGE / "frontend" / "made_for_a_test.py"), "exec"), vars(module))
    return module


def fail() -> None:
    raise KeyError("x")


def frames(call: Callable[[Callable[[], None]], None]) -> dict[str, str]:
    """The functions of a traceback, with the lines that they are at."""
    try:
        call(fail)
    except KeyError as error:
        places = [(f.f_code, line) for f, line in traceback.walk_tb(error.__traceback__)]
        return {c.co_name: linecache.getline(c.co_filename, line).strip() for c, line in places}
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("name", ["with_context", "with_except"])
def test_own_frames_are_trimmed(name: str, entry_points: ModuleType) -> None:
    found = frames(getattr(entry_points, name))
    assert found == {"frames": "call(fail)", "fail": 'raise KeyError("x")'}


def test_own_frames_can_be_kept(entry_points: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_TRACEBACK", "full")
    assert [*frames(entry_points.with_context)] == ["frames", "with_context", "inner", "fail"]


class Terminal:
    def isatty(self) -> bool:
        return True


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    assert colors_wanted(terminal)  # type: ignore[arg-type]
    monkeypatch.setenv("TERM", "dumb")
    assert not colors_wanted(terminal)  # type: ignore[arg-type]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert colors_wanted(terminal)  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colors_wanted(terminal)  # type: ignore[arg-type]


@pytest.mark.parametrize(("columns", "width"), [("72", 72), ("10", 60), ("x", 100)])
def test_width(columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    with open("/dev/null") as stream:
        assert width_wanted(stream) == width

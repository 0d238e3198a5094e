"""Mistakes in calls from Python are told with what is known: where the call stands, and where the
function's parameters do."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.diagnostics.diagnostics import Diagnostic

X = torch.ones(2)
HELD = torch.jit.CompilationUnit("def scale(x, n: int):\n    return x * n\n").scale
TRACED = torch.jit.trace(lambda x, n: x * n, (X, X))

MISTAKES = {
    "call-type": (lambda f: f(X, "a"), "declared `int`"),
    "too-many-arguments": (lambda f: f(X, 2, 3), "defined here"),
    "missing-argument": (lambda f: f(X), "it has no default"),
}
"""By code a wrong call, and what is said where the function stands."""


def told(call: Callable[[], Any]) -> Diagnostic:
    with pytest.raises(RuntimeError) as caught:
        call()
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert isinstance(diagnostic, Diagnostic)
    return diagnostic


@pytest.mark.parametrize("code", MISTAKES)
@pytest.mark.parametrize("function", [HELD, TRACED], ids=["of text", "traced"])
def test_both_places_are_shown_that_there_are(function: Any, code: str) -> None:
    call, label = MISTAKES[code]
    found = told(lambda: call(function))
    assert found.code == code
    assert found.primary is not None
    assert found.primary.text == "called here"
    assert [each.text for each in found.secondary] == ([label] if function is HELD else [])


def test_a_parameter_without_annotation_is_told_as_one() -> None:
    (label,) = told(lambda: HELD("a", 2)).secondary
    assert label.text == "no annotation, so `Tensor`"


def called_from(path: Path, text: str, line: int, function: Any) -> Diagnostic:
    """A wrong call in a line of a file that now holds a text."""
    path.write_text(text)
    linecache.checkcache(str(path))
    code = compile("\n" * (line - 1) + "wrong(x)", str(path), "exec")
    return told(lambda: exec(code, {"wrong": function, "x": X}))


def test_of_a_file_that_has_changed_no_other_line_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    shown = called_from(path, "\nwrong(x)\n", 2, HELD)
    assert shown.primary is not None
    assert shown.primary.span.text == "wrong(x)"
    found = called_from(path, "\nwrong(x)\n", 7, HELD)  # the line is no longer there
    assert found.primary is not None
    assert found.primary.text == "it has no default"
    assert "scale" in found.where
    assert called_from(path, "\nwrong(x)\n", 7, TRACED).primary is None

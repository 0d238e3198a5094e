"""A mistake in rushlight's own code is told as such, at the line being compiled."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.frontend.diagnostics.paths import PACKAGE
from rushlight.ir.functions import define


def compiled_in(filename: str, body: str) -> Callable[..., Any]:
    """A function `fault` whose code seems to lie in a file."""
    names: dict[str, Any] = {}
    exec(compile(f"def fault(*arguments, **options):\n    {body}\n", filename, "exec"), names)
    made: Callable[..., Any] = names["fault"]
    return made


def doubled(x: int) -> int:
    y = x + x
    return y


def tripled(x: int) -> int:
    return x * 3


def quadrupled(x: int) -> int:
    return x * 4


def test_a_fault_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    own = str(PACKAGE / "ir" / "made_for_a_test.py")
    monkeypatch.setattr(define, "build_graph", compiled_in(own, "{}['missing']"))
    with pytest.raises(RuntimeError, match="rushlight failed while compiling this") as caught:
        torch.jit.script(doubled)
    (diagnostic,) = caught.value.diagnostics  # type: ignore[attr-defined]
    assert (diagnostic.code, diagnostic.severity) == ("internal", "bug")
    assert diagnostic.primary is not None
    assert diagnostic.primary.span.text == "return y"
    assert "KeyError: 'missing' (fault)" in diagnostic.notes
    (note,) = caught.value.__notes__
    assert "bug[internal]: rushlight failed while compiling this" in note


def test_what_lowering_raises_is_a_fault_too(monkeypatch: pytest.MonkeyPatch) -> None:
    own = str(PACKAGE / "ir" / "made_for_a_test.py")
    linecache.cache[own] = (1, None, ["\n", "    raise LookupError('no operator')\n"], own)
    monkeypatch.setattr(define, "build_graph", compiled_in(own, "raise LookupError('no operator')"))
    with pytest.raises(RuntimeError, match="rushlight failed while compiling this"):
        torch.jit.script(quadrupled)


def test_a_fault_of_the_users_code_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(define, "build_graph", compiled_in("theirs.py", "{}['missing']"))
    with pytest.raises(KeyError, match="missing"):
        torch.jit.script(tripled)

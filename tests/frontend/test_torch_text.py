"""Torch's own words, compared with what torch printed."""

from __future__ import annotations

import json

import pytest
from frontend_support import CASES, marked
from hypothesis import given
from hypothesis import strategies as st

from rushlight.frontend.diagnostics.diagnostics import Demand, Diagnostic, Frame, Label
from rushlight.frontend.diagnostics.torch_text import (
    compile_error_text,
    highlight,
    runtime_error_text,
)
from rushlight.frontend.sources.source import Source, Span

RECORDED = json.loads((CASES / "highlights.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_highlight(number: int) -> None:
    text, start, end, expected = RECORDED[number]
    assert highlight(Span(Source(text, "x.py", 7), start, end)) == expected


@given(st.text("ab (\n", max_size=40), st.integers(0, 40), st.integers(0, 60))
def test_any_range_can_be_shown(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    shown = highlight(Span(Source(text, "x.py"), start, start + length))
    assert shown == text or shown.startswith('  File "x.py", line ')


PROGRAM = """\
def f1(x): return f2(x + 1)
def f2(x):
    y = f3(f3(x,
      2), x[0])
    return y
def f3(x, y):
    return nope
"""


def part(first: int, last: int) -> Source:
    """Lines of the program, as torch knows a function."""
    lines = PROGRAM.splitlines(keepends=True)
    return Source("".join(lines[first - 1 : last]), "p.py", first)


def test_a_compile_error_tells_who_asked() -> None:
    innermost, middle, outermost = part(6, 7), part(2, 5), part(1, 1)
    at = innermost.text.index("nope")
    begin = middle.text.index("y = ")
    demands = (
        Demand("f2", "f1", Span(outermost, 18, 27, 26)),
        Demand("f3", "f2", Span(middle, begin, middle.text.index(")\n    return"))),
    )
    diagnostic = Diagnostic(
        "undefined-name",
        "`nope` is not defined",
        Label(Span(innermost, at, at + 4), ""),
        torch_message="undefined value nope",
        demands=demands,
    )
    assert compile_error_text(diagnostic) == (
        "\nundefined value nope:\n"
        '  File "p.py", line 7\n'
        "def f3(x, y):\n"
        "    return nope\n"
        "           ~~~~ <--- HERE\n"
        "'f3' is being compiled since it was called from 'f2'\n"
        '  File "p.py", line 3\n'
        "def f2(x):\n"
        "    y = f3(f3(x,\n"
        "    ~~~~~~~~~~~~\n"
        "      2), x[0])\n"
        "      ~~~~~~~~ <--- HERE\n"
        "    return y\n"
        "'f2' is being compiled since it was called from 'f1'\n"
        '  File "p.py", line 1\n'
        "def f1(x): return f2(x + 1)\n"
        "                  ~~~~~~~~ <--- HERE\n"
    )


def test_what_is_found_while_methods_of_a_class_are_read_tells_of_the_class() -> None:
    source = Source("def f(x):\n    return Box(x)\n", "p.py")
    at = source.text.index("Box")
    for callee, told in (("__torch__.Box", True), ("g", False)):
        diagnostic = Diagnostic(
            "unsupported-syntax",
            "import statements aren't supported",
            Label(Span(source, at, at + 3), ""),
            demands=(Demand(callee, "f", Span(source, at, at + 6)),),
            is_early=True,
        )
        chain = f"'{callee}' is being compiled since it was called from 'f'\n"
        assert (chain in compile_error_text(diagnostic)) == told


def test_a_run_time_error() -> None:
    text = "@torch.jit.script\ndef g(x, y: int):\n    z = h(x +\n          y)\n    return z\n"
    frames = [Frame("g", Span(Source(text, "p.py", 8), text.index("h("), text.index("h(") + 1))]
    inner = marked("def h(x):\n    # é comment\n    return x.view(7)\n", "x.view", filename="p.py")
    frames.append(Frame("M.h", inner))
    assert runtime_error_text(frames, "shape '[7]' is invalid for input of size 3") == (
        "The following operation failed in the TorchScript interpreter.\n"
        "Traceback of TorchScript (most recent call last):\n"
        '  File "p.py", line 10, in g\n'
        "@torch.jit.script\n"
        "def g(x, y: int):\n"
        "    z = h(x +\n"
        "        ~ <--- HERE\n"
        "          y)\n"
        "    return z\n"
        '  File "p.py", line 3, in h\n'
        "def h(x):\n"
        "    # é comment\n"
        "    return x.view(7)\n"
        "           ~~~~~~ <--- HERE\n"
        "RuntimeError: shape '[7]' is invalid for input of size 3\n"
    )


def test_a_run_time_error_in_an_archive() -> None:
    code = "def h(x: Tensor) -> Tensor:\n  return torch.view(x, [7])\n"
    here = [Frame("h", marked(code, "torch.view", filename="code/__torch__.py"))]
    source = [Frame("h", marked("def h(x):\n    return x.view(7)\n", "x.view", filename="p.py"))]
    assert runtime_error_text(here, "bad 3", error="builtins.ValueError", original=source) == (
        "The following operation failed in the TorchScript interpreter.\n"
        "Traceback of TorchScript, serialized code (most recent call last):\n"
        '  File "code/__torch__.py", line 2, in h\n'
        "def h(x: Tensor) -> Tensor:\n"
        "  return torch.view(x, [7])\n"
        "         ~~~~~~~~~~ <--- HERE\n"
        "\n"
        "Traceback of TorchScript, original code (most recent call last):\n"
        '  File "p.py", line 2, in h\n'
        "def h(x):\n"
        "    return x.view(7)\n"
        "           ~~~~~~ <--- HERE\n"
        "builtins.ValueError: bad 3\n"
    )

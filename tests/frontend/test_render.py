"""Diagnostics as text: sample programs letter for letter, and what the samples do not show."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace

import pytest
from frontend_support import CASES, marked, read_diagnostics, sections
from hypothesis import given
from hypothesis import strategies as st

from rushlight.frontend.diagnostics.diagnostics import Diagnostic, Edit, Help, Label
from rushlight.frontend.diagnostics.html import as_html
from rushlight.frontend.diagnostics.render import (
    render,
    render_concise,
    render_github,
    render_json,
    render_rich,
)
from rushlight.frontend.sources.source import UNKNOWN, Source, Span

SAMPLES = sorted(CASES.glob("[0-9]*.txt"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample(path) -> None:  # type: ignore[no-untyped-def]
    case = sections(path)
    diagnostics = read_diagnostics(case["program"], case["json"])
    assert render_rich(diagnostics) == case["rich"]
    assert render_concise(diagnostics) == case["concise"]
    assert render_json(diagnostics) == case["json"]
    # The order they come in does not matter.
    assert render_rich(diagnostics[::-1]) == case["rich"]


def error(text: str, part: str, message: str = "no", label: str = "here", **more) -> Diagnostic:  # type: ignore[no-untyped-def]
    return Diagnostic("undefined-name", message, Label(marked(text, part), label), **more)


def picture(diagnostic: Diagnostic, width: int = 100) -> str:
    """The rich text less its headline and its count."""
    return "\n".join(render_rich([diagnostic], width=width).split("\n")[1:-3])


def test_wide_characters_and_tabs() -> None:
    text = "if 漢字:\n\tprint(漢字, e\u0301, nope)\n"
    assert picture(error(text, "nope")).split("\n") == [
        " --> m.py:2:16",
        "  |",
        "2 |     print(漢字, e\u0301, nope)",
        "  |                    ^^^^ here",
    ]


def test_three_labels_on_one_line() -> None:
    text = "f(a, b, c)\n"
    whole = error(text, "b", label="two")
    source = whole.primary.span.source if whole.primary else UNKNOWN.source
    labels = tuple(
        Label(Span(source, text.index(name), text.index(name) + 1), word)
        for name, word in (("a", "one"), ("c", "three"))
    )
    assert picture(replace(whole, secondary=labels)).split("\n")[2:] == [
        "1 | f(a, b, c)",
        "  |   -  ^  - three",
        "  |   |  |",
        "  |   |  two",
        "  |   one",
    ]


def test_a_label_around_another() -> None:
    text = "f(a)(b)\n"
    inner = error(text, "a", label="inner")
    outer = Label(Span(inner.primary.span.source, 0, 7), "outer")  # type: ignore[union-attr]
    assert picture(replace(inner, secondary=(outer,))).split("\n")[2:] == [
        "1 | f(a)(b)",
        "  | --^----",
        "  | | |",
        "  | | inner",
        "  | outer",
    ]


def test_a_span_of_many_lines() -> None:
    text = "x = [\n" + "".join(f"    {i},\n" for i in range(10)) + "]\n"
    shown = picture(error(text, text[4:-1], label="a list")).split("\n")
    assert shown[1:] == [
        "   |",
        " 1 | x = [",
        "   |     ^",
        "...",
        "12 | ]",
        "   | ^ a list",
    ]


def test_labels_in_another_file() -> None:
    other = Label(marked("def g(x):\n", "x", filename="other.py"), "declared here")
    assert picture(replace(error("g(1)\n", "1"), secondary=(other,))).split("\n") == [
        " --> m.py:1:3",
        "  |",
        "1 | g(1)",
        "  |   ^ here",
        " ::: other.py:1:7",
        "  |",
        "1 | def g(x):",
        "  |       - declared here",
    ]


@pytest.mark.parametrize("width", [60, 61, 79])
def test_long_lines_are_cut_around_the_marks(width: int) -> None:
    text = "x = [" + ", ".join(f"element_{i}" for i in range(60)) + "]\n"
    for part in ("x", "element_30", "element_59"):
        lines = picture(error(text, part, label="")).split("\n")[2:]
        lines = picture(error(text, part, label=""), width).split("\n")[2:]
        assert all(len(line) <= width for line in lines)
        begin, end = lines[1].index("^"), lines[1].rindex("^") + 1
        assert lines[0][begin:end] == part
        assert "…" in lines[0]


def test_notes_wrap_and_headlines_do_not() -> None:
    long = "word " * 40
    diagnostic = error("x\n", "x", message=long.strip(), notes=(long.strip(),))
    head, *rest = render_rich([diagnostic], width=60).split("\n")
    assert len(head) > 200
    assert all(len(line) <= 60 for line in rest)
    note = [line for line in rest if "word" in line]
    assert note[0].startswith("  = note: word")
    assert all(line.startswith("          word") for line in note[1:])


def test_without_a_place() -> None:
    diagnostic = Diagnostic("not-an-archive", "`x` is a PNG image", None, notes=("it is",))
    assert render_rich([diagnostic]) == (
        "error[not-an-archive]: `x` is a PNG image\n"
        "  = note: it is\n\n"
        "1 error; `rushlight explain not-an-archive` says more\n"
    )
    assert render_concise([diagnostic]) == "error[not-an-archive] `x` is a PNG image\n"
    assert render_github([diagnostic]) == ("::error title=not-an-archive::`x` is a PNG image\n")


def test_count_and_limit() -> None:
    text = "".join(f"x{i:02}\n" for i in range(30))
    errors = [error(text, f"x{i:02}", message=f"m{i:02}") for i in range(29)]
    warning = replace(error(text, "x29"), severity="warning")
    rich = render_rich([*errors, warning])
    assert rich.endswith("20 errors, and 10 more; `rushlight explain undefined-name` says more\n")
    assert "m19" in rich
    assert "m20" not in rich
    assert render_rich([errors[0], warning]).split("\n")[-2].startswith("1 error, 1 warning;")


def test_colours_only_add_to_the_text() -> None:
    diagnostic = error("a = nope\n", "nope", helps=(Help("write"),))
    plain = render_rich([diagnostic])
    colored = render_rich([diagnostic], color=True)
    assert "\x1b[1;31m^^^^" in colored
    without = colored.replace("\x1b[0m", "")
    for code in ("1;31", "1;34", "1"):
        without = without.replace(f"\x1b[{code}m", "")
    assert without == plain


def test_github_escapes() -> None:
    diagnostic = error("x\n", "x", message="50%\nof `x`")
    assert render_github([diagnostic]) == (
        "::error file=m.py,line=1,col=1,title=undefined-name::50%25%0Aof `x`\n"
    )


def test_an_unknown_format() -> None:
    with pytest.raises(ValueError, match="no format 'xml'; there are rich, concise"):
        render([], "xml", width=80, color=False)


def test_edits_become_lines() -> None:
    text = "def f(x):\n    a = g(x)\n    return a\n"
    source = Source(text, "m.py")
    at = text.index("g(x)")
    edits = (
        Edit(Span(source, at, at + 1), "hh"),
        Edit(Span(source, at + 2, at + 3), "y"),
        Edit(Span(source, len(text), len(text)), "b = 1\n"),
    )
    diagnostic = error(text, "a =", helps=(Help("so", edits),))
    assert render_rich([diagnostic]).split("\n")[5:-3] == [
        "  |",
        "  = help: so",
        "  |",
        "2 -     a = g(x)",
        "2 +     a = hh(y)",
        "  |",
        "4 + b = 1",
    ]


def test_a_line_may_be_taken_out() -> None:
    text = "a = 1\nb = 2\nc = 3\n"
    source = Source(text, "m.py")
    diagnostic = error(text, "b", helps=(Help("drop", (Edit(Span(source, 6, 12), ""),)),))
    (help,) = diagnostic.to_dict()["helps"]  # type: ignore[misc, attr-defined]
    assert help["edits"] == [{"file": "m.py", "line": 2, "remove": ["b = 2"], "insert": []}]


sources = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)


@given(sources, st.data(), st.integers(60, 100))
def test_any_source_is_shown_safely(text: str, data: st.DataObject, width: int) -> None:
    source = Source(text, "m.py")
    spans = []
    for _ in range(3):
        start = data.draw(st.integers(0, len(text)))
        spans.append(Span(source, start, data.draw(st.integers(start, len(text)))))
    first, *others = (Label(span, "w") for span in spans)
    diagnostic = Diagnostic("undefined-name", "m", first, secondary=tuple(others))
    rich = render_rich([diagnostic], width=width)
    assert rich.count("^") >= 1
    assert not any(unicodedata.category(c) == "Cc" for c in rich if c != "\n")
    json.loads(render_json([diagnostic]))
    assert render_concise([diagnostic]).count("\n") == 1


def test_colours_become_elements_and_nothing_else_does() -> None:
    text = "a<b \x1b[1;31merror\x1b[0m\x1b[34m\x1b[1m|\x1b[0m\x1b[90mx & y\x1b[0m"
    assert as_html(text) == (
        '<pre>a&lt;b <span style="color: #d9534f; font-weight: bold">error</span>'
        '<span style="font-weight: bold">|</span>x &amp; y</pre>'
    )

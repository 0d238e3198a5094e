"""Typical mistakes, and the edits that mend them: each is applied, and what comes out compiles."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from pathlib import Path

import pytest

from rushlight.cli.checked_file import check_file
from rushlight.frontend.diagnostics.diagnostics import Diagnostic
from rushlight.frontend.diagnostics.edits import Edit

HEAD = """\
import numpy as np
import rushlight as torch
from typing import Dict, List, Optional, Tuple

"""


def found_in(program: str, folder: Path) -> list[Diagnostic]:
    folder.joinpath("program.py").write_text(program, encoding="utf-8")
    linecache.clearcache()
    return check_file(str(folder / "program.py")).diagnostics


def applied(program: str, edits: Iterable[Edit]) -> str:
    """The program with edits, the last first."""
    starts = [0, *(n + 1 for n, character in enumerate(program) if character == "\n")]
    spans = [(starts[e.span.whole.line - 1] + e.span.whole.column, e) for e in edits]
    for start, edit in sorted(spans, key=lambda pair: pair[0], reverse=True):
        program = program[:start] + edit.text + program[start + len(edit.span.whole.text) :]
    return program


FUNCTION = """\
@torch.jit.script
def f({parameters}){returns}:
    {body}
"""


def function(parameters: str, body: str, returns: str = "") -> str:
    lines = "\n    ".join(body.split("\n"))
    return HEAD + FUNCTION.format(parameters=parameters, returns=returns, body=lines)


def module(made: str, body: str) -> str:
    return (
        HEAD
        + "class Base(torch.nn.Module):\n"
        + "    def helper(self, x: torch.Tensor) -> torch.Tensor:\n        return x\n\n"
        + "class M(Base):\n    def __init__(self):\n        super().__init__()\n"
        + f"        {made}\n\n    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        + f"        {body}\n\ntorch.jit.script(M())\n"
    )


MENDED = {
    "None for an int": (
        function("x: torch.Tensor, k: int = None", "return x"),
        "argument-type",
        "k: Optional[int] = None",
    ),
    "a list as default": (
        function("x: torch.Tensor, xs: List[int] = []", "xs.append(1)\nreturn xs"),
        "mutable-default",
        "    if xs is None:\n        xs = []\n    xs.append(1)",
    ),
    "NumPy's axis": (function("x", "return x.sum(axis=1)"), "unknown-keyword", "x.sum(dim=1)"),
    "NumPy's keepdims": (
        function("x", "return x.mean(axis=1, keepdims=True)"),
        "unknown-keyword",
        "x.mean(dim=1, keepdims=True)",
    ),
    "a parameter of another form, misspelt": (
        function("x", "return torch.sum(x, dims=[0])"),
        "unknown-keyword",
        "torch.sum(x, dim=[0])",
    ),
    "the rest of a shape": (
        function("x", "n, c, *rest = x.shape\nreturn rest"),
        "argument-type",
        "n, c, rest = x.shape[0], x.shape[1], x.shape[2:]",
    ),
    "map with a lambda": (
        function("xs: List[int]", "return list(map(lambda v: v + 1, xs))"),
        "not-scriptable",
        "list([v + 1 for v in xs])",
    ),
    "an empty list of ints": (
        function("n: int", "xs = []\nxs.append(n)\nreturn xs"),
        "argument-type",
        "xs: List[int] = []",
    ),
    "an empty dict of ints": (
        function("n: int", 'd = {}\nd["a"] = n\nreturn d'),
        "argument-type",
        "d: Dict[str, int] = {}",
    ),
    "modules in a list": (
        module("self.all = [torch.nn.ReLU()]", "return self.all[0](x)"),
        "attribute-not-converted",
        "self.all = torch.nn.ModuleList([torch.nn.ReLU()])",
    ),
    "modules in a dict": (
        module('self.all = {"a": torch.nn.ReLU()}', 'return self.all["a"](x)'),
        "attribute-not-converted",
        'torch.nn.ModuleDict({"a": torch.nn.ReLU()})',
    ),
    "an inherited method": (
        module("pass", "return super().helper(x)"),
        "not-scriptable",
        "return self.helper(x)",
    ),
    "an attribute without self": (
        module("self.relu = torch.nn.ReLU()", "return relu(x)"),
        "undefined-name",
        "return self.relu(x)",
    ),
    "a default that is no tensor": (
        function("x, scale=2.0", "return x * scale"),
        "argument-type",
        "x, scale: float = 2.0",
    ),
    "another language's method": (
        function("s: str", "return s.trim()"),
        "missing-attribute",
        "return s.strip()",
    ),
    "a list of what a tensor holds": (
        function("x", "y = x.tolist()\nreturn len(y)"),
        "unknown-type",
        "y: list[float] = x.tolist()",
    ),
    "a list that is returned": (
        function("x", "y = x.tolist()\nreturn y", " -> List[int]"),
        "unknown-type",
        "y: list[int] = x.tolist()",
    ),
    "a list of None that is filled": (
        function("x, n: int", "out = [None] * n\nout[0] = x\nreturn x"),
        "argument-type",
        "out: list[torch.Tensor | None] = [None for _ in range(n)]",
    ),
    "the truth of what may be None": (
        function("x: Optional[torch.Tensor]", "if x:\n    return 1\nreturn 2"),
        "argument-type",
        "if x is not None:",
    ),
    "the negation of what may be None": (
        function("x: Optional[torch.Tensor]", "if not x:\n    return 1\nreturn 2"),
        "argument-type",
        "if x is None:",
    ),
    "elements in round brackets": (
        function("x: torch.Tensor", "return x.shape(0)"),
        "argument-type",
        "return x.shape[0]",
    ),
    "a parameter that is a number": (
        function("x, n", "for i in range(n):\n    x = x + i\nreturn x"),
        "argument-type",
        "x, n: int",
    ),
}


@pytest.mark.parametrize("what", MENDED)
def test_the_edit_mends_it(what: str, tmp_path: Path) -> None:
    program, code, expected = MENDED[what]
    first, *_ = found_in(program, tmp_path)
    assert first.code == code
    edits = next(help.edits for help in first.helps if help.edits)
    mended = applied(program, edits)
    assert expected in mended
    if "keepdims" not in what:  # which takes a second edit
        assert not [d for d in found_in(mended, tmp_path) if d.severity != "warning"]


def test_places_of_arguments_are_told_in_words(tmp_path: Path) -> None:
    """`1st`, `22nd`, but `11th`, `12th` and `13th`."""
    words = "1st 2nd 3rd 4th 11th 12th 13th 14th 21st 22nd 23rd 111th".split()
    program = HEAD
    for word in words:
        taken = int(word[:-2]) - 1
        program += f"def g{taken}({', '.join(f'a{n}: int' for n in range(taken))}):\n    return 1\n"
        program += f"@torch.jit.script\ndef f{taken}():\n    g{taken}({'1, ' * taken}1)\n"
    labels = [fault.primary.text for fault in found_in(program, tmp_path) if fault.primary]
    assert labels == [f"the {word} argument" for word in words]


def test_no_brackets_are_exchanged_where_more_stands_between(tmp_path: Path) -> None:
    (fault,) = found_in(function("x: torch.Tensor", "return (x.shape)(0)"), tmp_path)
    assert not fault.helps


@pytest.mark.parametrize(
    ("wanted", "call"), [("int", "int(n, base=10)"), ("float", "float(a, b=1)")]
)
def test_casts_take_no_keywords(wanted: str, call: str, tmp_path: Path) -> None:
    """Not even where the value is what it is cast to."""
    (fault,) = found_in(function("n: int, a: float", f"return {call}"), tmp_path)
    assert fault.code == "unknown-keyword"
    assert wanted in str(fault.torch_message)


def test_a_mixed_list_may_be_a_tuple(tmp_path: Path) -> None:
    program = function("x", "return [x, 1]")
    (warning,) = found_in(program, tmp_path)
    assert warning.code == "mixed-list"
    mended = applied(program, warning.helps[0].edits)
    assert "return (x, 1)" in mended
    assert not found_in(mended, tmp_path)


def test_a_mixed_dict_is_told_with_both_values(tmp_path: Path) -> None:
    (warning,) = found_in(function("x", 'return {"a": x, "n": len(x)}'), tmp_path)
    assert (warning.code, warning.severity) == ("mixed-dict", "warning")
    assert warning.message == "this dict mixes types, so its values are `Tensor | int`"
    assert warning.primary is not None
    assert warning.primary.span.text == "len(x)"
    assert [label.span.text for label in warning.secondary] == ["x"]
    assert not found_in(function("x", 'return {"a": x, "b": x + 1}'), tmp_path)


TOLD = {
    "recursion": (
        HEAD
        + "@torch.jit.script\ndef f(n: int) -> int:\n    return 1 if n < 2 else n * f(n - 1)\n",
        "recursion",
        "`f` calls itself, which script cannot do",
    ),
    "a library": (
        function("x", "return x * np.sqrt(2.0)"),
        "not-scriptable",
        "`np.sqrt` is a function of the library `numpy`, which script cannot call",
    ),
    "a try statement": (
        function("x", "try:\n    return x\nexcept Exception:\n    return x", " -> torch.Tensor"),
        "unsupported-syntax",
        "`try` statements cannot be scripted",
    ),
    "a walrus": (
        function("x", "if (n := x.size(0)) > 2:\n    return x * n\nreturn x"),
        "unsupported-syntax",
        "`:=` cannot be scripted",
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_it_is_told_once_and_as_what_it_is(what: str, tmp_path: Path) -> None:
    program, code, message = TOLD[what]
    (found,) = found_in(program, tmp_path)
    assert (found.code, found.message) == (code, message)


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("x", "return len(x.tolist())"),  # has no variable to annotate
        ("x, n: int", "out: List[None] = [None] * n\nout[0] = x\nreturn x"),
        ("s: str", "return s.turned()"),
        ("s: str", "return s.name"),
        ("n: int", "return n.value"),
    ],
)
def test_what_has_no_edit_is_told_all_the_same(parameters: str, body: str, tmp_path: Path) -> None:
    (found,) = found_in(function(parameters, body), tmp_path)
    assert found.code in ("unknown-type", "argument-type", "missing-attribute")
    assert not any(each.edits for each in found.helps)


def test_a_wrong_call_is_told_where_it_is_made(tmp_path: Path) -> None:
    program = function("x: torch.Tensor, n: int", "return x * n") + '\nf(torch.ones(2), "a")\n'
    (found,) = found_in(program, tmp_path)
    assert found.code == "call-type"
    assert found.primary is not None
    assert found.primary.span.text == 'f(torch.ones(2), "a")'
    assert [label.span.text for label in found.secondary] == ["n: int"]


def test_what_a_list_does_not_hold_has_a_place(tmp_path: Path) -> None:
    program = function("x", "a, b = x.chunk(3)\nreturn a + b") + "\nf(torch.ones(6))\n"
    (found,) = found_in(program, tmp_path)
    assert found.primary is not None
    assert found.primary.span.text == "x.chunk(3)"


def test_an_element_of_another_type_is_told_with_its_place(tmp_path: Path) -> None:
    program = function("xs: List[int]", "return len(xs)") + '\nf([1, "a"])\n'
    (found,) = found_in("from typing import List\n" + program, tmp_path)
    assert found.message == "`f` expects `list[int]` for `xs`, not a list with a `str` at 1"

"""Where torch sees each expression and statement begin and end."""

from __future__ import annotations

import ast
import json

from frontend_support import CASES

from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.source import Source
from rushlight.frontend.syntax.from_ast import converter_of
from rushlight.frontend.syntax.torch_ranges import whole_range

RECORDED = json.loads((CASES / "ranges.json").read_text(encoding="utf-8"))


def test_ranges_are_those_of_torch() -> None:
    source = Source(RECORDED["program"], "x.py")
    converter = converter_of(source, Collector())
    (function,) = ast.parse(source.text).body
    assert isinstance(function, ast.FunctionDef)
    for text in (n for n in ast.walk(function) if isinstance(n, ast.JoinedStr)):
        for part in text.values:
            if isinstance(part, ast.Constant):
                ast.copy_location(part, text)  # where Python before 3.12 has it
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice | ast.FormattedValue):
            if isinstance(node, ast.Tuple) and any(isinstance(e, ast.Slice) for e in node.elts):
                continue  # it is no expression of its own, but what stands between brackets
            span = whole_range(converter.expression(node))
        elif isinstance(node, ast.stmt) and node is not function:
            statement = converter.statement(node)
            assert statement is not None
            span = statement.span
        elif isinstance(node, ast.withitem):
            span = converter.with_item(node).span
        else:
            continue
        place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        found.append([type(node).__name__, *place, span.start, span.torch_end])
    span = converter.function(function).span
    found.append(["DEF", 0, 0, span.start, span.torch_end])
    assert found == RECORDED["ranges"]


def test_the_text_as_written_is_kept_beside() -> None:
    source = Source("y = (a + b) * f(c)[1:2]\n")
    converter = converter_of(source, Collector())
    (assign,) = ast.parse(source.text).body
    assert isinstance(assign, ast.Assign)
    product = converter.expression(assign.value)
    assert product.span.text == "(a + b) * f(c)[1:2]"
    assert source.text[product.span.start : product.span.torch_end] == "a + b) * f(c)[1:2]"
    assert product.span.whole.column == 4
    assert product.span.column == 5


def test_a_member_ends_behind_the_space_before_it() -> None:
    source = Source("y = (x.   shape)\n", "x.py")
    (assign,) = ast.parse(source.text).body
    assert isinstance(assign, ast.Assign)
    member = converter_of(source, Collector()).expression(assign.value)
    assert source.text[member.span.start : member.span.torch_end] == "x.   shape"

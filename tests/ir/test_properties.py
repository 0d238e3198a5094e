"""What holds of every program: valid graphs after each pass, texts that read back, same meaning."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir_support import CONTEXT, functions_of
from random_programs import programs
from run_graph import Raised, run

from rushlight.ir.graphs.clone import clone_graph
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.lowering.exits import transform_exits
from rushlight.ir.lowering.lower import lower
from rushlight.ir.lowering.ssa import convert_to_ssa
from rushlight.ir.passes import PASSES
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.trees.typed import TypedFunction

ARGUMENTS = [(5, 2, [1, 2]), (0, 0, [0]), (-3, 7, [9, 8, 7])]
RELAXED = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def typed_from(text: str) -> TypedFunction:
    typed = functions_of(text)[-1].typed
    assert typed is not None
    return typed


def in_python(text: str, arguments: tuple[int, int, list[int]]) -> object:
    names: dict[str, object] = {}
    exec("from typing import List\n" + text, names)
    function = names["f"]
    assert callable(function)
    a, b, xs = arguments
    copy = list(xs)
    try:
        return function(a, b, copy), copy
    except ValueError:
        return "raised", copy


def in_graph(graph: Graph, arguments: tuple[int, int, list[int]]) -> object:
    a, b, xs = arguments
    copy = list(xs)
    try:
        return run(graph, (a, b, copy)), copy
    except Raised:
        return "raised", copy


@RELAXED
@given(programs())
def test_every_pass_keeps_the_graph_valid_and_its_meaning(text: str) -> None:
    expected = [in_python(text, arguments) for arguments in ARGUMENTS]
    graph = lower(typed_from(text), TABLE, CONTEXT.evaluate)
    convert_to_ssa(graph)
    transform_exits(graph)
    verify(graph)
    assert [in_graph(graph, arguments) for arguments in ARGUMENTS] == expected
    for each in PASSES:
        each.run(graph, CONTEXT)
        verify(graph)
        assert [in_graph(graph, arguments) for arguments in ARGUMENTS] == expected, each.name


@RELAXED
@given(programs())
def test_text_reads_back(text: str) -> None:
    graph = functions_of(text)[-1].graph
    assert isinstance(graph, Graph)
    again = parse_ir(str(graph), table=TABLE)
    verify(again)
    assert str(again) == str(graph)
    assert all(n.signature for n in again.all_nodes if n.kind.startswith("aten::"))


@RELAXED
@given(programs())
def test_clean_up_is_done_once(text: str) -> None:
    """A second round finds nothing new to compute, and the constants are all at the top."""
    graph = functions_of(text)[-1].graph
    assert isinstance(graph, Graph)
    again = clone_graph(graph)
    for each in PASSES:
        each.run(again, CONTEXT)
    kinds = [node.kind for node in graph.nodes]
    count = kinds.count("prim::Constant")
    assert kinds[:count] == ["prim::Constant"] * count
    assert len(list(again.all_nodes)) <= len(list(graph.all_nodes))


@given(st.text(max_size=20))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_strings_survive(text: str) -> None:
    from rushlight.frontend.syntax.literal_text import escape, unescape

    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert unescape(escape(text)[1:-1]) == text
    assert escape(text).isascii()

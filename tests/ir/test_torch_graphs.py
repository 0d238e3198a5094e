"""Graphs equal torch's, character by character (`record_cases.py` wrote the case files)."""

from __future__ import annotations

import pytest
from ir_support import CASES, CONTEXT, Case, functions_of, read_cases, scripted, up_to_numbering

from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.inline import inline
from rushlight.ir.graphs.verify import verify
from rushlight.ir.lowering import lowering
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.trees import typed

ALL = [
    pytest.param(case, id=f"{path.stem}-{case.name}")
    for path in sorted(CASES.glob("*.txt"))
    for case in read_cases(path)
]


NUMBERED_OTHERWISE = {"optionals"}
"""Programs with a value more in torch, which nothing tells of but the numbers of later ones."""


@pytest.mark.parametrize("case", ALL)
@pytest.mark.filterwarnings("ignore:.*unreachable-code")
def test_graph_is_that_of_torch(case: Case) -> None:
    function = scripted(case)
    text = up_to_numbering if case.name in NUMBERED_OTHERWISE else str.strip
    assert text(str(function.graph)) == text(case.graph)
    if "prim::Call" in case.graph:
        assert text(str(function.inlined_graph)) == text(case.inlined)


@pytest.mark.parametrize("case", ALL)
def test_graphs_are_well_formed(case: Case) -> None:
    function = functions_of(case.program)[-1]
    graph = graph_of(function)
    verify(graph)
    verify(inline(graph, function.name, CONTEXT))


@pytest.mark.parametrize("case", ALL)
def test_text_of_torch_reads_back(case: Case) -> None:
    for text in (case.graph, case.inlined):
        graph = parse_ir(text, table=TABLE)
        verify(graph)
        assert str(graph).strip() == text
        assert all(n.signature for n in graph.all_nodes if n.kind.startswith("aten::"))


def test_every_form_of_the_typed_tree_has_a_lowering() -> None:
    kinds = set(typed.Expr.__subclasses__()) | set(typed.Statement.__subclasses__())
    assert len(kinds) > 30
    assert kinds == {*lowering._EXPRESSIONS, *lowering._STATEMENTS}

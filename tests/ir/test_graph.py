"""The structure itself: names, order, uses; the verifier; inlining."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ir_support import CONTEXT, functions_of, graph_from

from rushlight.ir.functions import inline as inline_module
from rushlight.ir.functions.define import graph_of
from rushlight.ir.functions.graph_functions import function_of_graph
from rushlight.ir.functions.inline import inline
from rushlight.ir.graphs.clone import insert_graph
from rushlight.ir.graphs.graph import Graph, Node, Use
from rushlight.ir.graphs.verify import InvalidGraph, structure_is_linked, verify
from rushlight.ir.text.parser import parse_ir
from rushlight.typecheck.types.types import INT, STRING

PROGRAM = """
def f(x: int, c: bool):
    y = x + 1
    if c:
        y = y * 2
    for i in range(x):
        y = y + i
    return y
"""


def test_a_renamed_value_takes_the_next_odd_number() -> None:
    graph = Graph()
    values = [graph.add_input(INT, "x") for _ in range(4)]
    assert [value.name for value in values] == ["x.1", "x.3", "x.5", "x"]


def test_nodes_know_their_order() -> None:
    graph = graph_from(PROGRAM)
    nodes = list(graph.all_nodes)
    for index, node in enumerate(nodes):
        assert not node.is_before(node)
        for later in nodes[index + 1 :]:
            assert node.is_before(later)
            assert not later.is_before(node)


def test_positions_are_renewed_when_none_is_left() -> None:
    graph = Graph()
    first = graph.block.append(graph.create("prim::Uninitialized"))
    for _ in range(3000):
        graph.create("prim::Uninitialized").insert_after(first)
    verify(graph)


Damage = Callable[[Graph], None]


def _use(graph: Graph) -> None:
    graph.inputs[0].uses[Use(graph.block.ret, 7)] = None


def _order(graph: Graph) -> None:
    add = next(n for n in graph.nodes if n.kind == "aten::add")
    add.move_before(graph.block.ret)


def _type(graph: Graph) -> None:
    graph.inputs[1].type = STRING


def _block(graph: Graph) -> None:
    next(n for n in graph.nodes if n.kind == "prim::If").blocks[0].clear_outputs()


def _carried(graph: Graph) -> None:
    next(n for n in graph.nodes if n.kind == "prim::Loop").blocks[0].outputs[1].type = STRING


def _name(graph: Graph) -> None:
    del graph._names[graph.inputs[0].debug_name]


def _attribute(graph: Graph) -> None:
    next(n for n in graph.nodes if n.is_constant).attributes["colour"] = 3


def _argument(graph: Graph) -> None:
    next(n for n in graph.nodes if n.kind == "aten::add").remove_input(1)


@pytest.mark.parametrize(
    "damage", [_use, _order, _type, _block, _carried, _name, _attribute, _argument]
)
def test_the_verifier_sees_damage(damage: Damage) -> None:
    graph = graph_from(PROGRAM)
    verify(graph)
    damage(graph)
    with pytest.raises(InvalidGraph):
        verify(graph)


def test_the_verifier_sees_each_wrong_neighbour() -> None:
    """A link that is wrong, and a position that is wrong, each by itself."""
    graph = graph_from(PROGRAM)
    second = graph.block.first.next
    assert not list(structure_is_linked(graph))
    right, second.previous = second.previous, graph.block.param
    assert list(structure_is_linked(graph))
    second.previous = right
    place, second.position = second.position, right.position
    assert list(structure_is_linked(graph))
    second.position = place
    assert not list(structure_is_linked(graph))


def test_arguments_of_a_function_made_of_a_graph() -> None:
    """Names that are none in Python give way, and numbers behind names go."""
    graph = parse_ir("graph(%x.1 : int, %a.b : int, %3 : int, %y : int):\n  return (%y)\n")
    made = function_of_graph("of.graph", graph).signature
    assert made.name == "graph"
    assert [each.name for each in made.arguments] == ["x", "argument_1", "argument_2", "y"]


def test_inlined_nodes_know_their_calls() -> None:
    program = (
        "def inner(x: int):\n    return x * 2\n\n"
        "def middle(x: int):\n    return inner(x)\n\n"
        "def outer(x: int):\n    return middle(x) + 1\n"
    )
    function = functions_of(program)[-1]
    graph = inline(graph_of(function), "outer", CONTEXT)
    verify(graph)
    (node,) = [n for n in graph.nodes if n.kind == "aten::mul"]
    assert [(s.function.rpartition(".")[2], s.span.line) for s in node.call_stack] == [
        ("outer", 8),
        ("middle", 5),
    ]
    assert node.span.line == 2
    (add,) = [n for n in graph.nodes if n.kind == "aten::add"]
    assert add.call_stack == ()
    assert "prim::CallFunction" in str(graph_of(function))


CHAIN = """
def f0(x, n: int):
    y = x + n
    if n > 1:
        y = y * 2
        x = y
    return x + y

def f1(x, n: int):
    y = f0(x, n)
    return y + f0(y, 3)

def f2(x, n: int):
    y = f1(x, n)
    for i in range(n):
        y = f0(y, i)
    return y
"""


def test_the_last_call_of_a_function_takes_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names, numbers, positions and uses are those that copies would have."""
    graph = graph_from(CHAIN)
    taken = inline(graph, "f2", CONTEXT)
    verify(taken)
    monkeypatch.setattr(inline_module, "take_graph", insert_graph)
    copied = inline(graph, "f2", CONTEXT)
    assert str(taken) == str(copied)
    for mine, theirs in zip(taken.all_nodes, copied.all_nodes, strict=True):
        assert mine.call_stack == theirs.call_stack
        for a, b in zip(mine.outputs, theirs.outputs, strict=True):
            assert (a.id, a.debug_name) == (b.id, b.debug_name)
            assert [(u.user.kind, u.number) for u in a.uses] == [
                (u.user.kind, u.number) for u in b.uses
            ]


def test_a_chain_of_calls_makes_each_node_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "def f0(x):\n    return x + 1\n" + "".join(
        f"def f{i}(x):\n    return f{i - 1}(x) + {i}\n" for i in range(1, 60)
    )
    graph = graph_from(source)
    made, plain = 0, Node.__init__

    def count(self: Node, *given: Any, **named: Any) -> None:
        nonlocal made
        made += 1
        plain(self, *given, **named)

    monkeypatch.setattr(Node, "__init__", count)
    inlined = inline(graph, "f59", CONTEXT)
    assert sum(node.kind == "aten::add" for node in inlined.nodes) == 60
    assert made < 60 * 20

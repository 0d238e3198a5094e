"""Which values may share memory, and what is changed."""

from __future__ import annotations

import pytest
from ir_support import functions_of, graph_from

from rushlight.ir.aliases.alias_analysis import written_values
from rushlight.ir.aliases.alias_db import AliasDb
from rushlight.ir.aliases.aliases import Aliases
from rushlight.ir.graphs.graph import Graph, Node, Value
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE


def nodes(graph: Graph, kind: str) -> list[Node]:
    return [node for node in graph.all_nodes if node.kind == kind]


def node(graph: Graph, kind: str) -> Node:
    return nodes(graph, kind)[0]


def contains(aliases: AliasDb, one: Value, other: Value) -> bool:
    return aliases.may_contain_alias([one], [other])


def test_views_share_and_new_tensors_do_not() -> None:
    graph = graph_from("def f(x: torch.Tensor):\n    y = x.view([-1])\n    return y, x + 1, x.t()")
    aliases = AliasDb(graph)
    x = graph.inputs[0]
    assert contains(aliases, x, node(graph, "aten::view").output)
    assert contains(aliases, node(graph, "aten::t").output, node(graph, "aten::view").output)
    assert not contains(aliases, x, node(graph, "aten::add").output)


def test_inputs_of_one_type_may_be_one_object() -> None:
    graph = graph_from("def f(x: torch.Tensor, y: torch.Tensor, l: List[int]):\n    return x")
    aliases = AliasDb(graph)
    assert contains(aliases, *graph.inputs[:2])
    assert not contains(aliases, graph.inputs[0], graph.inputs[2])


def test_containers_hold_what_was_put_into_them() -> None:
    text = """
def f(x: torch.Tensor):
    a = x + 1
    b = x + 2
    l = [a]
    l.append(b)
    d = {"k": a}
    t = (a, 1)
    return l, d["k"], t[0], x + 3
"""
    graph = graph_from(text.strip())
    aliases = AliasDb(graph)
    a, b, c = (each.output for each in nodes(graph, "aten::add"))
    made = node(graph, "prim::ListConstruct").output
    assert contains(aliases, made, a)
    assert contains(aliases, made, b)
    assert not contains(aliases, made, c)
    taken = node(graph, "aten::__getitem__").output
    assert contains(aliases, taken, a)
    assert not contains(aliases, taken, b)


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("y = x + 1\n    y.add_(1)\n    return y", True),
        ("y = x + 1\n    x.add_(1)\n    return y", False),
        ("y = x + 1\n    v = y.view([-1])\n    v.add_(1)\n    return y", True),
        ("y = x + 1\n    l = [y]\n    l[0].add_(1)\n    return y", True),
        ("y = x + 1\n    for i in range(3):\n        y = y.t()\n    y.add_(1)\n    return y", True),
        ("y = x + 1\n    z = (y, 1)\n    z[0].add_(1)\n    return y", True),
        ("y = x + 1\n    l = [y]\n    l.append(x)\n    return y", False),
    ],
)
def test_changes_are_seen_through_views_and_containers(body: str, changed: bool) -> None:
    graph = graph_from(f"def f(x: torch.Tensor):\n    {body}")
    assert AliasDb(graph).has_writers(node(graph, "aten::add").output) is changed


def test_what_a_call_is_given_counts_as_changed_unless_its_body_is_looked_into() -> None:
    text = """
def g(x: torch.Tensor, y: torch.Tensor):
    x.add_(1)
    return x + y

def f():
    a = torch.ones([2])
    b = torch.zeros([2])
    return g(a, b)
"""
    graph = functions_of(text.strip())[-1].graph
    assert isinstance(graph, Graph)
    a, b = node(graph, "aten::ones").output, node(graph, "aten::zeros").output
    plain, deep = AliasDb(graph), AliasDb(graph, descend=True)
    assert plain.has_writers(a)
    assert plain.has_writers(b)
    assert deep.has_writers(a)
    assert not deep.has_writers(b)


def test_an_unknown_operator_may_do_anything() -> None:
    graph = parse_ir(
        "graph(%x : Tensor):\n  %a : Tensor = aten::neg(%x)\n  %b : Tensor = my::op(%a)\n"
        "  return (%b)",
        table=TABLE,
    )
    aliases = AliasDb(graph)
    assert aliases.has_writers(node(graph, "aten::neg").output)
    assert contains(aliases, graph.inputs[0], node(graph, "my::op").output)


def test_moving_keeps_the_order_of_changes() -> None:
    text = """
def f(x: torch.Tensor):
    a = x + 1
    b = x * 2
    a.relu_()
    c = a - 1
    return b, c
"""
    graph = graph_from(text.strip())
    aliases = AliasDb(graph)
    add, mul = node(graph, "aten::add"), node(graph, "aten::mul")
    relu, sub = node(graph, "aten::relu_"), node(graph, "aten::sub")
    assert not aliases.move(sub, relu, before=True)
    assert not aliases.move(add, sub, before=False)
    assert aliases.move(mul, sub, before=False)
    assert [n.kind for n in graph.nodes if n in (add, mul, relu, sub)] == [
        "aten::add",
        "aten::relu_",
        "aten::sub",
        "aten::mul",
    ]
    told = aliases.describe()
    assert "%x.1 points to: WILDCARD for type Tensor" in told
    assert "aten::relu_" in told.partition("===3. Writes===")[2]
    assert "digraph alias_db {" in aliases.graphviz()


NORMS = (
    *("batch_norm(x, None, None, m, v, {}, 0.1, 1e-5, True)",),
    *("instance_norm(x, None, None, m, v, {}, 0.1, 1e-5, True)",),
    *("native_batch_norm(x, None, None, m, v, {}, 0.1, 1e-5)[0]",),
)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("trains", ["True", "False", "bool(x.sum() > 0)"])
def test_a_norm_writes_its_statistics_where_it_may_train(norm: str, trains: str) -> None:
    text = f"def f(x, m, v):\n    y = torch.{norm.format(trains)}\n    return y, x + 1\n"
    graph = graph_from(text)
    x, *statistics = graph.inputs
    kind = "aten::" + norm.partition("(")[0]
    written = trains != "False"
    assert written_values(node(graph, kind)) == statistics * written
    coarse, fine = Aliases(graph), AliasDb(graph)
    for aliases in (coarse, fine):
        assert [aliases.has_writers(each) for each in (x, *statistics)] == [written] * 3
    known = coarse.may_know(coarse.writes(node(graph, kind)))
    assert bool(fine.writes(node(graph, kind))) == known == written


def test_the_table_says_which_norms_write_what_their_schemas_do_not_tell() -> None:
    for entry in TABLE:
        names = [argument.name for argument in entry.signature.arguments]
        trains = [name for name in ("training", "use_input_stats") if name in names]
        untold = trains if "Tensor? running_mean" in entry.schema else []
        assert [entry.trains_by] == (untold or [""]), entry.schema
        if entry.trains_by:
            place = names.index(entry.trains_by)
            assert names[place - 2 : place] == ["running_mean", "running_var"]
            assert entry.may_write


def walks_over_loops(depth: int) -> int:
    """How many nodes the coarse analysis looks at where so many loops lie in each other, each of
    which carries a list that the ones inside make anew."""
    lines = ["def f(n: int):", "    x = [n]"]
    for level in range(1, depth + 1):
        indent = "    " * level
        lines += [f"{indent}for i{level} in range(n):", f"{indent}    x = x + [i{level}]"]
    graph = graph_from("\n".join([*lines, "    return x\n"]))
    seen = [0]

    class Counted(Aliases):
        def _node(self, node: Node) -> None:
            seen[0] += 1
            super()._node(node)

    Counted(graph)
    return seen[0]


def test_loops_in_loops_do_not_multiply_the_work() -> None:
    assert walks_over_loops(12) < 12 * walks_over_loops(3)

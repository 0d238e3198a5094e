"""Passes one by one: a graph before and after."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import numpy as np
import pytest
from ir_support import CONTEXT, up_to_numbering

from rushlight.ir.graphs.constants import create_constant
from rushlight.ir.graphs.graph import Graph, Node
from rushlight.ir.graphs.verify import verify
from rushlight.ir.lowering.exits import transform_exits
from rushlight.ir.passes import PASSES, constant_pooling
from rushlight.ir.passes.canonical_loops import canonicalize_loops
from rushlight.ir.passes.constant_pooling import pool_constants
from rushlight.ir.passes.constant_propagation import propagate_constants
from rushlight.ir.passes.context import PassContext
from rushlight.ir.passes.dead_code import eliminate_dead_code
from rushlight.ir.passes.normalize import normalize
from rushlight.ir.passes.outputs import canonicalize_outputs
from rushlight.ir.passes.peephole import peephole
from rushlight.ir.passes.tuples import remove_tuples
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import TENSOR

Run = Callable[[Graph, PassContext], bool]


def graph(inputs: str, body: str, outputs: str) -> Graph:
    text = f"graph({inputs}):\n{indent(dedent(body).strip(), '  ')}\n  return ({outputs})\n"
    result = parse_ir(text, table=TABLE)
    verify(result)
    return result


def check(run: Run, before: Graph, after: Graph) -> None:
    assert run(before, CONTEXT)
    verify(before)
    assert up_to_numbering(str(before)) == up_to_numbering(str(after))
    assert not run(before, CONTEXT), "a second run changes something"


def test_dead_nodes_outputs_and_carried_values_go() -> None:
    before = graph(
        "%c : bool, %n : int, %x : Tensor",
        """
        %1 : int = prim::Constant[value=1]()
        %t : bool = prim::Constant[value=1]()
        %dead : Tensor = aten::neg(%x)
        %a : int, %b : int = prim::If(%c)
          block0():
            %2 : int = aten::add(%n, %1)
            -> (%1, %2)
          block1():
            -> (%n, %n)
        %l : Tensor[] = prim::ListConstruct(%x)
        %3 : Tensor[] = aten::append(%l, %x)
        """,
        "%a",
    )
    after = graph(
        "%c : bool, %n : int, %x : Tensor",
        """
        %1 : int = prim::Constant[value=1]()
        %a : int = prim::If(%c)
          block0():
            -> (%1)
          block1():
            -> (%n)
        """,
        "%a",
    )
    check(eliminate_dead_code, before, after)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("%y : Tensor = aten::neg(%x)\n%z : Tensor = aten::add_(%y, %x, %1)", False),
        ("%y : Tensor = aten::view(%x, %s)\n%z : Tensor = aten::add_(%y, %x, %1)", True),
        ("%y : Tensor = aten::neg(%x)\n%z : Tensor[] = aten::append(%l, %y)", True),
        (" = prim::Print(%x)", True),
        ("%y : Tensor = aten::neg(%x)", False),
    ],
)
def test_what_changes_something_known_outside_stays(body: str, kept: bool) -> None:
    body = "%1 : int = prim::Constant[value=1]()\n" + body
    for keeps_writes in (False, True):
        before = graph("%x : Tensor, %l : Tensor[], %s : int[]", body, "%l")
        eliminate_dead_code(before, keeps_writes=keeps_writes)
        verify(before)
        is_kept = kept or (keeps_writes and "add_" in body)
        assert any(not node.is_constant for node in before.nodes) is is_kept


UNUSED = {
    "%y : (Tensor, Tensor) = prim::TupleConstruct(%x, %x)": False,
    "%y : Tensor, %z : Tensor = prim::TupleUnpack(%p)": False,
    "%y : Tensor[] = prim::ListConstruct(%x)": False,
    "%y : Tensor, %z : Tensor = prim::ListUnpack(%l)": False,
    "%y : Dict(str, Tensor) = prim::DictConstruct()": False,
    "%y : Tensor = prim::unchecked_cast(%o)": False,
    "%y : bool = prim::isinstance[types=[int]](%o)": False,
    "%y : Tensor = aten::neg(%x)": False,
    "%y : Tensor = aten::bernoulli(%x, %g)": False,
    "%y : Tensor[] = aten::append(%l, %x)": True,
    " = prim::RaiseException(%s, %s)": True,
    "%y : int = other::unknown(%x)": True,
}
"""Statements whose results nobody uses, and whether somebody sees what they do."""


@pytest.mark.parametrize("body", UNUSED)
def test_what_nobody_uses_goes_unless_it_does_something(body: str) -> None:
    inputs = (
        "%x : Tensor, %l : Tensor[], %p : (Tensor, Tensor), %o : Tensor?, %s : str, %g : Generator?"
    )
    unused = graph(inputs, body, "%l")
    eliminate_dead_code(unused)
    assert bool(list(unused.nodes)) is UNUSED[body]


def test_constants_are_computed_and_branches_chosen() -> None:
    before = graph(
        "%x : int",
        """
        %2 : int = prim::Constant[value=2]()
        %3 : int = prim::Constant[value=3]()
        %4 : int = aten::mul(%2, %3)
        %5 : bool = aten::gt(%4, %3)
        %6 : int = prim::If(%5)
          block0():
            %7 : int = aten::add(%x, %4)
            -> (%7)
          block1():
            -> (%x)
        """,
        "%6",
    )
    after = graph(
        "%x : int",
        "%4 : int = prim::Constant[value=6]()\n%7 : int = aten::add(%x, %4)",
        "%7",
    )
    check(propagate_constants, before, after)


def test_what_would_fail_or_could_change_is_not_computed() -> None:
    before = graph(
        "%x : int",
        """
        %0 : int = prim::Constant[value=0]()
        %1 : int = aten::floordiv(%0, %0)
        %2 : int[] = prim::ListConstruct(%0)
        %3 : int = aten::len(%2)
        """,
        "%1, %3",
    )
    text = str(before)
    assert not propagate_constants(before, CONTEXT)
    assert str(before) == text


def test_a_loop_that_never_runs_gives_what_was_before() -> None:
    before = graph(
        "%x : int",
        """
        %0 : int = prim::Constant[value=0]()
        %t : bool = prim::Constant[value=1]()
        %y : int = prim::Loop(%0, %t, %x)
          block0(%i : int, %a : int):
            %b : int = aten::add(%a, %i)
            -> (%t, %b)
        """,
        "%y",
    )
    check(propagate_constants, before, graph("%x : int", "", "%x"))


def test_constants_are_pooled_in_reverse_order() -> None:
    before = graph(
        "%c : bool",
        """
        %1 : int = prim::Constant[value=1]()
        %2 : bool = prim::Constant[value=1]()
        %3 : int, %4 : float = prim::If(%c)
          block0():
            %5 : int = prim::Constant[value=1]()
            %6 : float = prim::Constant[value=1.]()
            -> (%5, %6)
          block1():
            %7 : float = prim::Constant[value=2.]()
            -> (%1, %7)
        """,
        "%3, %4, %2",
    )
    after = graph(
        "%c : bool",
        """
        %7 : float = prim::Constant[value=2.]()
        %6 : float = prim::Constant[value=1.]()
        %2 : bool = prim::Constant[value=1]()
        %1 : int = prim::Constant[value=1]()
        %3 : int, %4 : float = prim::If(%c)
          block0():
            -> (%1, %6)
          block1():
            -> (%1, %7)
        """,
        "%3, %4, %2",
    )
    assert pool_constants(before, CONTEXT)
    verify(before)
    assert up_to_numbering(str(before)) == up_to_numbering(str(after))


def test_tuples_are_seen_through() -> None:
    before = graph(
        "%a : int, %b : str",
        """
        %t : (int, str) = prim::TupleConstruct(%a, %b)
        %c : int, %d : str = prim::TupleUnpack(%t)
        %0 : int = prim::Constant[value=-1]()
        %e : str = prim::TupleIndex(%t, %0)
        """,
        "%c, %d, %e",
    )
    check(remove_tuples, before, graph("%a : int, %b : str", "", "%a, %b, %b"))


def test_aliases_get_one_name() -> None:
    before = graph("%x : Tensor, %y : Tensor", "%z : Tensor = aten::multiply(%x, %y)", "%z")
    after = graph("%x : Tensor, %y : Tensor", "%z : Tensor = aten::mul(%x, %y)", "%z")
    check(normalize, before, after)
    (node,) = before.nodes
    assert node.signature is not None
    assert node.signature.full_name == "aten::mul.Tensor"


def test_second_names_do_not_chain() -> None:
    firsts = {name: TABLE.first_name(name) for name in TABLE.names()}
    second = {name: first for name, first in firsts.items() if first != name}
    assert len(second) > 70
    assert second["aten::absolute_"] == "aten::abs_"
    assert set(second.values()) <= set(firsts)
    assert not second.keys() & set(second.values())


def test_outputs_come_in_order_of_use() -> None:
    blocks = """
          block0():
            -> (%x, %c)
          block1():
            -> (%y, %d)
        %3 : bool = aten::__not__({0})
        """
    before = graph(
        "%c : bool, %d : bool, %x : int, %y : int",
        "%a : int, %b : bool = prim::If(%c)" + blocks.format("%b"),
        "%a, %3",
    )
    assert canonicalize_outputs(before, CONTEXT)
    verify(before)
    node = next(before.nodes)
    assert [output.name for output in node.outputs] == ["b", "a"]
    assert [value.name for value in node.blocks[1].outputs] == ["d", "y"]


def test_a_counted_loop_with_a_condition_becomes_a_while() -> None:
    before = graph(
        "%n : int, %c : bool",
        """
        %t : bool = prim::Constant[value=1]()
        prim::Loop
        """.replace(
            "prim::Loop",
            " = prim::Loop(%n, %t)\n          block0(%i : int):\n            -> (%c)",
        ),
        "%n",
    )
    assert canonicalize_loops(before, CONTEXT)
    verify(before)
    loop = next(node for node in before.nodes if node.kind == "prim::Loop")
    assert loop.inputs[0].node.value == 2**63 - 1
    assert [node.kind for node in loop.blocks[0].nodes] == [
        "aten::add",
        "aten::lt",
        "aten::__and__",
    ]
    assert not canonicalize_loops(before, CONTEXT)


def test_types_answer_questions_about_none() -> None:
    before = graph(
        "%x : int",
        """
        %n : NoneType = prim::Constant()
        %b : bool = aten::__is__(%x, %n)
        %y : int = prim::unchecked_cast(%x)
        """,
        "%b, %y",
    )
    assert peephole(before, CONTEXT)
    verify(before)
    answer, value = before.outputs
    assert answer.node.value is False
    assert value is before.inputs[0]


def test_leaving_a_context_by_return_still_leaves_it() -> None:
    before = graph(
        "%c : bool, %x : int, %k : __torch__.Context",
        """
        %e : NoneType = prim::Enter(%k)
         = prim::If(%c)
          block0():
             = prim::ReturnStmt(%x)
            -> ()
          block1():
            -> ()
         = prim::Print(%x)
        %z : Tensor = prim::Exit(%k)
        %1 : int = aten::neg(%x)
         = prim::ReturnStmt(%1)
        """,
        "%x",
    )
    transform_exits(before)
    for each in PASSES:
        each.run(before, CONTEXT)
        verify(before)
    kinds = [node.kind for node in before.nodes]
    assert kinds.index("prim::Enter") < kinds.index("prim::If") < kinds.index("prim::Exit")
    assert kinds.count("prim::If") == 2
    assert kinds.count("prim::Exit") == 1


def test_passes_have_reasons() -> None:
    assert len({each.name for each in PASSES}) == len(PASSES)
    assert all(each.why and each.run.__doc__ for each in PASSES)


def test_pooling_compares_few_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = 0
    usual = constant_pooling.same_constant

    def counting(one: Node, other: Node) -> bool:
        nonlocal compared
        compared += 1
        return usual(one, other)

    monkeypatch.setattr(constant_pooling, "same_constant", counting)
    graph = Graph()
    for number in range(200):
        array = np.full((2, 2), float(number % 100))
        node = graph.insert(create_constant(graph, array, TENSOR))
        graph.block.add_output(node.output)
    for value in (-0.0, 0.0, np.nan, np.nan):
        node = graph.insert(create_constant(graph, np.full(1, value), TENSOR))
        graph.block.add_output(node.output)
    pool_constants(graph, CONTEXT)
    assert len(list(graph.nodes)) == 100 + 1 + 2  # zeros are equal, nan equals nothing
    assert compared < 300


@pytest.mark.parametrize(
    ("type", "asked", "answer"),
    [
        ("int", "int, str", 1),
        ("int", "str, float", 0),
        ("int?", "int, NoneType", 1),
        ("int?", "str", 0),
        ("int?", "int", None),
        ("Union(int, str)", "str, int", 1),
        ("Scalar", "int", None),
        ("Any", "int", None),
        ("Tensor", "Tensor[]", 0),
    ],
)
def test_types_answer_what_they_are(type: str, asked: str, answer: int | None) -> None:
    made = graph(f"%x : {type}", f"%1 : bool = prim::isinstance[types=[{asked}]](%x)", "%1")
    propagate_constants(made, CONTEXT)
    (node,) = made.block.nodes
    assert node.is_constant == (answer is not None)
    assert answer is None or node.value == answer

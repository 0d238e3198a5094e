"""Random structured graphs: a walk over the graph, the machine and the plan give equal results."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.code import Code
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.plans.plan import make_plan
from rushlight.ir.graphs.graph import Block, Graph, Value
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import BOOL, INT, ListType, Type

LIST = ListType(INT)
ENDLESS = 2**63 - 1


def no_calls(target: Any, values: Any) -> Any:
    raise AssertionError("nothing is called here")


class Builder:
    """Builds a graph from the numbers hypothesis draws."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.graph = Graph()
        self.budget = 40

    def choose(self, options: list[Any]) -> Any:
        return options[self.data.draw(st.integers(0, len(options) - 1))]

    def constant(self, value: Any, type: Type) -> Value:
        node = self.graph.create("prim::Constant", outputs=(type,))
        node.attributes["value"] = value
        return self.graph.insert(node).output

    def operator(self, name: str, *inputs: Value, type: Type) -> Value:
        entry = TABLE.operator(name)
        assert entry is not None
        signature = entry.signature
        node = self.graph.create(signature.name, inputs, (type,), signature=signature)
        return self.graph.insert(node).output

    def pick(self, seen: list[Value], type: Type) -> Value:
        options = [v for v in seen if v.type == type]
        if type == INT and (not options or self.choose([0, 0, 0, 1])):
            big = [0, 1, 2, -1, 3, 2**62, -(2**63), 2**31]
            return self.constant(self.choose(big), INT)
        if type == BOOL and not options:
            return self.constant(self.choose([True, False]), BOOL)
        return self.choose(options)

    def fill(self, block: Block, seen: list[Value], depth: int) -> None:
        """Nodes into a block; `seen` grows by what they define."""
        self.graph.insertion = block.ret
        for _ in range(self.data.draw(st.integers(0, 5))):
            self.budget -= 1
            if self.budget < 0:
                return
            forms = [self.arithmetic, self.arithmetic, self.comparison, self.change_list]
            forms += [self.new_list]
            if depth < 3:
                forms += [self.branch, self.loop]
            self.choose(forms)(block, seen, depth)
            self.graph.insertion = block.ret

    def arithmetic(self, block: Block, seen: list[Value], depth: int) -> None:
        name = self.choose(["add", "sub", "mul", "remainder"])
        if name == "remainder":
            right = self.constant(self.choose([1, 7, -3]), INT)
        else:
            right = self.pick(seen, INT)
        left = self.pick(seen, INT)
        seen.append(self.operator(f"aten::{name}.int", left, right, type=INT))

    def comparison(self, block: Block, seen: list[Value], depth: int) -> None:
        name = self.choose(["lt", "ge", "eq"])
        left, right = self.pick(seen, INT), self.pick(seen, INT)
        seen.append(self.operator(f"aten::{name}.int", left, right, type=BOOL))

    def new_list(self, block: Block, seen: list[Value], depth: int) -> None:
        items = [self.pick(seen, INT) for _ in range(self.choose([0, 1, 3]))]
        node = self.graph.create("prim::ListConstruct", items, (LIST,))
        seen.append(self.graph.insert(node).output)

    def change_list(self, block: Block, seen: list[Value], depth: int) -> None:
        target = self.pick(seen, LIST)
        self.operator("aten::append.t", target, self.pick(seen, INT), type=LIST)
        seen.append(self.operator("aten::len.t", target, type=INT))

    def branch(self, block: Block, seen: list[Value], depth: int) -> None:
        types = [self.choose([INT, INT, BOOL, LIST]) for _ in range(self.choose([0, 1, 2, 3]))]
        node = self.graph.insert(self.graph.create("prim::If", [self.pick(seen, BOOL)], types))
        for _ in range(2):
            inner = node.add_block()
            inside = list(seen)
            self.fill(inner, inside, depth + 1)
            self.graph.insertion = inner.ret
            for type in types:
                inner.add_output(self.pick(inside, type))
        seen.extend(node.outputs)

    def loop(self, block: Block, seen: list[Value], depth: int) -> None:
        types = [self.choose([INT, INT, LIST]) for _ in range(self.choose([0, 1, 2, 3]))]
        limit = self.constant(self.choose([0, 1, 2, 3]), INT)
        start = self.choose([self.constant(True, BOOL), self.pick(seen, BOOL)])
        inputs = [limit, start, *(self.pick(seen, t) for t in types)]
        node = self.graph.insert(self.graph.create("prim::Loop", inputs, types))
        inner = node.add_block()
        inside = [*seen, inner.add_input(INT), *(inner.add_input(t) for t in types)]
        self.fill(inner, inside, depth + 1)
        self.graph.insertion = inner.ret
        go_on = self.choose([self.constant(True, BOOL), self.pick(inside, BOOL)])
        inner.add_output(go_on)
        for type in types:
            inner.add_output(self.pick(inside, type))
        seen.extend(node.outputs)

    def build(self) -> Graph:
        seen = [self.graph.add_input(t) for t in (INT, INT, BOOL, LIST)]
        self.fill(self.graph.block, seen, 0)
        for type in (INT, BOOL, LIST, INT):
            self.graph.block.add_output(self.pick(seen, type))
        return self.graph


class Walk:
    """The meaning of a graph, straight from its structure."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.at: dict[Value, Any] = {}

    def run(self, *arguments: Any) -> tuple[Any, ...]:
        return self.block(self.graph.block, arguments)

    def block(self, block: Block, arguments: Any) -> tuple[Any, ...]:
        self.at.update(zip(block.inputs, arguments, strict=True))
        for node in block.nodes:
            inputs = [self.at[v] for v in node.inputs]
            if node.kind == "prim::Constant":
                results: Any = (node.value,)
            elif node.kind == "prim::If":
                results = self.block(node.blocks[0 if inputs[0] else 1], ())
            elif node.kind == "prim::Loop":
                limit, go_on, *carried = inputs
                index = 0
                while index < limit and go_on:
                    go_on, *carried = self.block(node.blocks[0], (index, *carried))
                    index += 1
                results = carried
            elif node.kind == "prim::ListConstruct":
                results = (list(inputs),)
            else:
                assert node.signature is not None
                results = (TABLE.of(node.signature).forward(*inputs),)
            self.at.update(zip(node.outputs, results, strict=True))
        return tuple(self.at[v] for v in block.outputs)


def outcome(run: Any, arguments: tuple[Any, ...]) -> Any:
    copies = [list(a) if isinstance(a, list) else a for a in arguments]
    return run(*copies), copies


@settings(max_examples=100, deadline=None)
@given(
    st.data(),
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-5, 5),
        st.booleans(),
        st.lists(st.integers(0, 9), max_size=3),
    ),
)
def test_three_ways_agree(data: st.DataObject, arguments: tuple[Any, ...]) -> None:
    graph = Builder(data).build()
    expected = outcome(Walk(graph).run, arguments)
    code = assemble(graph)
    assert outcome(lambda *a: Machine(code, no_calls).run(a), arguments) == expected
    plan = make_plan(code, no_calls)
    assert plan is not None
    assert outcome(plan.run, arguments) == expected


def fib_graph() -> Graph:
    """`while n > 0: a, b = b, a + b; n -= 1`"""
    graph = Graph()
    n = graph.add_input(INT, "n")

    def constant(value: Any, type: Type) -> Value:
        node = graph.create("prim::Constant", outputs=(type,))
        node.attributes["value"] = value
        return graph.insert(node).output

    def operator(name: str, *inputs: Value, type: Type) -> Value:
        entry = TABLE.operator(name)
        assert entry is not None
        node = graph.create(entry.name, inputs, (type,), signature=entry.signature)
        return graph.insert(node).output

    zero, one, limit = constant(0, INT), constant(1, INT), constant(ENDLESS, INT)
    start = operator("aten::gt.int", n, zero, type=BOOL)
    loop = graph.insert(graph.create("prim::Loop", [limit, start, zero, one, n], [INT] * 3))
    body = loop.add_block()
    _, a, b, left = (body.add_input(INT) for _ in range(4))
    graph.insertion = body.ret
    total = operator("aten::add.int", a, b, type=INT)
    fewer = operator("aten::sub.int", left, one, type=INT)
    go_on = operator("aten::gt.int", fewer, zero, type=BOOL)
    for value in (go_on, b, total, fewer):
        body.add_output(value)
    graph.block.add_output(loop.outputs[0])
    return graph


@pytest.fixture
def fib() -> Code:
    return assemble(fib_graph(), "fib")


def test_whole_numbers_wrap_at_64_bits(fib: Code) -> None:
    a, b = 0, 1
    for _ in range(200):
        a, b = b, a + b
    wrapped = (a + 2**63) % 2**64 - 2**63
    plan = make_plan(fib, no_calls)
    assert plan is not None
    assert Machine(fib, no_calls).run((200,)) == plan.run(200) == wrapped


def test_registers_are_reused(fib: Code) -> None:
    """n, a, b, the condition, and one to swap over."""
    assert fib.register_count == 5

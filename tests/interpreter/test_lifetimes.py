"""Arrays are let go of after their last use, on the machine and in plans."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.liveness import Liveness
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.code.registers import sequence_moves
from rushlight.interpreter.plans.plan import make_plan
from rushlight.ir.graphs.graph import Block, Graph, Value
from rushlight.ops.table.table import Operator, Table
from rushlight.typecheck.types.types import BOOL, INT, TENSOR, Type


class World:
    """Operators that make arrays and count those that still exist."""

    def __init__(self) -> None:
        self.made: list[weakref.ref[Any]] = []
        self.counts: list[int] = []
        self.table = Table()
        self.table.add(Operator("test::make() -> Tensor", self.make))
        self.table.add(Operator("test::change(Tensor x) -> Tensor", lambda x: self.make()))
        self.table.add(Operator("test::count() -> ()", self.count))
        self.graph = Graph()

    def make(self) -> Any:
        array = np.zeros(3)
        self.made.append(weakref.ref(array))
        return array

    def count(self) -> None:
        self.counts.append(sum(r() is not None for r in self.made))

    def node(self, name: str, *inputs: Value, types: list[Type], at: Block | None = None) -> Any:
        entry = self.table.operator(name)
        signature = None if entry is None else entry.signature
        node = self.graph.create(name, inputs, types, signature=signature)
        return node.insert_before((at or self.graph.block).ret)

    def constant(self, value: Any, type: Type) -> Value:
        node = self.node("prim::Constant", types=[type])
        node.attributes["value"] = value
        return node.output

    def run(self, way: str, *arguments: Any) -> Any:
        def invoke(target: Any, values: Any) -> Any:
            raise AssertionError

        code = assemble(self.graph, table=self.table)
        if way == "machine":
            return Machine(code, invoke).run(arguments)
        plan = make_plan(code, invoke)
        assert plan is not None
        return plan.run(*arguments)


@pytest.fixture
def world() -> World:
    return World()


ways = pytest.mark.parametrize("way", ["machine", "plan"])


@ways
def test_a_chain_keeps_one(world: World, way: str) -> None:
    array = world.node("test::make", types=[TENSOR]).output
    for _ in range(3):
        array = world.node("test::change", array, types=[TENSOR]).output
        world.node("test::count", types=[])
    world.graph.block.add_output(array)
    world.run(way)
    assert world.counts == [1, 1, 1]


@ways
def test_an_unused_result_goes_at_once(world: World, way: str) -> None:
    world.node("test::make", types=[TENSOR])
    world.node("test::count", types=[])
    world.run(way)
    assert world.counts == [0]


@ways
@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_drops_what_only_the_other_needs(world: World, way: str, flag: bool) -> None:
    condition = world.graph.add_input(BOOL)
    array = world.node("test::make", types=[TENSOR]).output
    branch = world.node("prim::If", condition, types=[])
    then, otherwise = branch.add_block(), branch.add_block()
    world.node("test::count", types=[], at=then)
    world.node("test::count", types=[], at=otherwise)
    world.node("test::change", array, types=[TENSOR], at=otherwise)
    world.node("test::count", types=[])
    world.run(way, flag)
    assert world.counts == ([0, 0] if flag else [1, 0])


@ways
def test_a_loop_carries_one(world: World, way: str) -> None:
    start = world.node("test::make", types=[TENSOR]).output
    outside = world.node("test::make", types=[TENSOR]).output
    limit, true = world.constant(3, INT), world.constant(True, BOOL)
    loop = world.node("prim::Loop", limit, true, start, types=[TENSOR])
    body = loop.add_block()
    body.add_input(INT)
    carried = body.add_input(TENSOR)
    world.node("test::count", types=[], at=body)
    changed = world.node("test::change", carried, types=[TENSOR], at=body).output
    world.node("test::change", outside, types=[TENSOR], at=body)
    world.node("test::count", types=[], at=body)
    body.add_output(true)
    body.add_output(changed)
    world.node("test::count", types=[])
    world.graph.block.add_output(loop.output)
    world.run(way)
    assert world.counts == [2] * 6 + [1]


@ways
def test_an_unused_argument_of_a_loop_goes(world: World, way: str) -> None:
    start = world.node("test::make", types=[TENSOR]).output
    limit, true = world.constant(2, INT), world.constant(True, BOOL)
    loop = world.node("prim::Loop", limit, true, start, types=[TENSOR])
    body = loop.add_block()
    body.add_input(INT)
    body.add_input(TENSOR)
    world.node("test::count", types=[], at=body)
    body.add_output(true)
    body.add_output(world.node("test::make", types=[TENSOR], at=body).output)
    world.node("test::count", types=[])
    world.run(way)
    assert world.counts == [0, 0, 0]


def test_constants_need_no_registers(world: World) -> None:
    value = world.constant(1, INT)
    world.graph.block.add_output(value)
    assert Liveness(world.graph).dying == {}
    assert assemble(world.graph).register_count == 0


@pytest.mark.parametrize(
    "moves",
    [
        [(0, 1), (1, 0)],
        [(0, 1), (1, 2), (2, 0)],
        [(0, 1), (1, 2)],
        [(1, 0), (2, 0), (0, 2)],
        [(0, 0), (1, -1), (2, 1)],
        [(0, 1), (1, 0), (2, 3), (3, 2)],
    ],
)
def test_moves_happen_all_at_once(moves: list[tuple[int, int]]) -> None:
    registers = {n: f"old{n}" for n in (-1, 0, 1, 2, 3, 9)}
    expected = registers | {to: registers[source] for to, source in moves}
    for to, source in sequence_moves(moves, 9):
        registers[to] = registers[source]
    assert {n: registers[n] for n in range(4)} == {n: expected[n] for n in range(4)}

"""Calls: arguments in, results out, the machine first and then the plan."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest

import rushlight.ops  # noqa: F401  (fills the operator table)
from rushlight.interpreter.code.steps import UnsupportedKind
from rushlight.interpreter.running import tiers
from rushlight.interpreter.running.calling import call
from rushlight.interpreter.running.invoking import code_of, tiers_of
from rushlight.interpreter.running.tiers import SHORT
from rushlight.interpreter.values.objects import ScriptObject
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.ops.tensors.tensor import Tensor
from rushlight.typecheck.definitions.class_types import ClassType, InterfaceType
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.schema import NO_DEFAULT, Argument, Signature
from rushlight.typecheck.types.types import INT, TENSOR, Type


def function(
    text: str,
    name: str = "f",
    defaults: dict[str, object] | None = None,
    types: dict[str, Type] | None = None,
) -> Function:
    """A function from graph text; its signature is that of the graph."""
    graph = parse_ir(text, table=TABLE, types=types)
    made = Function(f"__torch__.{name}", graph=graph)
    arguments = tuple(
        Argument(v.debug_name, v.type, (defaults or {}).get(v.debug_name, NO_DEFAULT))
        for v in graph.inputs
    )
    returns = tuple(Argument("", v.type) for v in graph.outputs)
    made.declared = Signature(name, "", arguments, returns)
    return made


def tensor(data: Any) -> Tensor:
    return Tensor._of(np.asarray(data, np.float32))


ADD = """
graph(%a : int, %b : int):
  %c : int = aten::add(%a, %b)
  return (%c)
"""


def test_call_with_arguments_by_position_name_and_default() -> None:
    add = function(ADD, defaults={"b": 5})
    assert call(add, (1, 2)) == 3
    assert call(add, (1,)) == 6
    assert call(add, (), {"b": 3, "a": 4}) == 7


def test_results_are_python_values() -> None:
    pair = function(
        """
        graph(%x : Tensor, %n : int):
          %l : int[] = prim::ListConstruct(%n, %n)
          %k : str = prim::Constant[value="k"]()
          %d : Dict(str, Tensor) = prim::DictConstruct(%k, %x)
          %t : (Tensor, int[], Dict(str, Tensor)) = prim::TupleConstruct(%x, %l, %d)
          return (%t)
        """
    )
    x, numbers, by_name = call(pair, (tensor([1, 2]), 3))
    assert isinstance(x, Tensor)
    assert numbers == [3, 3]
    assert isinstance(by_name["k"], Tensor)
    assert by_name["k"]._array.tolist() == [1, 2]


def test_lists_are_copied_on_the_way_in() -> None:
    grow = function(
        """
        graph(%l : int[], %n : int):
          %m : int[] = aten::append(%l, %n)
          return (%m)
        """
    )
    mine = [1]
    assert call(grow, (mine, 2)) == [1, 2]
    assert mine == [1]


def test_straight_code_is_planned_at_its_second_run() -> None:
    add = function(ADD)
    results = []
    for _ in range(3):
        results.append(call(add, (2**62, 2**62)))
        results.append(tiers_of(add).way().plan is None)
    assert results == [-(2**63), True, -(2**63), False, -(2**63), False]


def test_a_plan_waits_until_the_machine_has_run_as_long_as_it_takes_to_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", "")
    took, now = [tiers.MAKING_READY, tiers.PLANNING], [0.0]

    def clock() -> float:
        now[0] += took[0] / 2  # once before a run of the machine, and once behind it
        return now[0]

    monkeypatch.setattr(tiers, "thread_time", lambda: clock())
    add = function(ADD)
    operands = code_of(add).operand_count
    assert operands > 2
    call(add, (1, 2))
    took.pop(0)
    for _ in range(2 * operands - 1):
        call(add, (1, 2))
        assert tiers_of(add).way().plan is None
    for _ in range(3):
        call(add, (1, 2))
    assert tiers_of(add).way().plan is not None


COUNT = """
graph(%n : int):
  %t : bool = prim::Constant[value=1]()
  %z : int = prim::Constant[value=0]()
  %r : int = prim::Loop(%n, %t, %z)
    block0(%i : int, %s : int):
      %u : int = aten::add(%s, %i)
      -> (%t, %u)
  return (%r)
"""


def test_a_short_loop_is_planned_at_once() -> None:
    count = function(COUNT)
    assert len(code_of(count).instructions) <= SHORT
    assert call(count, (5,)) == 10
    assert tiers_of(count).way().plan is not None


def test_plans_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_PLAN", "off")
    count = function(COUNT)
    assert [call(count, (5,)) for _ in range(3)] == [10] * 3
    assert tiers_of(count).way().plan is None


def test_code_too_deep_for_a_plan_runs_on_the_machine() -> None:
    depth = 25
    lines = ["graph(%n : int):", "  %t : bool = prim::Constant[value=1]()"]
    lines.append("  %s0 : int = prim::Constant[value=0]()")
    lines.append("  %one : int = prim::Constant[value=1]()")
    for level in range(depth):
        indent = "    " * level + "  "
        lines.append(f"{indent}%r{level} : int = prim::Loop(%one, %t, %s{level})")
        lines.append(f"{indent}  block0(%i{level} : int, %s{level + 1} : int):")
    indent = "    " * depth + "  "
    lines.append(f"{indent}%x{depth} : int = aten::add(%s{depth}, %n)")
    last = f"%x{depth}"
    for level in reversed(range(depth)):
        lines.append("    " * (level + 1) + f"  -> (%t, {last})")
        last = f"%r{level}"
    lines.append(f"  return ({last})")
    deep = function("\n".join(lines))
    assert [call(deep, (7,)) for _ in range(3)] == [7] * 3
    assert tiers_of(deep).way().plan is None


def test_slots_hold_handles_and_registers_arrays() -> None:
    cls = ClassType("__torch__.M", True)
    cls.add_attribute("weight", TENSOR, "parameter")
    cls.add_attribute("count", INT)
    scale = function(
        """
        graph(%self : __torch__.M, %x : Tensor):
          %w : Tensor = prim::GetAttr[name="weight"](%self)
          %n : int = prim::GetAttr[name="count"](%self)
          %y : Tensor = aten::mul(%x, %w)
          %m : int = aten::add(%n, %n)
           = prim::SetAttr[name="count"](%self, %m)
           = prim::SetAttr[name="weight"](%self, %y)
          return (%y)
        """,
        types={"__torch__.M": cls},
    )
    weight = tensor([2.0, 3.0])
    target = ScriptObject(cls, [weight, 1])
    assert target.weight is weight
    first = call(scale, (tensor([1.0, 1.0]),), self=target)
    assert first._array.tolist() == [2, 3]
    second = call(scale, (tensor([2.0, 1.0]),), self=target)
    assert second._array.tolist() == [4, 3]
    assert target.count == 4
    assert isinstance(target.weight, Tensor)


def test_methods_of_interfaces_are_found_when_called() -> None:
    interface = InterfaceType("__torch__.Shape")
    area_signature = Signature("area", "", (Argument("self", interface),), (Argument("", INT),))
    interface.methods["area"] = Function("__torch__.Shape.area", declared=area_signature)
    cls = ClassType("__torch__.Square")
    cls.add_attribute("side", INT)
    types: dict[str, Type] = {"__torch__.Shape": interface, "__torch__.Square": cls}
    cls.methods["area"] = function(
        """
        graph(%self : __torch__.Square):
          %s : int = prim::GetAttr[name="side"](%self)
          %a : int = aten::mul(%s, %s)
          return (%a)
        """,
        types=types,
    )
    cls.methods["area"].declared = area_signature
    area = function(
        """
        graph(%shape : __torch__.Shape):
          %a : int = prim::CallMethod[name="area"](%shape)
          return (%a)
        """,
        types=types,
    )
    assert [call(area, (ScriptObject(cls, [7]),)) for _ in range(2)] == [49, 49]


def test_unknown_kinds_are_refused_at_assembly_with_their_place() -> None:
    strange = function(
        """
        graph(%x : Tensor):
          %y : Tensor = prim::Mystery(%x) # model.py:7:4
          return (%y)
        """
    )
    with pytest.raises(UnsupportedKind, match=r"`prim::Mystery` \(model\.py:7:5\)"):
        call(strange, (tensor([1]),))


def test_threads_share_a_function() -> None:
    count = function(COUNT)
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(call(count, (n,)))) for n in range(20)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert sorted(results) == [n * (n - 1) // 2 for n in range(20)]

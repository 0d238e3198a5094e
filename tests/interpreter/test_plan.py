"""Plans: what is written out gives what the operator gives; what is moved out of loops may be."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight.ops  # noqa: F401  (fills the operator table)
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.code import Code
from rushlight.interpreter.code.instructions import ROWS
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.plans.plan import Plan, make_plan
from rushlight.interpreter.plans.stretches import find_stretches
from rushlight.interpreter.values.objects import ScriptObject
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.ops.tensors.tensor import Tensor
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import INT, STRING, TENSOR, Type


def no_calls(target: Any, values: Any) -> Any:
    raise AssertionError("nothing is called here")


def both(text: str, types: dict[str, Type] | None = None) -> tuple[Code, Plan]:
    code = assemble(parse_ir(text, table=TABLE, types=types))
    plan = make_plan(code, no_calls)
    assert plan is not None
    return code, plan


def test_every_instruction_can_be_written() -> None:
    structural = {"jump", "branch", "branch_if", "range", "next"}
    assert {r.name for r in ROWS if not r.line} == structural


@pytest.mark.parametrize("wanted", ["int", "bool, str", "float, int[]", "complex, int, float"])
def test_types_are_asked_for_alike(wanted: str) -> None:
    """Also where Python's classes tell: truths are no numbers."""
    code, plan = both(
        f"""
        graph(%a : Union(int, float, str)):
          %r : bool = prim::isinstance[types=[{wanted}]](%a)
          return (%r)
        """
    )
    for value in (1, True, 1.5, "a", 2j, [1], ["a"], None):
        assert plan.run(value) is Machine(code, no_calls).run((value,))
    assert ("is_instance" in plan.text) == ("[]" in wanted)


EDGES = st.sampled_from([0, 1, -1, 2**30, -(2**30), 2**31, 2**62, 2**63 - 1, -(2**63), 12345])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "remainder", "floordiv"])
@pytest.mark.parametrize("constant", [None, 1, -1, 7, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("swapped", [False, True])
def test_whole_numbers_stay_in_64_bits(name: str, constant: int | None, swapped: bool) -> None:
    operands = ("%c, %a" if swapped else "%a, %c") if constant is not None else "%a, %b"
    code, plan = both(
        f"""
        graph(%a : int, %b : int):
          %c : int = prim::Constant[value={constant or 0}]()
          %r : int = aten::{name}({operands})
          return (%r)
        """
    )

    @settings(max_examples=25, deadline=None)
    @given(EDGES | st.integers(-(2**63), 2**63 - 1), EDGES)
    def check(a: int, b: int) -> None:
        divisor = b if constant is None else a if swapped else constant
        if name in ("remainder", "floordiv") and divisor == 0:
            return
        expected = Machine(code, no_calls).run((a, b))
        assert plan.run(a, b) == expected
        assert -(2**63) <= expected < 2**63

    check()


def test_no_text_of_a_program_is_in_a_plan() -> None:
    nasty = "__import__('os').system('true')"
    code, plan = both(
        f"""
        graph(%self : __torch__.M, %x : str):
          %c : str = prim::Constant[value="{nasty}"]()
          %d : float = prim::Constant[value=1.5]()
          %w : str = prim::GetAttr[name="attribute_with_a_name"](%self)
          %y : str = aten::add(%x, %c)
          %z : str = aten::add(%y, %w)
          return (%z)
        """,
        {"__torch__.M": with_attributes(attribute_with_a_name=STRING)},
    )
    assert "import" not in plan.text
    assert "attribute" not in plan.text
    allowed = set("r c o t n h plan def return if else and isascii slots".split())
    words = {"".join(c for c in w if not c.isdigit()) for w in _words(plan.text)} - {""}
    assert words <= allowed
    assert code.constants[0] == nasty


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def with_attributes(**attributes: Type) -> ClassType:
    cls = ClassType("__torch__.M", True)
    for name, type in attributes.items():
        cls.add_attribute(name, type)
    return cls


LOOP = """
graph(%self : __torch__.M, %n : int, %x : Tensor):
  %t : bool = prim::Constant[value=1]()
  %one : int = prim::Constant[value=1]()
  %y : Tensor = prim::Loop(%n, %t, %x)
    block0(%i : int, %h : Tensor):
      %w : Tensor = prim::GetAttr[name="w"](%self)
      %z : Tensor = aten::add(%h, %w, %one)
      {change}
      -> (%t, %z)
  return (%y)
"""


@pytest.mark.parametrize("changes", [False, True])
def test_slots_are_read_once_only_if_nothing_changes_them(changes: bool) -> None:
    change = ' = prim::SetAttr[name="w"](%self, %z)' if changes else ""
    cls = with_attributes(w=TENSOR)
    code, plan = both(LOOP.format(change=change), {"__torch__.M": cls})
    assert ("held0 = read_slot" in plan.text) is not changes
    results = []
    for run in (lambda *a: Machine(code, no_calls).run(a), plan.run):
        target = ScriptObject(cls, [Tensor._of(np.ones(2, np.float32))])
        results.append(run(target, 4, np.zeros(2, np.float32)).tolist())
    assert results[0] == results[1] == ([8.0, 8.0] if changes else [4.0, 4.0])


def test_a_loop_that_runs_not_at_all_reads_nothing_it_should_not() -> None:
    cls = with_attributes(w=TENSOR)
    _, plan = both(LOOP.format(change=""), {"__torch__.M": cls})
    x = np.zeros(2, np.float32)
    assert plan.run(ScriptObject(cls, [None]), 0, x) is x


def test_the_test_of_a_while_loop_is_at_its_head() -> None:
    code, plan = both(
        """
        graph(%n : int):
          %max : int = prim::Constant[value=9223372036854775807]()
          %two : int = prim::Constant[value=2]()
          %c : bool = aten::le(%two, %n)
          %r : int = prim::Loop(%max, %c, %two)
            block0(%i : int, %k : int):
              %m : int = aten::mul(%k, %two)
              %d : bool = aten::le(%m, %n)
              -> (%d, %m)
          return (%r)
        """
    )
    assert "while r1 <= r0:" in plan.text or "while r2 <= r0:" in plan.text
    assert [plan.run(n) for n in (0, 2, 100)] == [2, 4, 128]
    assert [Machine(code, no_calls).run((n,)) for n in (0, 2, 100)] == [2, 4, 128]


def test_a_failing_line_leads_to_its_instruction() -> None:
    code, plan = both(
        """
        graph(%l : int[], %i : int):
          %a : int = aten::add(%i, %i)
          %k : int = aten::__getitem__(%l, %a)
          return (%k)
        """
    )
    with pytest.raises(IndexError) as caught:
        plan.run([1, 2], 3)
    found = plan.failed_step(caught.value.__traceback__)
    assert found is not None
    step, registers = found
    assert step.node.kind == "aten::__getitem__"
    assert registers["r0"] == [1, 2]
    assert code.operators[0].full_name == "aten::__getitem__.t"


def test_an_int_attribute_is_read_each_time() -> None:
    cls = with_attributes(n=INT)
    code, plan = both(
        """
        graph(%self : __torch__.M):
          %n : int = prim::GetAttr[name="n"](%self)
          %m : int = aten::add(%n, %n)
           = prim::SetAttr[name="n"](%self, %m)
          %k : int = prim::GetAttr[name="n"](%self)
          return (%k)
        """,
        {"__torch__.M": cls},
    )
    assert (
        plan.run(ScriptObject(cls, [4]))
        == Machine(code, no_calls).run([ScriptObject(cls, [4])])
        == 8
    )


def test_quantized_arrays_go_to_the_operator() -> None:
    import rushlight

    @rushlight.jit.script
    def f(x):
        return x.relu().t(), x.max()

    x = rushlight.quantize_per_tensor(rushlight.randn(3, 4), 0.1, 10, rushlight.quint8)
    for _ in range(3):  # on the machine, then by the plan
        turned, largest = f(x)
        assert turned.q_scale() == 0.1
        assert rushlight.equal(turned.dequantize(), x.relu().t().dequantize())
        assert largest.dequantize() == x.max().dequantize()


def calls_to_search(count: int) -> int:
    """How many functions are called to search a row of `count` branches for stretches."""
    branches = "".join(
        f"""
          %s{i} : bool = aten::gt(%n, %n)
          %x{i + 1} : Tensor = prim::If(%s{i})
            block0():
              %a{i} : Tensor = aten::relu(%x{i})
              -> (%a{i})
            block1():
              %b{i} : Tensor = aten::nonzero(%x{i})
              -> (%b{i})"""
        for i in range(count)
    )
    text = f"graph(%x0 : Tensor, %n : int):{branches}\n          return (%x{count})"
    code = assemble(parse_ir(text, table=TABLE))
    calls = [0]

    def called(frame: FrameType, event: str, what: object) -> None:
        calls[0] += event == "call"

    sys.setprofile(called)
    find_stretches(code)
    sys.setprofile(None)
    return calls[0]


def test_stretches_are_searched_for_in_time_that_grows_with_the_code() -> None:
    assert calls_to_search(60) < 2.5 * calls_to_search(30)

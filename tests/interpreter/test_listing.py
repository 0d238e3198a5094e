"""Listings of register code."""

from __future__ import annotations

import rushlight.ops  # noqa: F401  (fills the operator table)
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.running.disassemble import disassemble
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.definitions.class_types import ClassType
from rushlight.typecheck.types.types import TENSOR


def test_a_listing() -> None:
    cls = ClassType("__torch__.M", True)
    cls.add_attribute("weight", TENSOR)
    graph = parse_ir(
        """
        graph(%self : __torch__.M, %x : Tensor, %l : int[]):
          %two : int = prim::Constant[value=2]()
          %three : int[] = prim::Constant[value=[1, 2, 3]]()
          %w : Tensor = prim::GetAttr[name="weight"](%self)
          %y : Tensor = aten::mul(%x, %w)
          %m : int[] = aten::append(%l, %two)
          %b : bool = aten::eq(%l, %three)
          %z : Tensor = prim::If(%b)
            block0():
              -> (%y)
            block1():
              %n : Tensor = aten::tanh(%y)
              -> (%n)
          return (%z)
        """,
        table=TABLE,
        types={"__torch__.M": cls},
    )
    lines = disassemble(assemble(graph, "forward")).splitlines()
    assert lines == [
        "forward: 3 arguments, 3 registers",
        "  C[1] = list[int] = [1, 2, 3]",
        "   0  get_tensor  R[0] = the array of R[0].weight",
        "   1  call2       R[0] = aten::mul.Tensor(R[1], R[0])",
        "   2  append      R[2].append(2)",
        "   3  call2       R[1] = aten::eq.int_list(R[2], C[1])",
        "   4  branch_if   continue at 6 if R[1]",
        "   5  call1       R[0] = aten::tanh(R[0])",
        "   6  return      give back R[0]",
    ]


def test_the_source_line_of_an_instruction() -> None:
    graph = parse_ir(
        """
        graph(%x : Tensor):
          %y : Tensor = aten::tanh(%x) # model.py:3:4
          return (%y)
        """,
        table=TABLE,
    )
    first = disassemble(assemble(graph)).splitlines()[1]
    assert first.startswith("   0  call1       R[0] = aten::tanh(R[0])")
    assert "# model.py:3" in first

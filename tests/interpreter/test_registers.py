"""What parts of register code do to registers."""

from __future__ import annotations

from textwrap import dedent

from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.code import Branch, Code, Repeat, Step
from rushlight.interpreter.code.instructions import row
from rushlight.interpreter.plans.lifting import Lifting
from rushlight.interpreter.plans.registers import Registers, targets_of
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE


def code_of(text: str) -> Code:
    return assemble(parse_ir(dedent(text), table=TABLE))


def test_a_branch_reads_its_condition() -> None:
    code = code_of("""
        graph(%a : bool, %x : int):
          %one : int = prim::Constant[value=1]()
          %b : bool = aten::__not__(%a)
          %y : int = prim::If(%b)
            block0():
              %z : int = aten::add(%x, %one)
              -> (%z)
            block1():
              -> (%x)
          return (%y)
        """)
    (branch,) = (part for part in code.body if isinstance(part, Branch))
    uses = Registers().uses(branch)
    assert branch.condition in uses.read
    assert set(branch.results) <= uses.surely


def loop_of(count: str, next_condition: str) -> Repeat:
    code = code_of(f"""
        graph(%n : int, %a : bool, %x : int):
          %most : int = prim::Constant[value=9223372036854775807]()
          %true : bool = prim::Constant[value=1]()
          %y : int = prim::Loop({count}, {"%a" if next_condition == "%c" else "%true"}, %x)
            block0(%i : int, %z : int):
              %w : int = aten::mul(%z, %z)
              %c : bool = aten::lt(%w, %n)
              -> ({next_condition}, %w)
          return (%y)
        """)
    (loop,) = (part for part in code.body if isinstance(part, Repeat))
    return loop


def test_a_loop_reads_its_condition_at_the_head_of_each_round() -> None:
    loop, registers = loop_of("%most", "%c"), Registers()
    assert loop.condition is not None
    assert loop.condition in registers.uses(loop).read
    ((body, needed),) = registers.inside(loop, frozenset())
    assert body is loop.body
    assert loop.condition in needed
    assert set(loop.carried) <= needed


def test_a_loop_that_counts_has_no_condition() -> None:
    loop, registers = loop_of("%n", "%true"), Registers()
    assert loop.condition is None
    assert loop.count in registers.uses(loop).read
    assert not registers.uses(loop).surely
    ((_, needed),) = registers.inside(loop, frozenset({99}))
    assert None not in needed
    assert 99 in needed
    assert loop.index not in needed


def test_what_can_be_done_in_front_of_a_stretch() -> None:
    """Numbers of numbers, parts of tensors, of lists and tuples, tensors of numbers: of what is
    there, or was lifted before."""
    code = code_of("""
        graph(%x : Tensor, %l : Tensor[], %i : int, %t : (int, Tensor), %n : int[]):
          %zero : int = prim::Constant[value=0]()
          %one : int = prim::Constant[value=1]()
          %none : NoneType = prim::Constant()
          %false : bool = prim::Constant[value=0]()
          %j : int = aten::mul(%i, %i)
          %view : Tensor = aten::select(%x, %zero, %j)
          %item : Tensor = aten::__getitem__(%l, %j)
          %part : Tensor = prim::TupleIndex(%t, %one)
          %last : int = aten::__getitem__(%n, %j)
          %row : int[] = prim::ListConstruct(%j)
          %of : Tensor = aten::tensor(%row, %none, %none, %false)
          %sizes : int[] = prim::ListConstruct(%j)
          %zeros : Tensor = aten::zeros(%sizes, %none, %none, %none, %none)
          %one_sum : Tensor = aten::add(%view, %item, %last)
          %other : Tensor = aten::add(%part, %of, %i)
          %made : Tensor = aten::add(%one_sum, %other, %i)
          %all : (Tensor, Tensor) = prim::TupleConstruct(%made, %zeros)
          return (%all)
        """)
    steps = [part for part in code.body if isinstance(part, Step)]
    steps = [step for step in steps if row(step.instruction).name not in ("free", "return")]
    number, view, *_, made, _all = steps
    names = {id(each): each.node.outputs[0].debug_name for each in steps}

    def taken(own: set[int], lifting: Lifting) -> list[str]:
        numbers = [each for each in steps if lifting.takes_number(each, own)]
        assert all(each is number for each in numbers)
        whole = (each for each in steps if lifting.takes(each, code.called(each), own))
        return [names[id(each)] for each in (*numbers, *whole)]

    every = ["j", "view", "item", "part", "last", "row", "of"]
    assert taken(set(), Lifting(makes=True)) == every
    assert taken(set(), Lifting()) == every[:-2]
    written = set(targets_of(number))
    assert taken(written, Lifting()) == ["j", "part"]
    lifting = Lifting()
    lifting.lift(number, 90)
    lifting.held[targets_of(number)[0]] = 90
    assert taken(written, lifting) == every[:-2]
    lifting.lift(view, 91)
    assert 90 in lifting.steps[1].instruction
    assert [step.node for step in lifting.needed({91})] == [number.node, view.node]
    assert lifting.needed({90}) == lifting.needed({90, 99}) != lifting.needed({91})
    assert not lifting.takes(made, code.called(made), set())


def test_lists_that_were_changed_are_not_read_in_front() -> None:
    code = code_of("""
        graph(%n : int[], %l : Tensor[], %i : int):
          %none : NoneType = prim::Constant()
          %gone : int[] = aten::append(%n, %i)
          %last : int = aten::__getitem__(%n, %i)
          %item : Tensor = aten::__getitem__(%l, %i)
          %made : Tensor = aten::add(%item, %last, %i)
          return (%made)
        """)
    steps = [part for part in code.body if isinstance(part, Step)]
    append, last, item, *_ = (s for s in steps if row(s.instruction).name != "free")
    lifting = Lifting()
    assert lifting.takes(last, code.called(last), set())
    lifting.watch(append)
    assert not lifting.takes(last, code.called(last), set())
    assert lifting.takes(item, code.called(item), set())
    assert not Lifting(lifting).takes(last, code.called(last), set())

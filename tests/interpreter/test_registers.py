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
    """Numbers of numbers, parts of tensors and of lists: of what is there, or was lifted before."""
    code = code_of("""
        graph(%x : Tensor, %l : Tensor[], %i : int):
          %zero : int = prim::Constant[value=0]()
          %j : int = aten::mul(%i, %i)
          %view : Tensor = aten::select(%x, %zero, %j)
          %item : Tensor = aten::__getitem__(%l, %j)
          %made : Tensor = aten::add(%view, %item, %i)
          return (%made)
        """)
    steps = [part for part in code.body if isinstance(part, Step)]
    steps = [step for step in steps if row(step.instruction).name not in ("free", "return")]
    number, view, item, made = steps

    def taken(own: set[int], lifting: Lifting) -> list[str]:
        ways = {
            "number": lambda step: lifting.takes_number(step, own),
            "view": lambda step: lifting.takes_view(step, code.called(step), own),
            "item": lambda step: lifting.takes_item(step, own),
        }
        found = ([word for word, takes in ways.items() if takes(step)] for step in steps)
        return [" ".join(words) for words in found if words]

    assert taken(set(), Lifting()) == ["number", "view", "item"]
    written = set(targets_of(number))
    assert taken(written, Lifting()) == ["number"]
    lifting = Lifting()
    lifting.lift(number, 90)
    lifting.held[targets_of(number)[0]] = 90
    assert taken(written, lifting) == ["number", "view", "item"]
    lifting.lift(view, 91)
    assert 90 in lifting.steps[1].instruction
    assert [step.node for step in lifting.needed({91})] == [number.node, view.node]
    assert lifting.needed({90}) == lifting.needed({90, 99}) != lifting.needed({91})
    assert not lifting.takes_item(made, set())
    assert lifting.takes_item(item, set())

"""Arithmetic of sizes that a trace has noted as tensors becomes that of numbers."""

from __future__ import annotations

import io
from textwrap import dedent, indent
from typing import Any

import pytest
from ir_support import CONTEXT

import rushlight as torch
from rushlight.interpreter.running.executable import executable_of
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.graphs.verify import verify
from rushlight.ir.passes.dead_code import eliminate_dead_code
from rushlight.ir.passes.sizes_as_numbers import sizes_as_numbers
from rushlight.ir.text.parser import parse_ir
from rushlight.ops.table.table import TABLE

HEAD = """
%zero : int = prim::Constant[value=0]()
%one : int = prim::Constant[value=1]()
%two : int = prim::Constant[value=2]()
%trunc : str = prim::Constant[value="trunc"]()
%floor : str = prim::Constant[value="floor"]()
%none : NoneType = prim::Constant()
%n : int = aten::size(%x, %zero)
%s : Tensor = prim::NumToTensor(%n)
%m : Tensor = prim::NumToTensor(%k)
"""


def graph(body: str, outputs: str = "%r") -> Graph:
    lines = indent(HEAD.strip() + "\n" + dedent(body).strip(), "  ")
    made = parse_ir(f"graph(%x : Tensor, %k : int):\n{lines}\n  return ({outputs})\n", table=TABLE)
    verify(made)
    return made


def kinds(made: Graph) -> list[str]:
    eliminate_dead_code(made, CONTEXT)
    verify(made)
    return [n.kind for n in made.all_nodes if not n.is_constant and n.kind != "aten::size"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%r : int = aten::Int(%s)", []),
        (
            "%t : Tensor = aten::div(%s, %two, %trunc)\n%r : int = aten::Int(%t)",
            ["aten::floordiv"],
        ),
        (
            "%t : Tensor = aten::div(%m, %two, %floor)\n%r : int = aten::Int(%t)",
            ["aten::floordiv"],
        ),
        (
            "%t : Tensor = aten::floor_divide(%s, %two)\n%r : int = aten::Int(%t)",
            ["aten::floordiv"],
        ),
        (
            "%t : Tensor = aten::mul(%s, %m)\n%u : Tensor = aten::add(%t, %two, %one)\n"
            "%r : int = aten::Int(%u)",
            ["aten::mul", "aten::add"],
        ),
        (
            "%t : Tensor = aten::mul(%s, %two)\n%u : Tensor = aten::mul_(%t, %s)\n"
            "%r : int = aten::Int(%u)",
            ["aten::mul", "aten::mul"],
        ),
        ("%r : bool = aten::is_floating_point(%s)", []),
    ],
)
def test_numbers_take_the_place_of_tensors(body: str, expected: list[str]) -> None:
    made = graph(body)
    assert sizes_as_numbers(made)
    assert kinds(made) == expected
    assert all(str(n.output.type) != "Tensor" for n in made.all_nodes if n.outputs)
    assert not sizes_as_numbers(made)


@pytest.mark.parametrize(
    "body",
    [
        # may be negative, where a quotient that is cut is another than one that is rounded down
        "%t : Tensor = aten::div(%m, %two, %trunc)\n%r : int = aten::Int(%t)",
        "%d : Tensor = aten::sub(%s, %two, %one)\n"
        "%t : Tensor = aten::div(%d, %two, %trunc)\n%r : int = aten::Int(%t)",
        # whose divisor may be 0
        "%t : Tensor = aten::div(%s, %m, %floor)\n%r : int = aten::Int(%t)",
        "%t : Tensor = aten::div(%s, %zero, %floor)\n%r : int = aten::Int(%t)",
        # of floats
        "%t : Tensor = aten::div(%s, %two)\n%r : int = aten::Int(%t)",
        # times something
        "%t : Tensor = aten::add(%s, %two, %two)\n%r : int = aten::Int(%t)",
        # with a tensor of other numbers
        "%t : Tensor = aten::mul(%x, %s)\n%r : int = aten::Int(%t)",
        # that somebody writes
        "%t : Tensor = aten::mul_(%s, %two)\n%u : Tensor = aten::add(%s, %t, %one)\n"
        "%r : int = aten::Int(%u)",
        "%v : Tensor = aten::view_as(%s, %s)\n%t : Tensor = aten::add_(%v, %two, %one)\n"
        "%u : Tensor = aten::mul(%s, %two)\n%r : int = aten::Int(%u)",
    ],
)
def test_what_stays_a_tensor(body: str) -> None:
    made = graph(body)
    before = str(made)
    sizes_as_numbers(made)
    eliminate_dead_code(made, CONTEXT)
    made_before = graph(body)
    eliminate_dead_code(made_before, CONTEXT)
    assert [n.kind for n in made.all_nodes] == [n.kind for n in made_before.all_nodes], before


class Patches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        x = x.view(b, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3, 5)
        return x.reshape(b, (h // 2) * (w // 2), c * 4) * 2


def test_traces_compute_sizes_as_numbers() -> None:
    example = torch.randn(1, 3, 4, 4)
    traced: Any = torch.jit.trace(Patches(), example)
    assert "NumToTensor" in str(traced.graph)
    again = torch.jit.load(io.BytesIO(traced.save_to_buffer()))
    for sizes in ((1, 3, 4, 4), (2, 1, 6, 10), (0, 2, 2, 2)):
        x = torch.randn(*sizes)
        for run in (traced, again):
            for _ in range(3):
                assert torch.equal(run(x), Patches()(x))
    code = executable_of(traced.forward._rushlight_function, None).code
    assert "NumToTensor" not in str(code)

"""Graphs that torch printed are printed as the code that torch printed for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from rushlight.frontend.sources.source import UNKNOWN, Source, Span
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.text.parser import parse_ir
from rushlight.serialization.printing.constants import Constants
from rushlight.serialization.printing.printer import (
    PrintError,
    print_function,
    print_graph_source,
)
from rushlight.serialization.printing.types import TypeNames
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.schema import Signature
from rushlight.typecheck.definitions.schema_text import parse_schema
from rushlight.typecheck.types.types import INT, STRING, DictType, ListType, OptionalType, Type

CASES = Path(__file__).parent / "cases" / "printed_code.txt"


class Case(NamedTuple):
    name: str
    schema: str
    graph: str
    code: str


class Operators:
    """A table of the operators whose schemas a text lists."""

    def __init__(self, schemas: Sequence[str]) -> None:
        self._by_name: dict[str, list[Signature]] = {}
        for schema in schemas:
            signature = parse_schema(schema)
            self._by_name.setdefault(signature.name, []).append(signature)

    def overloads(self, name: str) -> Sequence[Signature]:
        return self._by_name.get(name, ())

    def names(self) -> Sequence[str]:
        return list(self._by_name)


def read_cases() -> tuple[Operators, list[Case]]:
    head, *bodies = re.split(r"^=== ", CASES.read_text(), flags=re.MULTILINE)
    cases = []
    for body in bodies:
        program, schema, graph, code = re.split(r"^--- \w+\n", body, flags=re.MULTILINE)
        cases.append(Case(program.split("\n")[0], schema.strip(), graph, code))
    return Operators(head.split("\n")[1:-1]), cases


OPERATORS, ALL = read_cases()


def declared(text: str) -> Signature:
    """The signature of a function; only operators have a namespace."""
    return parse_schema(f"cases::{text}")


def graph(text: str) -> Graph:
    return parse_ir(text, table=OPERATORS)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_prints_what_torch_prints(case: Case) -> None:
    printed = print_function(graph(case.graph), case.name, declared(case.schema))
    assert printed.text == case.code
    assert printed.constants == []


def test_method_has_an_untyped_self() -> None:
    body = graph("graph(%self : Tensor, %n.1 : int):\n  return (%n.1)\n")
    signature = declared("forward(Tensor self, int n) -> int")
    printed = print_function(body, "forward", signature, is_method=True)
    assert printed.text == "def forward(self,\n    n: int) -> int:\n  return n\n"


def test_bare_graph_is_named_after_its_values() -> None:
    body = graph("graph(%x.1 : Tensor, %1 : int):\n  return (%x.1, %1)\n")
    assert print_graph_source(body) == (
        "def graph(x: Tensor,\n    argument_1: int) -> Tuple[Tensor, int]:\n"
        "  return x, argument_1\n"
    )


def test_tensors_and_other_letters_are_numbered_constants() -> None:
    body = graph("graph():\n  %0 : Tensor = prim::Constant[value={1}]()\n  return (%0)\n")
    printed = print_function(body, "f", declared("f() -> Tensor"))
    assert printed.text == "def f() -> Tensor:\n  return CONSTANTS.c0\n"
    assert len(printed.constants) == 1
    body = Graph()
    for letters in ("é", "e"):
        node = body.insert(body.create("prim::Constant", (), (STRING,)))
        node.attributes["value"] = letters
        body.block.add_output(node.output)
    printed = print_function(body, "f", declared("f() -> (str, str)"))
    assert printed.text.endswith('return CONSTANTS.c0, "e"\n')
    assert printed.constants == ["é"]


def test_equal_tensors_share_a_constant() -> None:
    text = "".join(f"  %{i} : Tensor = prim::Constant[value={{1}}]()\n" for i in range(2))
    printed = print_function(graph(f"graph():\n{text}  return (%0, %1)\n"))
    assert "return CONSTANTS.c0, CONSTANTS.c0\n" in printed.text
    assert len(printed.constants) == 1


def test_records_name_the_source_of_every_stretch() -> None:
    source = Source("(x * 2).relu()")
    whole, inner = Span(source, 0, 14), Span(source, 1, 6)
    body = graph(
        "graph(%x.1 : Tensor):\n"
        "  %1 : int = prim::Constant[value=2]()\n"
        "  %2 : Tensor = aten::mul(%x.1, %1)\n"
        "  %3 : Tensor = aten::relu(%2)\n"
        "  return (%3)\n"
    )
    _, mul, relu = body.nodes
    mul.span, relu.span = inner, whole
    printed = print_function(body, "f", declared("f(Tensor x) -> Tensor"))
    stretches = {}
    ends = [*(offset for offset, _ in printed.records[1:]), len(printed.text)]
    for (start, span), end in zip(printed.records, ends, strict=True):
        stretches.setdefault(span.text, []).append(printed.text[start:end])
    assert stretches[whole.text] == ["torch.relu(", ")"]
    assert stretches[inner.text] == ["torch.mul(x, ", ")"]
    assert printed.records[0] == (0, UNKNOWN)


def test_long_chain_of_calls_is_no_problem() -> None:
    lines = "".join(f"  %{i + 1} : Tensor = aten::relu(%{i})\n" for i in range(3000))
    printed = print_function(graph(f"graph(%0 : Tensor):\n{lines}  return (%3000)\n"))
    assert printed.text.count("torch.relu(") == 3000
    assert max(map(len, printed.text.split("\n"))) < 60


def test_operator_without_signature_is_refused_at_its_place() -> None:
    body = graph("graph(%x : Tensor):\n  %1 : Tensor = aten::unheard_of(%x)\n  return (%1)\n")
    next(iter(body.nodes)).span = Span(Source("unheard_of(x)", "f.py", 7), 0, 13)
    with pytest.raises(PrintError, match=r"f\.py:7:1: aten::unheard_of has no signature"):
        print_function(body)


def test_loop_with_count_and_condition_is_refused() -> None:
    body = graph(
        "graph(%n : int, %c : bool):\n"
        "  prim::Loop(%n, %c)\n"
        "    block0(%i : int):\n"
        "      -> (%c)\n"
        "  return (%n)\n".replace("  prim", "   = prim")
    )
    with pytest.raises(PrintError, match="both a count and a condition"):
        print_function(body)


def test_signature_must_fit_the_graph() -> None:
    body = graph("graph(%x : Tensor):\n  return (%x)\n")
    with pytest.raises(PrintError, match="f has 0 parameters, but its graph has 1 inputs"):
        print_function(body, "f", declared("f() -> Tensor"))


def test_function_without_graph_is_refused() -> None:
    function = Function("__torch__.f", declared=declared("f() -> Tensor"))
    with pytest.raises(PrintError, match=r"__torch__\.f has no graph"):
        print_function(function)


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        ([1, 2], ListType(INT), "[1, 2]"),
        ([], ListType(INT), "annotate(List[int], [])"),
        ([1, 2], ListType(OptionalType(INT)), "annotate(List[Optional[int]], [1, 2])"),
        ({1: 2}, DictType(INT, INT), "{1: 2}"),
        ({1: 2}, DictType(INT, OptionalType(INT)), "annotate(Dict[int, Optional[int]],{1: 2})"),
    ],
)
def test_a_constant_says_its_type_where_its_elements_do_not(
    value: object, type: Type, text: str
) -> None:
    assert Constants(TypeNames()).text(value, type) == text

"""Programs as text, their graphs, and the case files with what torch makes of them."""

from __future__ import annotations

import builtins
import linecache
import re
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rushlight
from rushlight.frontend.diagnostics.diagnostics import Collector
from rushlight.frontend.sources.source import Span
from rushlight.frontend.syntax.from_text import function_trees
from rushlight.ir.functions.define import define_function, graph_of
from rushlight.ir.graphs.graph import Graph
from rushlight.ir.passes import PassContext
from rushlight.ops.memory.dtype import DTYPES
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.definitions.functions import Function
from rushlight.typecheck.definitions.names import (
    Constant,
    ExceptionClass,
    FunctionName,
    Meaning,
    OperatorName,
    SpecialForm,
    TypeName,
)
from rushlight.typecheck.definitions.schema import Signature
from rushlight.typecheck.types.types import INT, TENSOR

CASES = Path(__file__).parent / "cases"
FILENAME = "program.py"


def evaluate(signature: Signature, values: Sequence[object]) -> object:
    return TABLE.of(signature).forward(*values)


CONTEXT = PassContext(TABLE, evaluate)


class TorchNames:
    title = "torch"

    def member(self, name: str, span: Span) -> Meaning | None:
        if name == "Tensor":
            return TypeName(TENSOR)
        if name in DTYPES:
            return Constant(DTYPES[name].number, INT)
        return OperatorName(f"aten::{name}") if TABLE.operators(f"aten::{name}") else None

    def names(self) -> Iterable[str]:
        return ()


class Names:
    """The functions of a program, `torch`, and Python's own names."""

    def __init__(self) -> None:
        self.functions: dict[str, Function] = {}

    def lookup(self, name: str, span: Span) -> Meaning | None:
        if name in self.functions:
            return FunctionName(self.functions[name])
        if name == "torch":
            return TorchNames()
        if name.endswith("Error"):
            return ExceptionClass(f"builtins.{name}")
        typing = ("List", "Dict", "Tuple", "Optional", "Union", "Any")
        return SpecialForm(name) if name in typing or hasattr(builtins, name) else None

    def names(self) -> Iterable[str]:
        return self.functions


def functions_of(text: str) -> list[Function]:
    """The functions of a program, defined; later ones may call earlier ones."""
    collector, names = Collector(), Names()
    for tree in function_trees(text, collector, FILENAME):
        function = Function(f"__torch__.{tree.name}", tree=tree)
        define_function(function, names, collector, TABLE, evaluate)
        names.functions[tree.name] = function
    assert not collector.errors, collector.errors[0]
    return list(names.functions.values())


def graph_from(text: str) -> Graph:
    """The graph of a program's last function."""
    return graph_of(functions_of(text)[-1])


# ------------------------------------------------------------------------------------ case files


@dataclass
class Case:
    """A program and torch's `.graph` and `.inlined_graph` of its last function."""

    name: str
    program: str
    graph: str = ""
    inlined: str = ""

    def text(self) -> str:
        inlined = "" if self.inlined == self.graph else f"---- inlined\n{self.inlined}\n"
        return f"==== {self.name}\n{self.program}\n---- graph\n{self.graph}\n{inlined}"


def read_cases(path: Path) -> Iterator[Case]:
    for part in path.read_text(encoding="utf-8").split("==== ")[1:]:
        head, _, rest = part.partition("\n")
        program, _, expected = rest.partition("\n---- graph\n")
        graph, _, inlined = expected.partition("---- inlined\n")
        graph = graph.rstrip("\n")
        yield Case(head, program.strip("\n"), graph, inlined.rstrip("\n") or graph)


def scripted(case: Case) -> Any:
    """The program's last function, scripted as one that stands in a file."""
    text = f"{case.program}\n"
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    names: dict[str, Any] = {**vars(typing), "torch": rushlight, "__name__": "program"}
    exec(compile(text, FILENAME, "exec", dont_inherit=True), names)
    last = re.findall(r"^def (\w+)", text, re.MULTILINE)[-1]
    return rushlight.jit.script(names[last])


def up_to_numbering(text: str) -> str:
    """The text with values numbered in order of appearance, base names kept."""
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        name = match[1]
        if name not in names:
            base = "" if name.isdigit() else re.sub(r"\.\d+$", "", name) + "."
            names[name] = f"%{base}{len(names)}"
        return names[name]

    return re.sub(r"%([\w.]+)", rename, text).strip()

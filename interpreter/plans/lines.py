"""Line plans: a function as Python code whose lines are those of the program, for debuggers.

It is made of the graph that still has variables and exits in it: a variable is a local of the same
name, a branch an `if`, a loop a `for` or `while`.  What lies between is done by the machine's
steps, in a frame that is the local `.r`:

    y = x + 1                  .do(4, .r)
    if y.sum() > 0:            y = .r[7]
        return y               .do(5, .r); .do(6, .r)
                               if .r[9]:
                                   return y

Tracing, monitoring, profilers and debuggers see the program's lines, since the line table says so.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType

from ...frontend.sources.source import Span
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ops.table.table import TABLE
from ...typecheck.definitions.functions import PythonFunction
from ...typecheck.types.types import NONE, Type
from ..code.assemble import CodeTables
from ..code.calls import Calls
from ..code.code import Code, Step
from ..code.instructions import opcode
from ..code.machine import Invoke, Machine
from ..code.steps import make_step
from ..values.outward import outward

__all__ = ["LinePlan", "make_line_plan"]

_RETURN = opcode("return")
_ENDLESS = 2**63 - 1


@dataclass(frozen=True, eq=False)
class LinePlan:
    """A function's lines: call `run` with the arguments."""

    run: FunctionType
    code: Code


def make_line_plan(
    graph: Graph, qualified_name: str, first: Span, file: str, invoke: Invoke, calls: Calls
) -> LinePlan:
    """The plan of a graph with variables, of a function whose head is at `first`, in a file.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
    """
    name = qualified_name.rpartition(".")[2]
    writer = _Writer(graph, first)
    writer.function(name)
    code = writer.code(name)
    machine = Machine(code, invoke, calls)
    space: dict[str, object] = {
        "__name__": "rushlight.lines",
        "__builtins__": vars(builtins),  # for what debuggers evaluate and import
        ".do": machine.do,
        ".empty": machine.empty,
        ".range": range,
        ".breakpoint": builtins.breakpoint,
    }
    space.update((f".c{i}", constant) for i, constant in enumerate(code.constants))
    space.update((f".show{i}", outward(type)) for i, type in enumerate(writer.shown))
    compiled = compile(writer.module(), file, "exec")
    # taken out of the module, so that nobody sees that run
    (lines,) = (each for each in compiled.co_consts if isinstance(each, CodeType))
    return LinePlan(FunctionType(lines.replace(co_qualname=qualified_name), space), code)


class _Writer(CodeTables):
    """The writing of one plan.

    The text that Python parses has names of ours alone; those of the program, and ours that begin
    with a dot, so that they are no names of a program, are put into the tree.
    """

    def __init__(self, graph: Graph, first: Span) -> None:
        lazy = TABLE.names_with("lazily")  # values are tensors, so nothing is copied for that
        super().__init__(TABLE, [node for node in graph.all_nodes if node.kind in lazy])
        self.graph = graph
        self.steps: list[Step] = []
        self.shown: list[Type] = []
        self._source, self._line = first.source, first.line
        self._lines: list[str] = []
        self._places: list[int] = []
        self._depth = 1
        self._names = {"R": ".r", "DO": ".do", "EMPTY": ".empty", "RANGE": ".range"}
        self._variables: dict[str, str] = {}
        self._registers: dict[Value, int] = {}
        self._objects: dict[str, int] = {}
        self._exits: list[list[Node]] = [[]]
        self._loops = [0]
        self._count = len(graph.inputs)
        self._warnings = self._count
        self._warned = 0
        self._count += 1

    # -- what it is made of

    def code(self, name: str) -> Code:
        """The steps in a row; nobody runs them in this order."""
        end = Step((_RETURN, self.constant(None, NONE)), self.graph.block.ret)
        return Code(
            name,
            [*self.steps, end],
            len(self.graph.inputs),
            self._count,
            tuple(self.constants),
            tuple(self.operators),
            tuple(self.types),
            tuple(self.names),
        )

    def module(self) -> ast.Module:
        """The tree of the text, with the program's lines and names."""
        module = ast.parse("\n".join(self._lines))
        names = self._names
        for node in ast.walk(module):
            if isinstance(node, ast.Name):
                node.id = names.get(node.id, node.id)
            elif isinstance(node, ast.arg):
                node.arg = names[node.arg]
            elif isinstance(node, ast.FunctionDef):
                node.name = names[node.name]
            if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
                line = self._places[node.lineno - 1]
                node.lineno = node.end_lineno = line
                node.col_offset = node.end_col_offset = 0
        return module

    def _add(self, text: str) -> None:
        self._lines.append(" " * self._depth + text)
        self._places.append(self._line)

    @contextmanager
    def _inside(self) -> Iterator[None]:
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before and self._lines[-1].endswith("else:"):
            self._lines.pop()
            self._places.pop()
        elif len(self._lines) == before:
            self._add("pass")
        self._depth -= 1

    # -- operands

    def warning(self, node: Node) -> tuple[int, ...]:
        """The register of a call's list of what has warned in it, and the number of a warning."""
        self._warned += 1
        return self._warnings, self.constant(self._warned, NONE)

    def _register(self, value: Value) -> int:
        if value not in self._registers:
            self._registers[value] = self._count
            self._count += 1
        return self._registers[value]

    def _operand(self, value: Value) -> int:
        """Where a value is read: its register, or its constant's number."""
        if value.node.is_constant:
            return self.constant(value.node.value, value.type)
        if value.node.kind == "prim::Uninitialized":
            return self.constant(None, NONE)
        return self._register(value)

    def _value(self, value: Value) -> str:
        """The text of a value."""
        number = self._operand(value)
        if number >= 0:
            return f"R[{number}]"
        self._names[f"C{-1 - number}"] = f".c{-1 - number}"
        return f"C{-1 - number}"

    def _variable(self, name: str) -> str:
        if name not in self._variables:
            self._variables[name] = placeholder = f"v{len(self._variables)}"
            self._names[placeholder] = name if name.isidentifier() else f".{name}"
        return self._variables[name]

    # -- statements

    def function(self, name: str) -> None:
        """Write the whole."""
        inputs = self.graph.inputs
        for number, value in enumerate(inputs):
            self._registers[value] = number
        self._names["F"] = name
        given = [f"a{i}" for i in range(len(inputs))]
        self._names.update((a, f".{a}") for a in given)
        stores = self._stores_of_arguments()
        for value, place in stores.items():
            given[inputs.index(value)] = self._variable(place)
        self._depth = 0
        self._add(f"def F({', '.join(given)}):")
        self._depth = 1
        nodes = list(self.graph.block.nodes)
        self._line = next((n.span.line for n in nodes if self._is_line(n)), self._line)
        self._add(f"R = EMPTY([{', '.join(given)}])")
        self._add(f"R[{self._warnings}] = []")
        self._block(self.graph.block)

    def _stores_of_arguments(self) -> dict[Value, str]:
        """The names that arguments have from the start."""
        found: dict[Value, str] = {}
        for node in self.graph.block.nodes:
            if node.kind == "prim::Store" and node.input in self.graph.inputs:
                found.setdefault(node.input, str(node.attributes["name"]))
        return found

    def _is_line(self, node: Node) -> bool:
        return node.kind == "prim::Line" and node.span.source is self._source

    def _block(self, block: Block) -> None:
        exits = {n.input: n for n in block.nodes if n.kind == "prim::Exit"}
        for node in block.nodes:
            if node.kind == "prim::Enter":
                self._exits[-1].append(exits[node.input])
            elif node.kind == "prim::Exit":
                self._exits[-1].pop()
            write = _WRITERS.get(node.kind, _Writer._plain)
            write(self, node)

    def _plain(self, node: Node) -> None:
        if node.is_constant or node.kind == "prim::Uninitialized":
            return
        inputs = tuple(map(self._operand, node.inputs))
        outputs = tuple(map(self._register, node.outputs))
        for instruction in make_step(self, node, outputs, inputs):
            self._add(f"DO({len(self.steps)}, R)")
            self.steps.append(Step(instruction, node))

    def _python(self, node: Node) -> None:
        called = node.attributes["function"]
        if isinstance(called, PythonFunction) and called.run is builtins.breakpoint:
            self._names["STOP"] = ".breakpoint"
            self._add("STOP()")  # here, so that the debugger stops in this frame
        else:
            self._plain(node)

    def _new_line(self, node: Node) -> None:
        if self._is_line(node):
            self._line = node.span.line
            self._add("pass")

    def _store(self, node: Node) -> None:
        name, value = str(node.attributes["name"]), node.input
        variable = self._variable(name)
        if not _is_module(value.type) and name not in self._objects:
            if value not in self.graph.inputs or value.node.kind != "prim::Param":
                self._add(f"{variable} = {self._value(value)}")
            return
        if name not in self._objects:  # the object itself, of which Python sees its handle
            self._objects[name] = self._count
            self._count += 1
        self._add(f"R[{self._objects[name]}] = {self._value(value)}")
        self._names[f"SHOW{len(self.shown)}"] = f".show{len(self.shown)}"
        self._add(f"{variable} = SHOW{len(self.shown)}({self._value(value)})")
        self.shown.append(value.type)

    def _load(self, node: Node) -> None:
        if not node.output.uses:
            return
        name = str(node.attributes["name"])
        kept = self._objects.get(name)
        source = self._variable(name) if kept is None else f"R[{kept}]"
        self._add(f"{self._value(node.output)} = {source}")

    # -- structure

    def _branch(self, node: Node) -> None:
        line, heads = self._line, (f"if {self._value(node.input)}:", "else:")
        for block, head in zip(node.blocks, heads, strict=True):
            self._line = line
            self._add(head)
            with self._inside():
                self._block(block)
                self._move(block.outputs, node.outputs)
        self._line = line

    def _move(self, values: Sequence[Value], goals: Sequence[Value]) -> None:
        if goals:
            to = ", ".join(map(self._value, goals))
            self._add(f"{to} = {', '.join(map(self._value, values[: len(goals)]))}")

    def _loop(self, node: Node) -> None:
        body, *rest = node.blocks
        line = self._line
        trips, index = node.inputs[0], body.inputs[0]
        carried, starts = list(node.outputs), list(node.inputs[2:])
        if not rest:  # of a function that was taken in: with values, and no variables
            self._move(starts, carried)
            self._add(f"{self._value(body.outputs[0])} = {self._value(node.inputs[1])}")
        is_endless = trips.node.is_constant and trips.node.value == _ENDLESS and not index.uses
        head = f"for {self._value(index)} in RANGE({self._value(trips)}):"
        self._add("while True:" if is_endless else head)
        self._exits.append([])
        with self._inside():
            for condition in rest:
                self._block(condition)
                self._leave_unless(condition.outputs[0])
            if not rest:
                self._leave_unless(body.outputs[0])
                self._move(carried, list(body.inputs[1:]))
            self._block(body)
            if not rest:
                self._move(list(body.outputs[1:]), carried)
            self._add("continue")  # from the last line, as Python goes back
        self._line = line
        self._exits.pop()

    def _leave_unless(self, condition: Value) -> None:
        if not (condition.node.is_constant and condition.node.value is True):
            self._add(f"if not {self._value(condition)}: break")

    def _scope(self, node: Node) -> None:
        self._block(node.blocks[0])

    # -- exits

    def _leave_contexts(self, levels: list[list[Node]]) -> None:
        for level in reversed(levels):
            for each in reversed(level):
                self._plain(each)

    def _return(self, node: Node) -> None:
        self._leave_contexts(self._exits)
        self._add(f"return {self._value(node.input)}")

    def _break(self, node: Node) -> None:
        self._leave_contexts(self._exits[-1:])
        self._add("break" if node.kind == "prim::BreakStmt" else "continue")


def _is_module(type: Type) -> bool:
    """Whether values are modules, which Python sees by their handles."""
    return type.inner.is_module


_WRITERS: dict[str, Callable[[_Writer, Node], None]] = {
    "prim::Line": _Writer._new_line,
    "prim::Store": _Writer._store,
    "prim::Load": _Writer._load,
    "prim::If": _Writer._branch,
    "prim::Loop": _Writer._loop,
    "prim::Scope": _Writer._scope,
    "prim::ReturnStmt": _Writer._return,
    "prim::BreakStmt": _Writer._break,
    "prim::ContinueStmt": _Writer._break,
    "prim::PythonOp": _Writer._python,
}

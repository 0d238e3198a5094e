"""The text of graphs.

graph(%x.1 : Tensor,
      %n.1 : int):
  %2 : int = prim::Constant[value=1]() # model.py:3:15
  %y.1 : Tensor = prim::If(%3) # model.py:3:4
    block0():
      -> (%x.1)
    block1():
      %5 : Tensor = aten::neg(%x.1) # model.py:6:8
      -> (%5)
  return (%y.1)
"""

from __future__ import annotations

from collections.abc import Sequence

from ...frontend.sources.source import UNKNOWN
from ...frontend.syntax.deep_stack import goes_deep
from ...frontend.syntax.literal_text import escape
from ...typecheck.types.types import Type
from ..graphs.graph import Block, Graph, Node, Value
from .text import constant_text, type_text

__all__ = ["print_graph", "print_node"]


@goes_deep
def print_graph(graph: Graph, *, comments: bool = True) -> str:
    """The text of a graph, ending with a line end; `comments` adds `# file:line:column`."""
    return _with_tasks(graph, comments)


def print_node(node: Node, *, comments: bool = True) -> str:
    """The text of one node, its blocks included."""
    printer = _Printer(comments)
    printer.node(node, 0)
    return "".join(printer.lines)


def _with_tasks(graph: Graph, comments: bool) -> str:
    """The text of a graph and, behind it, of each of its tasks with that one's own."""
    printer = _Printer(comments)
    text = printer.graph(graph)
    for number, (kind, task) in enumerate(printer.tasks):
        text += f"with {kind}_{number} = {_with_tasks(task, comments)}"
    return text


class _Printer:
    def __init__(self, comments: bool) -> None:
        self.comments = comments
        self.lines: list[str] = []
        self.tasks: list[tuple[str, Graph]] = []

    def graph(self, graph: Graph) -> str:
        inputs = ",\n      ".join(map(_declaration, graph.inputs))
        self.lines.append(f"graph({inputs}):\n")
        for node in graph.nodes:
            self.node(node, 1)
        self.lines.append(f"  return ({_names(graph.outputs)})\n")
        return "".join(self.lines)

    def node(self, node: Node, level: int) -> None:
        outputs = ", ".join(map(_declaration, node.outputs))
        head = f"{'  ' * level}{outputs} = {self.kind(node)}({_names(node.inputs)})"
        scope = f", scope: {node.scope}" if node.scope else ""
        self.lines.append(f"{head}{scope}{self.comment(node)}\n")
        for index, block in enumerate(node.blocks):
            self.block(block, index, level + 1)

    def block(self, block: Block, index: int, level: int) -> None:
        indent = "  " * level
        inputs = ", ".join(map(_declaration, block.inputs))
        self.lines.append(f"{indent}block{index}({inputs}):\n")
        for node in block.nodes:
            self.node(node, level + 1)
        self.lines.append(f"{indent}  -> ({_names(block.outputs)})\n")

    def kind(self, node: Node) -> str:
        if node.kind == "prim::PythonOp":
            return _python_kind(node)
        subgraph = node.attributes.get("Subgraph")
        if isinstance(subgraph, Graph):
            self.tasks.append((node.kind, subgraph))
            return f"{node.kind}_{len(self.tasks) - 1}"
        if not node.attributes:
            return node.kind
        parts = (f"{name}={_attribute(node, name)}" for name in node.attributes)
        return f"{node.kind}[{', '.join(parts)}]"

    def comment(self, node: Node) -> str:
        span = node.span.torch_original or node.span
        if not self.comments or node.span.filename is None:
            return ""
        if span is UNKNOWN:  # as torch says of what had no place when it was printed
            return " # :0:0"
        return f" # {span.filename}:{span.line}:{span.byte_column}"


def _python_kind(node: Node) -> str:
    """`^name[inplace=0, module="m"](3)`: the attributes that users know, and the scalars."""
    function = node.attributes["function"]
    known = (f"{name}={_attribute(node, name)}" for name in node.attributes if name != "function")
    scalars = ", ".join(map(str, getattr(function, "scalars", ())))
    return f"^{getattr(function, 'name', '')}[{', '.join(known)}]({scalars})"


def _declaration(value: Value) -> str:
    return f"%{value.debug_name} : {type_text(value.type)}"


def _names(values: Sequence[Value]) -> str:
    return ", ".join(f"%{value.debug_name}" for value in values)


def _attribute(node: Node, name: str) -> str:
    value = node.attributes[name]
    if isinstance(value, Graph):
        return "<Graph>"
    if name == "value" and node.is_constant:
        return constant_text(value, node.output.type)
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, list):
        return f"[{', '.join(type_text(v) if isinstance(v, Type) else str(v) for v in value)}]"
    return type_text(value) if isinstance(value, Type) else str(value)

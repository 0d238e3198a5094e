"""Register code as text: each instruction with its meaning and the source line it comes from."""

from __future__ import annotations

from ...frontend.diagnostics.paths import shown
from ...frontend.sources.source import UNKNOWN, Span
from ...ir.graphs.graph import Node
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ..code.code import Code
from ..code.instructions import meaning, row
from ..failures.describe import describe
from .invoking import code_of

__all__ = ["disassemble", "listing"]


def listing(function: Function) -> str:
    """The register code of a function, calls inlined.

    Raises:
        UnsupportedKind: the machine has no instruction for a node of the graph.
    """
    return disassemble(code_of(function))


def disassemble(code: Code) -> str:
    """The text of a code."""
    arguments = f"{code.argument_count} argument{'' if code.argument_count == 1 else 's'}"
    head = f"{code.name}: {arguments}, {code.register_count} registers"
    lines = [head]
    for number, constant in enumerate(code.constants):
        if not _is_plain(constant):
            lines.append(f"  C[{number}] = {describe(constant)}")
    written = [
        (f"{at:4}  {row(i).name:<11} {meaning(i, _Show(code, node))}", _place(node))
        for at, (i, node) in enumerate(zip(code.instructions, code.nodes, strict=True))
    ]
    width = min(max((len(text) for text, _ in written), default=0), 72)
    previous = ""
    for text, place in written:
        comment = f"  # {place}" if place and place != previous else ""
        lines.append((f"{text:<{width}}{comment}").rstrip())
        previous = place
    return "\n".join(lines) + "\n"


def _is_plain(constant: object) -> bool:
    return constant is None or isinstance(constant, bool | int | float | str)


class _Show:
    """How an instruction's operands are shown."""

    def __init__(self, code: Code, node: Node) -> None:
        self.code = code
        self.node = node

    def __call__(self, kind: str, operand: object) -> str:
        if operand is None:
            return ""
        assert isinstance(operand, int)
        match kind:
            case "R" | "V":
                return self._value(operand)
            case "O":
                return self.code.operators[operand].full_name
            case "T":
                return str(self.code.types[operand])
            case "F":
                return f"`{self.code.names[operand]}`"
            case "S":
                return self._slot(operand)
        return str(operand)

    def _value(self, number: int) -> str:
        if number >= 0:
            return f"R[{number}]"
        constant = self.code.constants[-1 - number]
        return repr(constant) if _is_plain(constant) else f"C[{-1 - number}]"

    def _slot(self, number: int) -> str:
        owner = self.node.inputs[0].type
        assert isinstance(owner, ClassType)
        return list(owner.attributes)[number]


def _place(node: Node) -> str:
    """`model.py:12 in encoder: x @ self.w`"""
    span = node.span
    if span is UNKNOWN:
        return ""
    text = _one_line(span)
    name = f" in {span.source.function}" if node.call_stack and span.source.function else ""
    return f"{shown(span.filename)}:{span.line}{name}  {text}"


def _one_line(span: Span) -> str:
    first, *rest = span.text.split("\n")
    return f"{first.strip()} ..." if rest else first

"""Byte code of the lite interpreter: what mobile archives hold instead of source text.

Instructions are triples (name, X, N) over a stack and registers that are numbered from 1.  At the
start the arguments lie on the stack, the object first.  `decode` makes graphs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...frontend.sources.source import Source
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Argument, Signature
from ...typecheck.types.types import Type

__all__ = ["INSTRUCTIONS", "MobileCode", "MobileOperator", "check_code", "listing"]

INSTRUCTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "OP": ("O", ""),
    "OPN": ("O", "N"),
    "LOAD": ("R", ""),
    "MOVE": ("R", ""),
    "STORE": ("R", ""),
    "STOREN": ("R", "R"),
    "DROP": ("", ""),
    "DROPR": ("R", ""),
    "LOADC": ("C", ""),
    "JF": ("P", ""),
    "JMP": ("P", ""),
    "LOOP": ("P", "N"),
    "RET": ("", ""),
    "GET_ATTR": ("N", ""),
    "SET_ATTR": ("N", ""),
    "LIST_CONSTRUCT": ("T", "N"),
    "DICT_CONSTRUCT": ("T", "N"),
    "TUPLE_CONSTRUCT": ("N", ""),
    "NAMED_TUPLE_CONSTRUCT": ("T", "N"),
    "LIST_UNPACK": ("N", ""),
    "TUPLE_INDEX": ("", ""),
    "TUPLE_SLICE": ("N", "N"),
    "ISINSTANCE": ("T", "T"),
    "RAISE_EXCEPTION": ("", ""),
    "DICT_INDEX": ("", ""),
    "DIM": ("", ""),
    "DTYPE": ("", ""),
    "DEVICE": ("", ""),
    "IS_CUDA": ("", ""),
    "__NOT__": ("", ""),
    "__IS__": ("", ""),
    "__ISNOT__": ("", ""),
    "NUM_TO_TENSOR": ("", ""),
    "TO_LIST": ("", ""),
    "FORMAT": ("N", ""),
    "UN_INITIALIZED": ("", ""),
    "UNCHECKED_CAST": ("", ""),
    "WARN": ("", ""),
    "INTERFACE_CALL": ("C", "N"),
}
"""The instructions and what their X and N are: O an operator, R a register, C a constant, P where
to jump to, counted from the instruction, T a type, N a count."""


@dataclass(frozen=True, slots=True)
class MobileOperator:
    """An operator of a code's table.

    `pushed` is how many arguments the code pushes; `left_out` are those whose defaults it leaves
    out, which come before `last` arguments that are written to.  Code before version 6 does not
    say how many it pushes: `uncounted` are the arguments that there are today.  `signature` is
    None for what is a node of a kind of its own in graphs.  `meaning` is called in place of an
    operator whose meaning has changed since the code was written.
    """

    full_name: str
    signature: Signature | None
    pushed: int
    left_out: tuple[Argument, ...] = ()
    last: int = 0
    uncounted: tuple[Argument, ...] = ()
    meaning: Function | None = None


@dataclass(eq=False, slots=True)
class MobileCode:
    """One function.  `arguments` are its declared ones, the object first, None if the archive does
    not say; `result` is the declared type of its result."""

    name: str
    instructions: tuple[tuple[str, int, int], ...]
    operators: tuple[MobileOperator, ...]
    constants: tuple[object, ...]
    types: tuple[Type, ...]
    register_size: int
    arguments: tuple[Argument, ...] | None = None
    result: Type | None = None

    @property
    def argument_count(self) -> int:
        """How many values lie on the stack at the start: all are stored first."""
        if self.arguments is not None:
            return len(self.arguments)
        name, _, n = self.instructions[0]
        return n if name == "STOREN" else 1


def check_code(code: MobileCode) -> str:
    """What is wrong with a code, if anything: every operand must lie within its table."""
    count = len(code.instructions)
    if not count or code.instructions[-1][0] not in ("RET", "JMP", "RAISE_EXCEPTION"):
        return "does not end"
    sizes = {"O": len(code.operators), "C": len(code.constants), "T": len(code.types)}
    for place, (name, x, n) in enumerate(code.instructions):
        kinds = INSTRUCTIONS.get(name)
        if kinds is None:
            return f"has the instruction `{name}`, which does not exist here"
        if kinds[0] in sizes and not 0 <= x < sizes[kinds[0]]:
            return f"refers to what is not there (`{name} {x}`)"
        if kinds[0] == "R" and not 1 <= x <= x + max(n - 1, 0) <= code.register_size:
            return f"uses registers it does not have (`{name} {x} {n}`)"
        if kinds[0] == "P" and not 0 <= place + x < count:
            return f"jumps out of itself (`{name} {x}`)"
        if (kinds[0] == "N" and x < 0) or (kinds[1] and n < 0):
            return f"has a negative count (`{name} {x} {n}`)"
        if kinds == ("T", "T") and x + n > sizes["T"]:
            return f"refers to types that are not there (`{name} {x} {n}`)"
    return ""


def listing(code: MobileCode) -> Source:
    """The instructions as a text, one a line: what messages show of a code."""
    lines = []
    for name, x, n in code.instructions:
        kinds = INSTRUCTIONS[name]
        first = code.operators[x].full_name if kinds[0] == "O" else str(x) if kinds[0] else ""
        lines.append(f"{name} {first} {n if kinds[1] else ''}".rstrip())
    return Source("\n".join(lines), "bytecode", 0, code.name)

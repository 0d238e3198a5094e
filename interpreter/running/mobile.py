"""The stack machine of the lite interpreter: what mobile archives hold instead of source text.

Instructions are triples (name, X, N) over a stack and registers that are numbered from 1.  At the
start the arguments lie on the stack, the object first.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ...ops.memory.allocation import note_output
from ...ops.memory.errors import OperatorError
from ...ops.table.table import TABLE, Operator
from ...typecheck.types import TENSOR, DictType, Type
from ..bounds.guard import CALLS, Guard
from ..values.actions import (
    ScriptRaise,
    is_instance,
    make_dict,
    make_tensor_dict,
    read_slot,
    write_slot,
)
from ..values.objects import ScriptObject

__all__ = ["INSTRUCTIONS", "MobileCode", "MobileOperator", "check_code", "execute_mobile"]

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

_AS_OPERATORS: Final = {
    "DIM": "aten::dim",
    "DTYPE": "prim::dtype",
    "DEVICE": "prim::device",
    "IS_CUDA": "prim::is_cuda",
    "NUM_TO_TENSOR": "prim::NumToTensor.Scalar",
}
"""Instructions that do what an operator of one argument does."""


@dataclass(frozen=True, slots=True)
class MobileOperator:
    """An operator of a code's table: its entry, how many arguments the code pushes, and the
    defaults it leaves out, which come before `last` arguments that are written to."""

    entry: Operator
    pushed: int
    defaults: tuple[object, ...] = ()
    last: int = 0
    run: Callable[..., Any] | None = None
    """What is called in place of the entry, for operators whose meaning has changed."""
    spread: bool = False
    """Whether the elements of the result are pushed, however many there are."""


@dataclass(eq=False, slots=True)
class MobileCode:
    """One function."""

    name: str
    instructions: tuple[tuple[str, int, int], ...]
    operators: tuple[MobileOperator, ...]
    constants: tuple[object, ...]
    types: tuple[Type, ...]
    register_size: int
    arguments: tuple[tuple[str, Type, object], ...] = ()
    result: Type | None = None


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


_STEPS_BETWEEN_CHECKS: Final = 64


class _Machine:
    """The running of one code."""

    def __init__(
        self,
        code: MobileCode,
        stack: list[Any],
        call: Callable[[str, Sequence[Any]], Any],
        guard: Guard | None,
        failed: Callable[[MobileCode, int], None] | None,
    ) -> None:
        self.failed = failed
        self.code = code
        self.stack = stack
        self.registers: list[Any] = [None] * (code.register_size + 1)
        self.call = call
        self.guard = guard
        self.at = 0

    def run(self) -> Any:
        """The result."""
        try:
            return self._run()
        except Exception:
            if self.failed is not None:
                self.failed(self.code, self.at)
            raise

    def _run(self) -> Any:
        code, stack, registers = self.code, self.stack, self.registers
        instructions, constants = code.instructions, code.constants
        check = None if self.guard is None else self.guard.count
        place = steps = 0
        if check is not None:  # calls count, however short they are
            check(_STEPS_BETWEEN_CHECKS)
        while True:
            name, x, n = instructions[place]
            place += 1
            steps += 1
            if check is not None and not steps % _STEPS_BETWEEN_CHECKS:
                check(_STEPS_BETWEEN_CHECKS)
            if name == "LOAD":
                stack.append(registers[x])
            elif name == "MOVE":
                stack.append(registers[x])
                registers[x] = None
            elif name == "STORE":
                registers[x] = stack.pop()
            elif name == "LOADC":
                value: Any = constants[x]
                stack.append(value.copy() if type(value) in (list, dict) else value)
            elif name == "OP":
                self.at = place - 1
                self.operator(code.operators[x], code.operators[x].pushed)
            elif name == "JF":
                if not stack.pop():
                    place += x - 1
            elif name == "JMP":
                place += x - 1
            elif name == "LOOP":
                place = self.loop(place, x, n)
            elif name == "RET":
                return stack.pop()
            else:
                self.at = place - 1
                _ACTIONS[name](self, x, n)

    def take(self, count: int) -> list[Any]:
        """The topmost values, removed."""
        if count == 0:
            return []
        taken = self.stack[-count:]
        if len(taken) < count:
            raise IndexError("pop from empty list")
        del self.stack[-count:]
        return taken

    def operator(self, operator: MobileOperator, count: int) -> None:
        values = self.take(count)
        if operator.defaults:
            cut = len(values) - operator.last
            defaults = [v.copy() if isinstance(v, list) else v for v in operator.defaults]
            values = [*values[:cut], *defaults, *values[cut:]]
        forward = operator.run or operator.entry.forward
        if self.guard is not None:
            forward = self.guard.forward(operator.entry, forward)
        with np.errstate(all="ignore"):
            result: Any = forward(*values)
        returns = operator.entry.signature.returns
        if len(returns) == 1 and not operator.spread:
            self.stack.append(result)
        elif returns:
            self.stack.extend(result)

    def loop(self, place: int, x: int, n: int) -> int:
        """Where the next instruction is: in the body, or behind the loop."""
        stack = self.stack
        start = len(stack) - n - 1
        if start < 0:
            raise IndexError("pop from empty list")
        if stack[start] < stack[start + 1] and stack[start + 2]:
            stack[start + 2] = stack[start]
            stack[start] += 1
            return place
        del stack[start : start + 3]
        return place + x - 1

    # -- the rarer instructions

    def many(self, x: int, n: int) -> None:
        self.operator(self.code.operators[x], n)

    def store_many(self, x: int, n: int) -> None:
        self.registers[x : x + n] = self.take(n)

    def drop(self, x: int, n: int) -> None:
        self.stack.pop()

    def drop_register(self, x: int, n: int) -> None:
        self.registers[x] = None

    def get(self, x: int, n: int) -> None:
        owner = self._object(self.stack.pop())
        if x >= len(owner.slots):
            raise OperatorError(f"object has no attribute {x}")
        self.stack.append(read_slot(owner.slots[x]))

    def set(self, x: int, n: int) -> None:
        owner, value = self.take(2)
        slots = self._object(owner).slots
        if x >= 1 << 20:
            raise OperatorError(f"object has no attribute {x}")
        slots.extend([None] * (x + 1 - len(slots)))
        slots[x] = write_slot(value)

    @staticmethod
    def _object(value: Any) -> ScriptObject:
        if not isinstance(value, ScriptObject):
            raise OperatorError("Expected an object")
        return value

    def make_list(self, x: int, n: int) -> None:
        self.stack.append(self.take(n))

    def make_dict(self, x: int, n: int) -> None:
        type = self.code.types[x]
        of_tensors = isinstance(type, DictType) and type.key == TENSOR
        make = make_tensor_dict if of_tensors else make_dict
        self.stack.append(make(self.take(n)))

    def make_tuple(self, x: int, n: int) -> None:
        self.stack.append(tuple(self.take(x)))

    def make_named(self, x: int, n: int) -> None:
        self.stack.append(tuple(self.take(n)))

    def unpack(self, x: int, n: int) -> None:
        values = self.stack.pop()
        if len(values) != x:
            raise OperatorError(f"Expected {x} elements in a list but found {len(values)}")
        self.stack.extend(values)

    def index(self, x: int, n: int) -> None:
        values, place = self.take(2)
        if not -len(values) <= place < len(values):
            raise IndexError("Tuple list index out of range")
        self.stack.append(values[place])

    def slice(self, x: int, n: int) -> None:
        self.stack.append(self.stack.pop()[x : x + n])

    def is_instance(self, x: int, n: int) -> None:
        self.stack.append(is_instance(self.stack.pop(), self.code.types[x : x + n]))

    def raising(self, x: int, n: int) -> None:
        message, name = self.take(2)
        raise ScriptRaise(message, name)

    def dict_index(self, x: int, n: int) -> None:
        values, key = self.take(2)
        if key not in values:
            raise KeyError(key)
        self.stack.append(values[key])

    def negate(self, x: int, n: int) -> None:
        self.stack.append(not self.stack.pop())

    def same(self, x: int, n: int) -> None:
        a, b = self.take(2)
        self.stack.append(a is b)

    def other(self, x: int, n: int) -> None:
        a, b = self.take(2)
        self.stack.append(a is not b)

    def nothing(self, x: int, n: int) -> None:
        self.stack.append(None)

    def cast(self, x: int, n: int) -> None:
        """The type is known better, the value is the same."""

    def to_list(self, x: int, n: int) -> None:
        _apply(self, "prim::tolist", 3)

    def warn(self, x: int, n: int) -> None:
        message, _ = self.take(2)
        note_output(len(message))
        warnings.warn(message, UserWarning, stacklevel=2)

    def interface(self, x: int, n: int) -> None:
        self.stack.append(self.call(str(self.code.constants[x]), self.take(n)))


def _apply(machine: _Machine, name: str, count: int) -> None:
    entry = TABLE.operator(name)
    assert entry is not None, name
    forward = entry.forward
    if machine.guard is not None:
        forward = machine.guard.forward(entry, forward)
    machine.stack.append(forward(*machine.take(count)))


def _by_operator(name: str) -> Callable[[_Machine, int, int], None]:
    def action(machine: _Machine, x: int, n: int) -> None:
        _apply(machine, name, 1)

    return action


_ACTIONS: Final[Mapping[str, Callable[[_Machine, int, int], None]]] = {
    "OPN": _Machine.many,
    "STOREN": _Machine.store_many,
    "DROP": _Machine.drop,
    "DROPR": _Machine.drop_register,
    "GET_ATTR": _Machine.get,
    "SET_ATTR": _Machine.set,
    "LIST_CONSTRUCT": _Machine.make_list,
    "DICT_CONSTRUCT": _Machine.make_dict,
    "TUPLE_CONSTRUCT": _Machine.make_tuple,
    "NAMED_TUPLE_CONSTRUCT": _Machine.make_named,
    "LIST_UNPACK": _Machine.unpack,
    "TUPLE_INDEX": _Machine.index,
    "TUPLE_SLICE": _Machine.slice,
    "ISINSTANCE": _Machine.is_instance,
    "RAISE_EXCEPTION": _Machine.raising,
    "DICT_INDEX": _Machine.dict_index,
    "__NOT__": _Machine.negate,
    "__IS__": _Machine.same,
    "__ISNOT__": _Machine.other,
    "UN_INITIALIZED": _Machine.nothing,
    "UNCHECKED_CAST": _Machine.cast,
    "TO_LIST": _Machine.to_list,
    "FORMAT": lambda machine, x, n: _apply(machine, "aten::format", x),
    "WARN": _Machine.warn,
    "INTERFACE_CALL": _Machine.interface,
    **{name: _by_operator(operator) for name, operator in _AS_OPERATORS.items()},
}


def execute_mobile(
    code: MobileCode,
    arguments: Sequence[Any],
    call: Callable[[str, Sequence[Any]], Any],
    guard: Guard | None = None,
    failed: Callable[[MobileCode, int], None] | None = None,
) -> Any:
    """The result of a code on machine values, within the bounds of a guard if there is one.

    `call` runs the method of that name of the first value; `failed` is told which instruction
    raised.
    """
    with nullcontext() if guard is None else guard.entered(CALLS):
        return _Machine(code, list(arguments), call, guard, failed).run()

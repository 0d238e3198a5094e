"""The machine: a loop over register code, over bare arrays and Python scalars.

This is the reference: a plan gives the same results faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from ...ops.table.grad_mode import RUNNING
from ...ops.table.table import Operator
from ..bounds.guard import Guard
from ..values.actions import (
    check_list,
    create,
    enum_value,
    is_instance,
    make_dict,
    make_tensor_dict,
    raise_exception,
    read_slot,
    wrap,
    write_slot,
)
from .code import Code
from .instructions import ROWS, Instruction, opcode, row

__all__ = ["Invoke", "MachineFailure", "execute"]

Invoke = Callable[[Any, Sequence[Any]], Any]
"""Runs a function (or, given a name, the method of the first argument) on machine values."""

_LOW, _HIGH = -(2**63), 2**63 - 1


class MachineFailure(Exception):
    """Something raised `cause` at `index`; `frame` is what the registers held."""

    def __init__(self, cause: Exception, index: int, frame: list[Any]) -> None:
        super().__init__(cause)
        self.cause = cause
        self.index = index
        self.frame = frame


def execute(
    code: Code, arguments: Sequence[Any], invoke: Invoke, guard: Guard | None = None
) -> Any:
    """The result of a code on machine values, within the bounds of a guard if there is one.

    Raises:
        MachineFailure: an instruction failed.
    """
    record = RUNNING.record
    if record is not None:
        linked = code.linked_recording
        if linked is None:
            linked = code.linked_recording = _Linked(code, record.recorder, guard)
    else:
        linked = code.linked
        if linked is None:
            linked = code.linked = _Linked(code, _forward, guard)
    assert isinstance(linked, _Linked)
    return _run(linked.start, [*arguments, *linked.rest], invoke)


def _forward(entry: Operator) -> Callable[..., Any]:
    return entry.forward


class _Linked:
    """A code made ready to run.

    Operators, types and names stand in place of their numbers, constants are registers behind the
    others, and where code can be jumped to a new list of instructions begins; the operand of a jump
    is the list it leads to.
    """

    def __init__(
        self,
        code: Code,
        forward: Callable[[Operator], Callable[..., Any]],
        guard: Guard | None = None,
    ) -> None:
        self._forward = forward
        self._guard = guard
        empty = [None] * (code.register_count - code.argument_count)
        self.rest: list[Any] = [*empty, *code.constants, None]
        self.code = code
        self.lists: dict[int, list[Linked]] = {0: []}
        for instruction in code.instructions:
            if "P" in row(instruction).kinds:
                target = instruction[-1]
                assert isinstance(target, int)
                self.lists[target] = []
        self._fill()
        self.start = self.lists[0]

    def _fill(self) -> None:
        current = self.start = self.lists[0]
        for beginning in self.lists.values():
            self._count(beginning)
        for at, instruction in enumerate(self.code.instructions):
            begun = self.lists.get(at)
            if begun is not None and begun is not current:
                current.append((_JUMP, begun, None, None, None, None, at))
                current = begun
            current.append(self._link(instruction, at))

    def _count(self, begun: list[Linked]) -> None:
        """Let the guard count where code can be jumped to: no loop gets around that."""
        if self._guard is not None:
            last = self.code.register_count + len(self.code.constants)
            begun.append((_CALL, last, self._guard.count, _reader([]), None, None, 0))

    def _link(self, instruction: Instruction, at: int) -> Linked:
        kinds = row(instruction).kinds
        operands = zip(kinds, instruction[1:], strict=True)
        linked = [self._resolve(kind, operand) for kind, operand in operands]
        one, two, three, four, five = linked + [None] * (5 - len(linked))
        return (instruction[0], one, two, three, four, five, at)

    def _place(self, number: int) -> int:
        return number if number >= 0 else self.code.register_count - 1 - number

    def _resolve(self, kind: str, operand: Any) -> Any:
        match kind:
            case "V":
                return self._place(operand)
            case "V*":
                return _reader([self._place(number) for number in operand])
            case "O":
                entry = self.code.operators[operand]
                forward = self._forward(entry)
                return forward if self._guard is None else self._guard.forward(entry, forward)
            case "P":
                return self.lists[operand]
            case "T":
                return self.code.types[operand]
            case "T*":
                return [self.code.types[number] for number in operand]
            case "F":
                return self.code.names[operand]
        return operand


Linked = tuple[Any, Any, Any, Any, Any, Any, int]
"""An instruction: opcode, up to five operands, and its place in the code."""


def _reader(places: list[int]) -> Callable[[list[Any]], tuple[Any, ...]]:
    """A function that reads these places of a frame."""
    if len(places) > 1:
        return itemgetter(*places)
    if places:
        (place,) = places
        return lambda frame: (frame[place],)
    return lambda frame: ()


(_MOVE, _FREE, _CALL1, _CALL2, _CALL3, _CALL) = map(
    opcode, ("move", "free", "call1", "call2", "call3", "call")
)
(_ADD_INT, _SUB_INT, _MUL_INT, _ADD, _SUB, _MUL) = map(
    opcode, ("add_int", "sub_int", "mul_int", "add", "sub", "mul")
)
(_EQ, _NE, _LT, _LE, _GT, _GE) = map(opcode, ("eq", "ne", "lt", "le", "gt", "ge"))
(_NOT, _AND, _OR, _IS, _IS_NOT, _LENGTH, _APPEND) = map(
    opcode, ("not", "and", "or", "is", "is_not", "length", "append")
)
(_JUMP, _BRANCH, _BRANCH_IF, _RANGE, _NEXT, _RETURN) = map(
    opcode, ("jump", "branch", "branch_if", "range", "next", "return")
)
(_LIST, _GET_SLOT, _GET_TENSOR) = map(opcode, ("list", "get_slot", "get_tensor"))


def _run(code: list[Linked], r: list[Any], invoke: Invoke) -> Any:
    """The loop: `r` is the frame, `code` the instructions from the last jump on."""
    at = 0
    try:
        while True:
            for op, a, b, c, d, e, at in code:  # noqa: B007
                if op == _CALL2:
                    r[a] = b(r[c], r[d])
                elif op == _CALL3:
                    r[a] = b(r[c], r[d], r[e])
                elif op == _GET_TENSOR:
                    r[a] = r[b].slots[c]._array
                elif op == _CALL1:
                    r[a] = b(r[c])
                elif op == _BRANCH:
                    if not r[a]:
                        code = b
                        break
                elif op == _BRANCH_IF:
                    if r[a]:
                        code = b
                        break
                elif op == _MOVE:
                    r[a] = r[b]
                elif op <= _MUL_INT:
                    if op == _ADD_INT:
                        number = r[b] + r[c]
                    elif op == _SUB_INT:
                        number = r[b] - r[c]
                    else:
                        number = r[b] * r[c]
                    r[a] = number if _LOW <= number <= _HIGH else wrap(number)
                elif op <= _LENGTH:
                    r[a] = _scalar(op, r[b], r[c] if c is not None else None)
                elif op == _JUMP:
                    code = a
                    break
                elif op == _FREE:
                    for register in a:
                        r[register] = None
                elif op == _NEXT:
                    number = next(r[b], None)
                    if number is None:
                        code = c
                        break
                    r[a] = number
                elif op == _CALL:
                    r[a] = b(*c(r))
                elif op == _LIST:
                    r[a] = list(b(r))
                elif op == _APPEND:
                    r[a].append(r[b])
                elif op == _RETURN:
                    return r[a]
                else:
                    _rarely(op, a, b, c, d, r, invoke)
    except Exception as cause:
        raise MachineFailure(cause, at, r) from None


def _scalar(op: int, left: Any, right: Any) -> Any:
    """The instructions over scalars that need no wrapping."""
    if op <= _MUL:
        return left + right if op == _ADD else left - right if op == _SUB else left * right
    if op <= _LT:
        return left == right if op == _EQ else left != right if op == _NE else left < right
    if op <= _GE:
        return left <= right if op == _LE else left > right if op == _GT else left >= right
    if op <= _OR:
        return not left if op == _NOT else left & right if op == _AND else left | right
    if op <= _IS_NOT:
        return left is right if op == _IS else left is not right
    return len(left)


def _store(r: list[Any], registers: Sequence[int], results: Any) -> None:
    """Several results into their registers; an operator without any gives None."""
    if registers:
        for register, result in zip(registers, results, strict=True):
            r[register] = result


def _rarely(op: int, a: Any, b: Any, c: Any, d: Any, r: list[Any], invoke: Invoke) -> None:
    """The instructions that are seldom in a hurry."""
    match ROWS[op].name:
        case "call_many":
            _store(r, a, b(*c(r)))
        case "range":
            r[a] = iter(range(r[b]))
        case "tuple":
            r[a] = b(r)
        case "dict":
            r[a] = make_dict(b(r))
        case "tensor_dict":
            r[a] = make_tensor_dict(b(r))
        case "unpack":
            _store(r, a, r[b])
        case "unpack_list":
            _store(r, a, check_list(r[b], c))
        case "item":
            r[a] = r[b][c]
        case "slice":
            r[a] = r[b][c:d]
        case "get_slot":
            r[a] = read_slot(r[b].slots[c])
        case "set_slot" | "set_tensor":
            r[a].slots[b] = write_slot(r[c])
        case "create":
            r[a] = create(b)
        case "method":
            r[a] = invoke(b, c(r))
        case "function":
            r[a] = invoke(b.function, c(r))
        case "is_instance":
            r[a] = is_instance(r[b], c)
        case "enum_name":
            r[a] = r[b].name
        case "enum_value":
            r[a] = enum_value(r[b])
        case "raise":
            raise_exception(r[a], r[b])
        case name:
            raise AssertionError(f"no action for `{name}`")

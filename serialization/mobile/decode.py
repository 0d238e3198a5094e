"""Byte code -> a graph: structured control flow, registers and stack places as values.

    LOAD 1                      block0():
    JF 4                          %3 = prim::If(%1)
    LOADC 0              ->         block0(): -> (%c0)
    JMP 2                           block1(): -> (%2)
    LOAD 2                        -> (%3)
    RET

The lite interpreter's code is written from structured graphs, so an `If` is `JF`, its first branch,
`JMP`, its second branch, and a `Loop` is `LOOP`, its body, `JMP` back.  What else jumps is refused.
The stack is simulated: what a branch leaves on it are its results, and so are registers that both
branches have set.  No value has a type yet (but for constants): `types` finds them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ...frontend.limits.clock import ARMED, checkpoint
from ...frontend.sources.source import Span
from ...interpreter.values.objects import ScriptObject
from ...ir.graphs.constants import constant_value, create_constant, type_of
from ...ir.graphs.graph import Block, Graph, Node, Value
from ...ops.table.table import TABLE
from ...typecheck.definitions.class_types import FunctionType
from ...typecheck.definitions.functions import Function
from ...typecheck.definitions.schema import Signature
from ...typecheck.types.types import BOOL, INT, NONE, UNKNOWN, Type
from ..pickles.value_types import machine_type
from .arguments import counted
from .code import MobileCode, MobileOperator, listing

__all__ = ["NODES", "Undecodable", "decode"]

NODES: Final = {
    "prim::unchecked_cast": 1,
    "prim::TupleIndex": 2,
    "prim::Uninitialized": 0,
    "prim::RaiseException": 2,
    "prim::TupleUnpack": 1,
    "prim::EnumName": 1,
    "prim::EnumValue": 1,
}
"""Operators that are nodes of a kind of their own in graphs, and how many inputs they have."""

_AS_OPERATORS: Final = {
    "DIM": ("aten::dim", 1),
    "DTYPE": ("prim::dtype", 1),
    "DEVICE": ("prim::device", 1),
    "IS_CUDA": ("prim::is_cuda", 1),
    "NUM_TO_TENSOR": ("prim::NumToTensor.Scalar", 1),
    "__NOT__": ("aten::__not__", 1),
    "__IS__": ("aten::__is__", 2),
    "__ISNOT__": ("aten::__isnot__", 2),
    "TO_LIST": ("prim::tolist", 3),
    "DICT_INDEX": ("aten::__getitem__.Dict_str", 2),
    "WARN": ("aten::warn", 2),
}
"""Instructions that do what an operator does, and how many arguments it has."""

_MOST_VALUES: Final = 1 << 20
"""How many values instructions may hand on over ends of branches and loops."""

_MAKING: Final = 16
"""How many of them one counts for that is made."""


class Undecodable(Exception):
    """What is wrong with the instruction at `place`."""

    def __init__(self, why: str, place: int) -> None:
        super().__init__(why)
        self.place = place


@dataclass(eq=False, slots=True)
class _Frame:
    """A block that is being decoded: it ends before the instruction `end`.

    `log` is what registers held before the block set them.  A first branch knows where the second
    one ends, `over`; a second one what the first left behind; a loop's body the registers that it
    carries.
    """

    block: Block
    end: int
    stack: list[Value] = field(default_factory=list)
    log: dict[int, Value | None] = field(default_factory=dict)
    over: int = -1
    first: tuple[dict[int, Value | None], list[Value]] | None = None
    carried: list[int] = field(default_factory=list)


def decode(code: MobileCode, count: int) -> Graph:
    """The graph of a code that `check_code` has passed, with `count` arguments.

    Raises:
        Undecodable: the code has no structure, or takes what is not there.
    """
    return _Decoder(code, count).graph


class _Decoder:
    def __init__(self, code: MobileCode, count: int) -> None:
        self.code = code
        self.source = listing(code)
        self.graph = Graph()
        self.at = 0
        self.values = 0
        self.registers: dict[int, Value] = {}
        self.constants: dict[int, Value] = {}
        top = _Frame(self.graph.block, len(code.instructions))
        top.stack += [self.graph.add_input(UNKNOWN) for _ in range(count)]
        self.declared = dict(zip(top.stack, (a.type for a in code.arguments or ()), strict=False))
        self.frames = [top]
        for name, x, _ in code.instructions:
            if name == "LOADC" and x not in self.constants:
                value = code.constants[x]
                type = value.cls if isinstance(value, ScriptObject) else machine_type(value)
                self.constants[x] = self.constant(value, type)
        self.run()

    def run(self) -> None:
        while self.at < len(self.code.instructions) or len(self.frames) > 1:
            if ARMED:
                checkpoint()
            frame = self.frames[-1]
            if self.at == frame.end:
                self.at = self.close(frame)
                continue
            name, x, n = self.code.instructions[self.at]
            self.at = _CONTROL[name](self, x, n) if name in _CONTROL else self.plain(name, x, n)
        if not self.graph.block.outputs:
            if self.code.instructions[-1][0] != "RAISE_EXCEPTION":
                raise self.fault("the code ends without a result")
            self.graph.block.add_output(self.constant(None, NONE))

    def fault(self, why: str) -> Undecodable:
        return Undecodable(why, min(self.at, len(self.code.instructions) - 1))

    # -- stack and registers

    @property
    def stack(self) -> list[Value]:
        return self.frames[-1].stack

    def take(self, count: int) -> list[Value]:
        """The topmost values, removed; those below a block's beginning are not its own."""
        stack = self.stack
        if count > len(stack):
            raise self.fault("it takes values from the stack that are not there")
        start = len(stack) - count
        taken = stack[start:]
        del stack[start:]
        return taken

    def read(self, register: int) -> Value:
        value = self.registers.get(register)
        if value is None:
            raise self.fault(f"it reads register {register}, which holds nothing")
        return value

    def write(self, register: int, value: Value | None) -> None:
        self.frames[-1].log.setdefault(register, self.registers.get(register))
        self.hold(register, value)

    def hold(self, register: int, value: Value | None) -> None:
        if value is None:
            self.registers.pop(register, None)
        else:
            self.registers[register] = value

    def count(self, values: int) -> None:
        """Note that so many values are looked at besides those of instructions."""
        self.values += values
        if self.values > _MOST_VALUES:
            raise self.fault(f"more than {_MOST_VALUES} values are made or handed on")

    # -- nodes

    def emit(
        self,
        kind: str,
        inputs: Sequence[Value],
        outputs: int = 1,
        signature: Signature | None = None,
    ) -> Node:
        lines = self.source.line_starts
        start = lines[self.at]
        end = lines[self.at + 1] - 1 if self.at + 1 < len(lines) else len(self.source.text)
        span = Span(self.source, start, end)
        node = self.graph.create(kind, inputs, (UNKNOWN,) * outputs, span, signature)
        return self.frames[-1].block.append(node)

    def push(self, kind: str, count: int, outputs: int = 1) -> Node:
        """A node that takes values from the stack and leaves its results there."""
        node = self.emit(kind, self.take(count), outputs)
        self.stack.extend(node.outputs)
        return node

    def constant(self, value: object, type: Type) -> Value:
        """A constant, where the code is."""
        return self.frames[-1].block.append(create_constant(self.graph, value, type)).output

    def plain(self, name: str, x: int, n: int) -> int:
        """Do an instruction that does not jump; where the next one is."""
        if name in _AS_OPERATORS:
            full_name, count = _AS_OPERATORS[name]
            self.operator(full_name, self.take(count))
        else:
            _ACTIONS[name](self, x, n)
        return self.at + 1

    def operator(self, full_name: str, values: list[Value]) -> None:
        entry = TABLE.operator(full_name)
        assert entry is not None, full_name
        self.call(entry.signature, values)

    def call(self, signature: Signature, values: list[Value]) -> None:
        few, wanted = len(values) < len(signature.arguments), len(signature.arguments)
        if few or (len(values) > wanted and not signature.vararg):
            raise self.fault(f"`{signature.full_name}` is called with {len(values)} arguments")
        returns = len(signature.returns)
        self.stack.extend(self.emit(signature.name, values, returns, signature).outputs)

    # -- control

    def branch(self, x: int, n: int) -> int:
        """`JF`: the first branch begins; where a `JMP` ends it, the second one follows."""
        start, end = self.at + 1, self.frames[-1].end
        target = over = self.at + x
        name, y, _ = self.code.instructions[target - 1] if x > 1 else ("", 0, 0)
        if name == "JMP" and y > 0:
            over = target - 1 + y
        if not start <= target <= over <= end:
            raise self.fault("it jumps out of the branch or loop that it is in")
        node = self.emit("prim::If", self.take(1), 0)
        first = target - 1 if name == "JMP" and y > 0 else target
        self.frames.append(_Frame(node.add_block(), first, over=over))
        return start

    def loop(self, x: int, n: int) -> int:
        """`LOOP`: the body begins; `JMP` back ends it."""
        back = self.at + x - 1
        if back <= self.at or back >= self.frames[-1].end or n < 2:
            raise self.fault("the loop has no end where it jumps to")
        if self.code.instructions[back][:2] != ("JMP", self.at - back):
            raise self.fault("the loop's end does not lead back to it")
        start, limit, condition, *carried = self.take(n + 1)
        zero = constant_value(start)
        if zero.__class__ is not int or zero != 0:
            raise self.fault("the loop does not begin at 0")
        held = self.held_over(self.at + 1, back)
        inputs = [limit, condition, *carried, *(self.registers[r] for r in held)]
        node = self.emit("prim::Loop", inputs, 0)
        body = _Frame(node.add_block(), back, carried=held)
        self.frames.append(body)
        body.stack.append(body.block.add_input(INT))
        body.stack.extend(body.block.add_input(UNKNOWN) for _ in carried)
        for register in held:
            self.write(register, body.block.add_input(UNKNOWN))
        return self.at + 1

    def held_over(self, start: int, end: int) -> list[int]:
        """The registers that a loop's body finds set and sets anew; those that it only empties
        hold nothing from then on."""
        self.count(end - start)
        changed: dict[int, bool] = {}
        for name, x, n in self.code.instructions[start:end]:
            if name in ("STORE", "STOREN"):
                self.count(n)
                changed |= dict.fromkeys(range(x, x + (1 if name == "STORE" else n)), True)
            elif name in ("MOVE", "DROPR"):
                changed.setdefault(x, False)
        known = [register for register in changed if register in self.registers]
        for register in known:
            if not changed[register]:
                self.write(register, None)
        return sorted(register for register in known if changed[register])

    def jump(self, x: int, n: int) -> int:
        if x == 1:
            return self.at + 1
        raise self.fault("it jumps where no branch or loop ends")

    def result(self, x: int, n: int) -> int:
        if self.at + 1 != len(self.code.instructions) or len(self.frames) > 1:
            raise self.fault("it returns from the middle of the code")
        self.graph.block.add_output(*self.take(1))
        return self.at + 1

    def close(self, frame: _Frame) -> int:
        """End a block; where the next instruction is."""
        self.frames.pop()
        after = {register: self.registers.get(register) for register in frame.log}
        for register, value in frame.log.items():
            self.hold(register, value)
        node = frame.block.node
        assert node is not None
        if node.kind == "prim::Loop":
            return self.close_loop(frame, node, after)
        if frame.first is None:
            second = _Frame(node.add_block(), frame.over, first=(after, frame.stack))
            self.frames.append(second)
            return self.at + 1 if self.at < frame.over else self.at
        self.join(node, frame, after)
        return self.at

    def join(self, node: Node, frame: _Frame, after: dict[int, Value | None]) -> None:
        """After both branches: what they leave on the stack and in registers."""
        assert frame.first is not None
        first, stack = frame.first
        stacks = stack, frame.stack
        if len(stack) != len(frame.stack):
            stacks = self.evened(node, *stacks)
        self.count(len(first) + len(after))
        self.stack.extend(self.merged(node, *pair) for pair in zip(*stacks, strict=True))
        for register in sorted(first.keys() | after.keys()):
            before = self.registers.get(register)
            one, other = first.get(register, before), after.get(register, before)
            if one is not None and other is not None:
                self.write(register, self.merged(node, one, other))
            elif before is not None:
                self.write(register, None)

    def evened(
        self, node: Node, one: list[Value], other: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        """What branches leave on the stack, of which one ends by an error: nothing takes what that
        one leaves."""
        raising = [block.ret.previous.kind == "prim::RaiseException" for block in node.blocks]
        if raising == [True, False]:
            return self.unset(node.blocks[0], len(other)), other
        if raising == [False, True]:
            return one, self.unset(node.blocks[1], len(one))
        raise self.fault("two branches leave different numbers of values on the stack")

    def unset(self, block: Block, count: int) -> list[Value]:
        """Values at the end of a block that are never looked at."""
        made = (self.graph.create("prim::Uninitialized", (), (UNKNOWN,)) for _ in range(count))
        return [block.append(node).output for node in made]

    @staticmethod
    def merged(node: Node, one: Value, other: Value) -> Value:
        if one is other:
            return one
        node.blocks[0].add_output(one)
        node.blocks[1].add_output(other)
        return node.add_output(UNKNOWN)

    def close_loop(self, frame: _Frame, node: Node, after: dict[int, Value | None]) -> int:
        places = len(node.inputs) - 1 - len(frame.carried)
        if len(frame.stack) != places:
            raise self.fault("the loop's body leaves another number of values on the stack")
        for value in frame.stack:
            frame.block.add_output(value)
        for register in frame.carried:
            held = after[register]
            if held is None:  # emptied after its last use: set anew before the next one
                (held,) = self.unset(frame.block, 1)
            frame.block.add_output(held)
        outputs = [node.add_output(UNKNOWN) for _ in node.inputs[2:]]
        self.stack.extend(outputs[: places - 1])
        for register, value in zip(frame.carried, outputs[places - 1 :], strict=True):
            self.write(register, None if after[register] is None else value)
        return self.at + 1

    # -- plain instructions

    def load(self, x: int, n: int) -> None:
        self.stack.append(self.read(x))

    def move(self, x: int, n: int) -> None:
        self.stack.append(self.read(x))
        self.write(x, None)

    def store(self, x: int, n: int) -> None:
        self.write(x, *self.take(1))

    def store_many(self, x: int, n: int) -> None:
        for register, value in enumerate(self.take(n), x):
            self.write(register, value)

    def drop(self, x: int, n: int) -> None:
        self.take(1)

    def drop_register(self, x: int, n: int) -> None:
        self.write(x, None)

    def load_constant(self, x: int, n: int) -> None:
        self.stack.append(self.constants[x])

    def call_operator(self, x: int, n: int) -> None:
        operator = self.code.operators[x]
        if operator.uncounted:
            count = counted(operator.uncounted, self.stack, self.declared)
            operator = replace(operator, pushed=count, left_out=operator.uncounted[count:])
        self.apply(operator, self.take(operator.pushed))

    def call_with(self, x: int, n: int) -> None:
        self.apply(self.code.operators[x], self.take(n))

    def apply(self, operator: MobileOperator, values: list[Value]) -> None:
        cut = len(values) - operator.last
        left_out = operator.left_out
        defaults = [self.constant(a.default, type_of(a.default, a.type)) for a in left_out]
        values = [*values[:cut], *defaults, *values[cut:]]
        if operator.meaning is not None:
            self.call_meaning(operator.meaning, values)
        elif operator.signature is not None:
            self.call(operator.signature, values)
        else:
            self.node(operator.full_name, values)

    def call_meaning(self, meaning: Function, values: list[Value]) -> None:
        if len(values) != len(meaning.signature.arguments):
            raise self.fault(f"`{meaning.name}` is called with {len(values)} arguments")
        called = self.constant(meaning, FunctionType(meaning))
        self.stack.append(self.emit("prim::CallFunction", [called, *values]).output)

    def node(self, kind: str, values: list[Value]) -> None:
        """What is no operator in graphs."""
        if kind == "prim::RaiseException" and len(values) == 1:
            values = [*values, self.constant(None, NONE)]
        if len(values) != NODES[kind]:
            raise self.fault(f"`{kind}` is called with {len(values)} arguments")
        if kind == "prim::unchecked_cast":
            self.stack.extend(values)
        elif kind == "prim::TupleUnpack":
            parts = self.unpacked(values[0])
            self.count(parts * _MAKING)
            self.stack.extend(self.emit(kind, values, parts).outputs)
        else:
            self.stack.extend(self.emit(kind, values, kind != "prim::RaiseException").outputs)

    def unpacked(self, value: Value) -> int:
        """How many elements a tuple has: as many as are stored at once, or as it was made of."""
        if value.node.kind == "prim::TupleConstruct":
            return len(value.node.inputs)
        name, _, n = self.code.instructions[self.at + 1]
        return n if name == "STOREN" else 1

    def get(self, x: int, n: int) -> None:
        self.push("prim::GetAttr", 1).attributes["name"] = x

    def set(self, x: int, n: int) -> None:
        self.push("prim::SetAttr", 2, 0).attributes["name"] = x

    def make_list(self, x: int, n: int) -> None:
        type = self.code.types[x]
        output = self.push("prim::ListConstruct", n).output
        if type.list_of is not None:
            output.type = type

    def make_dict(self, x: int, n: int) -> None:
        if n % 2:
            raise self.fault("a dict has a key without a value")
        type = self.code.types[x]
        output = self.push("prim::DictConstruct", n).output
        if type.dict_of is not None:
            output.type = type

    def make_tuple(self, x: int, n: int) -> None:
        self.push("prim::TupleConstruct", x)

    def make_named(self, x: int, n: int) -> None:
        type = self.code.types[x]
        output = self.push("prim::TupleConstruct", n).output
        if type.tuple_of is not None and len(type.tuple_of) == n:
            output.type = type

    def unpack(self, x: int, n: int) -> None:
        self.count(x * _MAKING)
        self.push("prim::ListUnpack", 1, x)

    def index(self, x: int, n: int) -> None:
        self.push("prim::TupleIndex", 2)

    def slice(self, x: int, n: int) -> None:
        self.count(n * _MAKING)
        (whole,) = self.take(1)
        places = [self.constant(place, INT) for place in range(x, x + n)]
        parts = [self.emit("prim::TupleIndex", (whole, place)).output for place in places]
        self.stack.append(self.emit("prim::TupleConstruct", parts).output)

    def is_instance(self, x: int, n: int) -> None:
        node = self.push("prim::isinstance", 1)
        node.attributes["types"] = list(self.code.types[x : x + n])
        node.output.type = BOOL

    def raising(self, x: int, n: int) -> None:
        self.push("prim::RaiseException", 2, 0)

    def format(self, x: int, n: int) -> None:
        self.operator("aten::format", self.take(x))

    def nothing(self, x: int, n: int) -> None:
        self.push("prim::Uninitialized", 0)

    def cast(self, x: int, n: int) -> None:
        """The type is known better, the value is the same."""

    def interface(self, x: int, n: int) -> None:
        name = self.code.constants[x]
        if not isinstance(name, str) or not n:
            raise self.fault("it calls a method without a name or an object")
        self.push("prim::CallMethod", n).attributes["name"] = name


_CONTROL: Final[dict[str, Callable[[_Decoder, int, int], int]]] = {
    "JF": _Decoder.branch,
    "JMP": _Decoder.jump,
    "LOOP": _Decoder.loop,
    "RET": _Decoder.result,
}

_ACTIONS: Final[dict[str, Callable[[_Decoder, int, int], None]]] = {
    "OP": _Decoder.call_operator,
    "OPN": _Decoder.call_with,
    "LOAD": _Decoder.load,
    "MOVE": _Decoder.move,
    "STORE": _Decoder.store,
    "STOREN": _Decoder.store_many,
    "DROP": _Decoder.drop,
    "DROPR": _Decoder.drop_register,
    "LOADC": _Decoder.load_constant,
    "GET_ATTR": _Decoder.get,
    "SET_ATTR": _Decoder.set,
    "LIST_CONSTRUCT": _Decoder.make_list,
    "DICT_CONSTRUCT": _Decoder.make_dict,
    "TUPLE_CONSTRUCT": _Decoder.make_tuple,
    "NAMED_TUPLE_CONSTRUCT": _Decoder.make_named,
    "LIST_UNPACK": _Decoder.unpack,
    "TUPLE_INDEX": _Decoder.index,
    "TUPLE_SLICE": _Decoder.slice,
    "ISINSTANCE": _Decoder.is_instance,
    "RAISE_EXCEPTION": _Decoder.raising,
    "FORMAT": _Decoder.format,
    "UN_INITIALIZED": _Decoder.nothing,
    "UNCHECKED_CAST": _Decoder.cast,
    "INTERFACE_CALL": _Decoder.interface,
}

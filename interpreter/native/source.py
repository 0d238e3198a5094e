"""The text of native code: a code over numbers, strings, lists, dicts and objects, as a program of
the language of `lowering`.

Registers become variables that carry the kind of what they hold in their name, since a variable
has one kind.  The text is made of this part's own templates and of numbers, as a plan's is.  Where
an operator would fail, the code gives up: nothing outside has been touched by then, so the plan
does the call again, from its start, and raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ...ir.graphs.callee import callee
from ...ir.graphs.graph import Node, Value
from ...typecheck.definitions.class_types import ClassType
from ...typecheck.definitions.functions import Function
from ...typecheck.types.types import ANY, NUMBER, Type
from ...typecheck.types.types import NONE as NONE_TYPE
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import read_numbers, row
from .kept import note_sites
from .kinds import ARRAY, BOOL, FLOAT, INT, NONE, Kind, NotNative, is_convertible, kind_of
from .native_source import NativeSource
from .outside import note_outside
from .steps import State, Steps
from .written import written_places

__all__ = ["CodeOf", "NativeSource", "write_native"]

BETWEEN = (65536, 256, 16)
"""Rounds between two looks at whether to stop: of inner loops, of those around them, of others."""


MOST_INSTRUCTIONS: Final = 6000
"""Of a program and all that it calls: longer ones would take too long to compile."""

CodeOf = Callable[[Function], tuple[Code, Sequence[Type]]]
"""The code of a function whose calls are calls, and the types of its arguments; raises `NotNative`
where that may not be called natively."""


def write_native(
    code: Code,
    arguments: Sequence[Type],
    code_of: CodeOf | None = None,
    registers: Sequence[int] | None = None,
) -> NativeSource:
    """The source of a code's native form; what it calls is native, too, by its own code.

    Its arguments are what `registers` hold at the start, the first ones if none are named.

    Raises:
        NotNative: it has none; the text says why.
    """
    return _Writer(code, _Program(code_of)).write(_kinds_of(code, arguments), registers)


def _kinds_of(code: Code, arguments: Sequence[Type]) -> list[Kind]:
    if len(arguments) != code.argument_count:
        raise NotNative("arguments of unknown types")
    return list(map(kind_of, arguments))


_LARGEST: Final = 2**63 - 1

_CONTEXT_METHODS: Final = {"prim::Enter": "__enter__", "prim::Exit": "__exit__"}


def _context_method(node: Node) -> Function | None:
    """What entering or leaving a context calls."""
    name, type = _CONTEXT_METHODS.get(node.kind), node.inputs[0].type
    return None if name is None or not isinstance(type, ClassType) else type.method(name)


class _Callee(NamedTuple):
    """A function of the program: what the text calls it, and the kinds of what it takes and
    gives."""

    name: str
    arguments: list[Kind]
    result: Kind


class _Program:
    """The functions that the text of a program has: what each is, why it is none, or None while it
    is written.  `orders` are lines that say which of two objects comes first, by their kind."""

    def __init__(self, code_of: CodeOf | None) -> None:
        self.code_of = code_of
        self.callees: dict[Function, _Callee | str | None] = {}
        self.orders: dict[Kind, str] = {}
        self.lines: list[str] = []
        self.instructions = 0

    def count(self, code: Code) -> None:
        """Count a code's instructions.

        Raises:
            NotNative: there are too many in all.
        """
        self.instructions += len(code.instructions)
        if self.instructions > MOST_INSTRUCTIONS:
            raise NotNative(f"it and what it calls have more than {MOST_INSTRUCTIONS} instructions")


def _height(region: Region) -> int:
    """How many loops lie in each other in a region."""
    found = 0
    for part in region:
        if isinstance(part, Repeat):
            found = max(found, 1 + _height(part.body))
        elif isinstance(part, Branch):
            found = max(found, _height(part.then), _height(part.otherwise))
    return found


class _Writer(Steps):
    """The writing of one code's native form."""

    def __init__(self, code: Code, program: _Program, caller: _Writer | None = None) -> None:
        super().__init__(code, caller, len(program.callees))
        self._program = program
        self._loops = 0

    def _function_text(
        self, name: str, arguments: list[Kind], registers: Sequence[int] | None = None
    ) -> list[str]:
        """The lines of a function of the program; the registers that its arguments are in at the
        start, if they are not the first ones."""
        self._program.count(self.code)
        source = self.source
        source.arguments = arguments
        state = dict(zip(registers or range(len(arguments)), arguments, strict=True))
        names = [self._name(register, kind) for register, kind in state.items()]
        self._region(self.code.body, 1, state)
        if source.result is None:
            raise NotNative("it gives nothing back")
        return [f"def {name}({', '.join(names)}):", *self._first, *source.lines]

    def write(self, arguments: list[Kind], registers: Sequence[int] | None) -> NativeSource:
        """The source of the program that begins with this code."""
        source = self.source
        lines = self._function_text("native", arguments, registers)
        source.lines = [*lines, *self._program.lines]
        if self._program.orders:
            source.lines += ["def object_lt(self, other):", *self._program.orders.values()]
        if source.calls_out and source.written:
            raise NotNative(f"`{source.written[0]}` beside operators that are called")
        source.names["TELLS_VIEWS"] = source.gives_tensors
        source.names["GIVES_PARTS"] = source.gives_parts
        note_outside(source)
        note_sites(source)
        source.lines += ["def entry(arguments):", " begin(arguments)"]
        for i, kind in enumerate(arguments):
            source.lines.append(
                f" a{i} = take_given({self._kind(kind)}, argument(arguments, {i + 3}))"
            )
        source.lines += self._copies(arguments, registers)
        given = "".join(f", a{i}" for i in range(len(arguments)))
        source.lines += [
            " context.thread = PyEval_SaveThread()",
            f" result = attempt(native{given})",
            " done = context.done",
            " PyEval_RestoreThread(context.thread)",
            " if done == 0:",
            "  fail()",
            " return finish(result)",
        ]
        return source

    def _copies(self, arguments: list[Kind], registers: Sequence[int] | None) -> Iterator[str]:
        """The lines that copy tensors which are written, and lie apart from all others."""
        arrays = [i for i, kind in enumerate(arguments) if kind == ARRAY]
        if not arrays:
            return
        written = written_places(self.code, registers or range(len(arguments)))
        if written and self.source.touches_tensors:
            raise NotNative("tensors of objects beside one that is written")
        for i in written:
            for j in arrays:
                if i != j:
                    yield f" if not array_lies_apart(a{i}, a{j}): fail()"
        for i in written:
            yield f" a{i} = array_own(a{i}, argument(arguments, {i + 3}))"
        self.source.writes = bool(written)

    # -- calls

    def _write_function(self, step: Step, depth: int, state: State) -> None:
        if step.node.kind != "prim::CallFunction":
            raise NotNative(f"a call, `{step.node.kind}`")
        self._call(step, step.node.inputs[1:], depth, state)

    def _write_method(self, step: Step, depth: int, state: State) -> None:
        if step.node.kind not in ("prim::CallMethod", *_CONTEXT_METHODS):
            raise NotNative(f"a call of `{step.node.attributes.get('name', step.node.kind)}`")
        self._call(step, step.node.inputs, depth, state)

    def _call(self, step: Step, inputs: Sequence[Value], depth: int, state: State) -> None:
        """A call of a function of the program; a context is left with None for all else."""
        function = callee(step.node) or _context_method(step.node)
        if function is None:
            raise NotNative(f"a call of `{step.node.attributes.get('name', step.node.kind)}`")
        called = self._callee(function)
        numbers = read_numbers(step.instruction)
        pairs = zip(numbers, inputs, strict=True)
        operands = [
            self._refined(self._operand(number, state), value.type) for number, value in pairs
        ]
        if step.node.kind == "prim::Exit":
            operands += [("None", NONE)] * (len(called.arguments) - 1)
        texts = [
            self._as(text, kind, wanted)
            for (text, kind), wanted in zip(operands, called.arguments, strict=True)
        ]
        text = f"{called.name}({', '.join(texts)})"
        _, target, *_ = step.instruction
        assert isinstance(target, int)
        if called.result == NONE:
            self._add(depth, text)
            state[target] = NONE
        else:
            self._put(target, called.result, text, depth, state)

    def _callee(self, function: Function) -> _Callee:
        """What the text calls a function, which is written with the first call."""
        program = self._program
        found = program.callees.get(function, "")
        if isinstance(found, _Callee):
            return found
        if found is None or program.code_of is None:
            raise NotNative(f"`{function.name}` calls itself" if found is None else "a call")
        if found:
            raise NotNative(found)
        program.callees[function] = None
        try:
            code, types = program.code_of(function)
            writer = _Writer(code, program, self)
            types = [NONE_TYPE if each == ANY else each for each in types]  # the one such value
            name, kinds = f"callee{len(program.callees)}", _kinds_of(code, types)
            program.lines += writer._function_text(name, kinds)
        except NotNative as error:
            program.callees[function] = f"`{function.name}`: {error}"
            raise
        assert writer.source.result is not None
        made = program.callees[function] = _Callee(name, kinds, writer.source.result)
        return made

    def _order(self, kind: Kind) -> None:
        if kind.family != "object" or kind in self._program.orders:
            return
        method = kind.type.method("__lt__") if isinstance(kind.type, ClassType) else None
        called = None if method is None else self._callee(method)
        if called is None or [*called.arguments, called.result] != [kind, kind, BOOL]:
            raise NotNative(f"the order of {kind.name}")
        line = f" if kind_of(self) == {self._kind(kind)}: return {called.name}(self, other)"
        self._program.orders[kind] = line

    # -- structure: each gives the state after it, None where nothing comes after

    def _region(self, region: Region, depth: int, state: State) -> State | None:
        if any(isinstance(p, Step) and row(p.instruction).name == "raise" for p in region):
            self._add(depth, "fail()")
            return None
        lines = len(self.source.lines)
        after: State | None = state
        for part in region:
            assert after is not None
            if isinstance(part, Step):
                self._step(part, depth, after)
            elif isinstance(part, Branch):
                after = self._branch(part, depth, after)
            else:
                after = self._repeat(part, depth, after)
            if after is None:
                break
        if len(self.source.lines) == lines:
            self._add(depth, "pass")
        return after

    def _branch(self, part: Branch, depth: int, state: State) -> State | None:
        self._add(depth, f"if {self._truth(part.condition, state)}:")
        then = self._way(part, part.then, depth + 1, state)
        self._add(depth, "else:")
        otherwise = self._way(part, part.otherwise, depth + 1, state)
        if then is otherwise is None and self.source.left_out:
            raise NotNative(self.source.left_out[-1])
        if then is None or otherwise is None:
            return otherwise if then is None else then
        return _joined(then, otherwise)

    def _way(self, part: Branch, region: Region, depth: int, state: State) -> State | None:
        """One way of a branch; native code gives up on a way that has no native form."""
        start = len(self.source.lines)
        try:
            after = self._region(region, depth, dict(state))
        except NotNative as error:
            self.source.left_out.append(str(error))
            del self.source.lines[start:]
            self._add(depth, "fail()")
            return None
        if after is not None:
            self._settle(part.results, part.node.outputs, depth, after)
        return after

    def _settle(
        self, registers: Sequence[int], values: Sequence[Value], depth: int, state: State
    ) -> None:
        """Where ways meet, registers hold what the types of values say."""
        for register, value in zip(registers, values, strict=False):
            kind = state.get(register)
            if value.type == NUMBER and kind in (INT, FLOAT):
                made = f"number_made({self._name(register, kind)})"
                self._put(register, ARRAY, made, depth, state)
                continue
            try:
                wanted = kind_of(value.type)
            except NotNative:
                continue
            if kind is None or kind == wanted:
                continue
            if kind == NONE or is_convertible(kind, wanted):
                self._convert(register, kind, wanted, depth, state)

    def _repeat(self, part: Repeat, depth: int, state: State) -> State:
        count, kind = "", INT
        if part.count is not None:  # read once: the register may count the rounds then
            count, kind = self._operand(part.count, state)
        if kind != INT:
            raise NotNative("a loop over something else than whole numbers")
        carried = part.node.blocks[0].inputs[1:]
        self._settle(part.carried, carried, depth, state)
        start = len(self.source.lines)
        while True:  # what is known at the head holds after each round too
            del self.source.lines[start:]
            end = self._rounds(part, depth, dict(state), count)
            known = state if end is None else _joined(state, end)
            if known == state:
                return state
            state = known

    def _rounds(self, part: Repeat, depth: int, state: State, count: str) -> State | None:
        test = None if part.condition is None else self._truth(part.condition, state)
        between = BETWEEN[min(_height(part.body), 2)]
        number = self._loops = self._loops + 1
        if part.count is None:
            self._add(depth, f"w{number} = 0")
            self._add(depth, f"while {test or True}:")
            self._add(depth + 1, f"w{number} += 1")
            self._add(depth + 1, f"if w{number} & {between - 1} == 0:")
            self._add(depth + 2, f"spend({between})")
            self._add(depth + 2, "look()")
            return self._round(part, depth + 1, state)
        state[part.index] = INT
        index = self._name(part.index, INT)
        # loops that are known to be short run without looking
        stretches = re.fullmatch(r"\(\d\d?\)", count) is None
        inside = depth + 2 if stretches else depth + 1
        if stretches:
            self._add(depth, f"n{number} = {count}")
            self._add(depth, f"spend(lesser(n{number}, {1 << 40}))")
            self._add(depth, f"k{number} = 0")
            self._add(depth, "while True:")
            self._add(depth + 1, f"e{number} = lesser(k{number} + {between}, n{number})")
            count = f"k{number} & {_LARGEST}, e{number}"  # which tells LLVM that it is not negative
        self._add(inside - 1, f"for {index} in range({count}):")
        if test is not None:
            self._add(inside, f"if not {test}: break")
        end = self._round(part, inside, state)
        if stretches:
            self._add(depth + 1, f"k{number} = e{number}")
            ended = f"k{number} >= n{number}"
            self._add(depth + 1, f"if {ended if test is None else f'{ended} or not {test}'}: break")
            self._add(depth + 1, "look()")
        if end is not None:
            end.pop(part.index, None)
        return end

    def _round(self, part: Repeat, depth: int, state: State) -> State | None:
        end = self._region(part.body, depth, state)
        if end is not None:
            self._settle(part.carried, part.node.blocks[0].inputs[1:], depth, end)
        return end


def _joined(one: State, other: State) -> State:
    """What is known where two ways meet; types say that nobody reads what is set on one alone."""
    found: State = {}
    for register, kind in one.items():
        second = other.get(register)
        if second is not None:
            if second in (kind, NONE):
                found[register] = kind
            elif kind == NONE:
                found[register] = second
    return found

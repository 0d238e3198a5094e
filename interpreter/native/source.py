"""The text of native code: a code over numbers and lists of numbers as Python that numba takes.

Registers become variables that carry the kind of what they hold in their name, since numba wants
one type for a variable.  The text is made of this part's own templates and of numbers, as a plan's
is.  Where an operator would fail, the code gives up: nothing outside has been touched by then, so
the plan does the call again, from its start, and raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...ops.table.inline import Native
from ...ops.table.table import TABLE
from ...typecheck.types import BOOL, FLOAT, INT, NONE, ListType, TupleType, Type
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import read_numbers, row
from .kinds import Kind, NotNative, bound, kind_of, matches

__all__ = ["NativeSource", "write_native"]

_NOTHING = Kind(NONE)
"""The kind of what was never given a value."""

_LARGEST = 2**63 - 1

State = dict[int, Kind]
"""The kinds of the registers."""


@dataclass
class NativeSource:
    """The text; the kinds of the arguments and of the result; what it names: constants, functions
    that are compiled along, and functions of the C library."""

    lines: list[str] = field(default_factory=list)
    arguments: list[Kind] = field(default_factory=list)
    result: Kind | None = None
    constants: dict[str, object] = field(default_factory=dict)
    functions: set[Callable[..., Any]] = field(default_factory=set)
    libm: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def takes_lists(self) -> bool:
        return any(kind.is_outside for kind in self.arguments)


DONE, FAILED, STOPPED = 1, 0, 2
"""What native code gives before its result: why it could not finish, if so."""

_SCALARS_OF: dict[type, Type] = {int: INT, float: FLOAT, bool: BOOL}

BETWEEN = (65536, 256, 16)
"""Rounds between two looks at whether to stop: of inner loops, of those around them, of others."""

LOOK = "if left < 0 or stopped(stop): return STOP"
"""`left` is how many rounds may still run, `stop` the address of a number that others set."""


def write_native(code: Code, arguments: Sequence[Type]) -> NativeSource | None:
    """The source of a code's native form; None if it has none."""
    if len(arguments) != code.argument_count:
        return None
    writer = _Writer(code)
    try:
        return writer.write([kind_of(type).from_outside() for type in arguments])
    except NotNative:
        return None


def _height(region: Region) -> int:
    """How many loops lie in each other in a region."""
    found = 0
    for part in region:
        if isinstance(part, Repeat):
            found = max(found, 1 + _height(part.body))
        elif isinstance(part, Branch):
            found = max(found, _height(part.then), _height(part.otherwise))
    return found


class _Writer:
    """The writing of one code's native form."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.source = NativeSource()
        self._variables: dict[str, Kind] = {}
        self._loops = 0

    def write(self, arguments: list[Kind]) -> NativeSource:
        source = self.source
        source.arguments = arguments
        names = [f"r{i}{kind.letters}" for i, kind in enumerate(arguments)]
        self._region(self.code.body, 1, dict(enumerate(arguments)))
        if source.result is None:
            raise NotNative
        for word, status in (("FAIL", FAILED), ("STOP", STOPPED)):
            instead = f"return {status}, {source.result.empty}"
            source.lines = [line.replace(f"return {word}", instead) for line in source.lines]
        body = source.lines
        first = [
            f" {name} = {kind.empty}"
            for name, kind in self._variables.items()
            if kind.is_scalar and name not in names
        ]
        names = ["left", "stop", *names]
        source.lines = [f"def native({', '.join(names)}):", *first, *body]
        return source

    def _add(self, depth: int, line: str) -> None:
        self.source.lines.append(" " * depth + line)

    # -- structure: each gives the state after it, None where nothing comes after

    def _region(self, region: Region, depth: int, state: State) -> State | None:
        if any(isinstance(p, Step) and row(p.instruction).name == "raise" for p in region):
            self._add(depth, "return FAIL")
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
        for value in part.node.outputs:
            kind_of(value.type)
        self._add(depth, f"if {self._truth(part.condition, state)}:")
        then = self._region(part.then, depth + 1, dict(state))
        self._add(depth, "else:")
        otherwise = self._region(part.otherwise, depth + 1, dict(state))
        if then is None or otherwise is None:
            return otherwise if then is None else then
        return _joined(then, otherwise)

    def _repeat(self, part: Repeat, depth: int, state: State) -> State:
        for value in part.node.outputs:
            kind_of(value.type)
        count, kind = "", Kind(INT)
        if part.count is not None:  # read once: the register may count the rounds then
            count, kind = self._operand(part.count, state)
        if kind.type != INT:
            raise NotNative
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
            self._add(depth + 1, f"if not w{number} & {between - 1}:")
            self._add(depth + 2, f"left -= {between}")
            self._add(depth + 2, LOOK)
            return self._region(part.body, depth + 1, state)
        state[part.index] = Kind(INT)
        index = self._name(part.index, Kind(INT))
        # loops that are known to be short run without looking
        stretches = re.fullmatch(r"\(\d\d?\)", count) is None
        inside = depth + 2 if stretches else depth + 1
        if stretches:
            self._add(depth, f"n{number} = int64({count})")
            self._add(depth, f"left -= min(n{number}, {1 << 40})")
            self._add(depth, f"k{number} = 0")
            self._add(depth, "while True:")
            self._add(depth + 1, f"e{number} = min(k{number} + {between}, n{number})")
            count = f"k{number}, e{number}"
        self._add(inside - 1, f"for {index} in range({count}):")
        if test is not None:
            self._add(inside, f"if not {test}: break")
        end = self._region(part.body, inside, state)
        if stretches:
            self._add(depth + 1, f"k{number} = e{number}")
            ended = f"k{number} >= n{number}"
            self._add(depth + 1, f"if {ended if test is None else f'{ended} or not {test}'}: break")
            self._add(depth + 1, LOOK)
        if end is not None:
            end.pop(part.index, None)
        return end

    # -- operands

    def _name(self, register: int, kind: Kind) -> str:
        name = f"r{register}{kind.letters}"
        self._variables[name] = kind
        return name

    def _truth(self, number: int, state: State) -> str:
        text, kind = self._operand(number, state)
        if kind.type != BOOL:
            raise NotNative
        return text

    def _operand(self, number: int, state: State) -> tuple[str, Kind]:
        """What is read there, and its kind."""
        if number >= 0:
            kind = state.get(number)
            if kind is None or kind == _NOTHING:
                raise NotNative
            return f"r{number}{kind.letters}", kind
        value = self.code.constants[-1 - number]
        if isinstance(value, bool):
            return str(value), Kind(BOOL)
        if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
            return f"({value})", Kind(INT)
        name = f"c{-1 - number}"
        if isinstance(value, float):
            self.source.constants[name] = value
            return name, Kind(FLOAT)
        element = _SCALARS_OF.get(type(value[0])) if isinstance(value, list) and value else None
        if element is None:
            raise NotNative
        self.source.constants[name] = value
        return name, Kind(ListType(element), is_outside=True)

    # -- steps

    def _step(self, step: Step, depth: int, state: State) -> None:
        name = row(step.instruction).name
        if name == "move":
            self._move(step, depth, state)
        elif name == "return":
            self._return(step, depth, state)
        elif name == "item":
            self._item(step, depth, state)
        elif name == "unpack":
            self._unpack(step, depth, state)
        elif name in ("list", "tuple"):
            self._make(step, name, depth, state)
        elif name != "free":
            self._compute(step, depth, state)

    def _move(self, step: Step, depth: int, state: State) -> None:
        _, to, number = step.instruction
        assert isinstance(to, int)
        assert isinstance(number, int)
        unset = self.code.constants[-1 - number] is None if number < 0 else False
        if unset or state.get(number) == _NOTHING:  # types say that nobody reads it
            state[to] = _NOTHING
            return
        text, kind = self._operand(number, state)
        self._add(depth, f"{self._name(to, kind)} = {text}")
        state[to] = kind

    def _return(self, step: Step, depth: int, state: State) -> None:
        (number,) = read_numbers(step.instruction)
        text, kind = self._operand(number, state)
        if kind.is_outside:
            raise NotNative
        self.source.result = kind
        self._add(depth, f"return {DONE}, {text}")

    def _unpack(self, step: Step, depth: int, state: State) -> None:
        _, targets, number = step.instruction
        assert isinstance(targets, tuple)
        assert isinstance(number, int)
        text, kind = self._operand(number, state)
        results = [self._name(to, each) for to, each in zip(targets, kind.parts, strict=True)]
        if results:
            self._add(depth, f"{', '.join(results)}, = {text}")
        state.update(zip(targets, kind.parts, strict=True))

    def _item(self, step: Step, depth: int, state: State) -> None:
        _, to, number, place = step.instruction
        assert isinstance(to, int)
        assert isinstance(number, int)
        assert isinstance(place, int)
        text, kind = self._operand(number, state)
        state[to] = kind.parts[place]
        self._add(depth, f"{self._name(to, state[to])} = {text}[{place}]")

    def _make(self, step: Step, name: str, depth: int, state: State) -> None:
        """A list or a tuple."""
        operands = [self._operand(number, state) for number in read_numbers(step.instruction)]
        texts, kinds = [text for text, _ in operands], [kind for _, kind in operands]
        target = self._target(step)
        if target is None or len(step.node.outputs) != 1:  # the list of what has warned
            raise NotNative
        if name == "tuple":
            kind = Kind(TupleType(tuple(each.type for each in kinds)))
            text = f"({', '.join(texts)},)"
            made = bool(kinds) and all(each.is_scalar for each in kinds)
        else:
            kind = kind_of(step.node.output.type)
            made = all(each == kind.element for each in kinds)
            text = f"[{', '.join(texts)}]" if texts else kind.empty
        if not made:
            raise NotNative
        self._add(depth, f"{self._name(target, kind)} = {text}")
        state[target] = kind

    def _compute(self, step: Step, depth: int, state: State) -> None:
        """An operator, by the first of its native forms that takes these operands."""
        target = self._target(step)
        operands = [self._operand(number, state) for number in read_numbers(step.instruction)]
        texts = [text for text, _ in operands]
        form, kind = self._form(step, [kind for _, kind in operands], texts)
        self.source.functions.update(form.functions)
        self.source.libm.update(filter(None, (form.libm,)))
        for check in form.given:
            self._check(check.format(*texts), depth)
        if target is None:
            self._add(depth, form.text.format(*texts))
            return
        if kind is None:
            raise NotNative
        result = self._name(target, kind)
        self._add(depth, f"{result} = {form.text.format(*texts)}")
        state[target] = kind
        if form.then:
            self._check(form.then.format(*texts, result=result), depth)

    def _check(self, condition: str, depth: int) -> None:
        if not _OF_CONSTANT.fullmatch(condition):
            self._add(depth, f"if not ({condition}): return FAIL")

    @staticmethod
    def _form(
        step: Step, kinds: Sequence[Kind], texts: Sequence[str]
    ) -> tuple[Native, Kind | None]:
        """The form of an operator for operands, and the kind of its result, if it has one."""
        called = step.node.signature
        entry = None if called is None else TABLE.operator(called.full_name)
        if entry is None or not entry.native:
            raise NotNative
        for form in entry.native:
            known = matches(form, entry.signature, kinds)
            if known is not None and all(texts[at] == each for at, each in form.at.items()):
                result = None if form.writes else bound(entry.signature.returns[0].type, known)
                return form, result
        raise NotNative

    @staticmethod
    def _target(step: Step) -> int | None:
        """The register that a step writes; None if there is none."""
        kinds = row(step.instruction).kinds
        written = step.instruction[1] if kinds[0] in ("R", "R*") else ()
        if isinstance(written, int):
            return written
        if written != ():
            raise NotNative
        return None


_OF_CONSTANT = re.compile(r"\((?!0\))-?\d+\) != 0|\((?!-1\))-?\d+\) != -1 or .*")
"""Checks of a constant divisor that always hold."""


def _joined(one: State, other: State) -> State:
    """What is known where two ways meet."""
    found: State = {}
    for register, kind in one.items():
        second = other.get(register)
        if second is not None:
            if kind == second or second == _NOTHING:
                found[register] = kind
            elif kind == _NOTHING:
                found[register] = second
    return found

"""The text of native code: a code over numbers and lists of numbers as Python that numba takes.

Registers become variables that carry the kind of what they hold in their name, since numba wants
one type for a variable.  The text is made of this part's own templates and of numbers, as a plan's
is.  Where an operator would fail, the code gives up: nothing outside has been touched by then, so
the plan does the call again, from its start, and raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...typecheck.types import BOOL, FLOAT, INT, ListType, TupleType, Type
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import read_numbers, row
from .lines import CHECKS, COMPARISONS, LINES, LISTS, MATHS, ROW_CHECKS, ROWS

__all__ = ["NativeSource", "write_native"]

_NOTHING = "?"
"""The kind of what was never given a value."""

_EXACT = 2**53
"""Whole numbers up to here are floats without rounding."""

_LARGEST = 2**63 - 1

State = dict[int, str]
"""The kinds of the registers."""


class _NotNative(Exception):
    """There is no native form of this."""


@dataclass
class NativeSource:
    """The text; the kinds of the arguments and of the result; constants and functions it names."""

    lines: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    result: str = ""
    constants: dict[str, object] = field(default_factory=dict)
    maths: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def takes_lists(self) -> bool:
        return any(kind[0] == "A" for kind in self.arguments)


DONE, FAILED, STOPPED = 1, 0, 2
"""What native code gives before its result: why it could not finish, if so."""

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
        return writer.write([_outside(_kind(type)) for type in arguments])
    except _NotNative:
        return None


def _kind(type: Type) -> str:
    """The kind of values of a type."""
    if type in _SCALARS:
        return _SCALARS[type]
    if isinstance(type, ListType):
        return "L" + _kind(type.element)
    if isinstance(type, TupleType) and type.contained:
        inner = [_kind(each) for each in type.contained]
        if all(kind in "ifb" for kind in inner):
            return "T" + "".join(inner)
    raise _NotNative


_SCALARS: dict[Type, str] = {INT: "i", FLOAT: "f", BOOL: "b"}
_SCALARS_OF: dict[type, str] = {int: "i", float: "f", bool: "b"}


def _outside(kind: str) -> str:
    """The kind of an argument: lists of it are only read, and are one or two deep."""
    if kind[0] == "T" or kind.count("L") > 2:
        raise _NotNative
    return kind.replace("L", "A")


def _empty(kind: str) -> str:
    """An expression for a value of a kind."""
    if kind[0] == "L":
        return f"[{_empty(kind[1:])} for _ in range(0)]"
    if kind[0] == "T":
        return "(" + "".join(f"{_empty(each)}, " for each in kind[1:]) + ")"
    return {"i": "0", "f": "0.0", "b": "False"}[kind]


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
        self._variables: dict[str, str] = {}
        self._loops = 0

    def write(self, arguments: list[str]) -> NativeSource:
        source = self.source
        source.arguments = arguments
        names = [f"r{i}{kind}" for i, kind in enumerate(arguments)]
        self._region(self.code.body, 1, dict(enumerate(arguments)))
        if not source.result:
            raise _NotNative
        for word, status in (("FAIL", FAILED), ("STOP", STOPPED)):
            instead = f"return {status}, {_empty(source.result)}"
            source.lines = [line.replace(f"return {word}", instead) for line in source.lines]
        body = source.lines
        first = [
            f" {name} = {_empty(kind)}"
            for name, kind in self._variables.items()
            if kind in "ifb" and name not in names
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
            _kind(value.type)
        self._add(depth, f"if {self._truth(part.condition, state)}:")
        then = self._region(part.then, depth + 1, dict(state))
        self._add(depth, "else:")
        otherwise = self._region(part.otherwise, depth + 1, dict(state))
        if then is None or otherwise is None:
            return otherwise if then is None else then
        return _joined(then, otherwise)

    def _repeat(self, part: Repeat, depth: int, state: State) -> State:
        for value in part.node.outputs:
            _kind(value.type)
        count, kind = "", "i"
        if part.count is not None:  # read once: the register may count the rounds then
            count, kind = self._operand(part.count, state)
        if kind != "i":
            raise _NotNative
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
        state[part.index] = "i"
        index = self._name(part.index, "i")
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

    def _name(self, register: int, kind: str) -> str:
        name = f"r{register}{kind}"
        self._variables[name] = kind
        return name

    def _truth(self, number: int, state: State) -> str:
        text, kind = self._operand(number, state)
        if kind != "b":
            raise _NotNative
        return text

    def _operand(self, number: int, state: State) -> tuple[str, str]:
        """What is read there, and its kind."""
        if number >= 0:
            kind = state.get(number)
            if kind is None or kind == _NOTHING:
                raise _NotNative
            return f"r{number}{kind}", kind
        value = self.code.constants[-1 - number]
        if isinstance(value, bool):
            return str(value), "b"
        if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
            return f"({value})", "i"
        name = f"c{-1 - number}"
        if isinstance(value, float):
            self.source.constants[name] = value
            return name, "f"
        element = _SCALARS_OF.get(type(value[0])) if isinstance(value, list) and value else None
        if element is None:
            raise _NotNative
        self.source.constants[name] = value
        return name, f"A{element}"

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
        elif name != "free":
            self._compute(step, name, depth, state)

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
        if "A" in kind:
            raise _NotNative
        self.source.result = kind
        self._add(depth, f"return {DONE}, {text}")

    def _unpack(self, step: Step, depth: int, state: State) -> None:
        _, targets, number = step.instruction
        assert isinstance(targets, tuple)
        assert isinstance(number, int)
        text, kind = self._operand(number, state)
        if kind[0] != "T":
            raise _NotNative
        results = [self._name(to, each) for to, each in zip(targets, kind[1:], strict=True)]
        if results:
            self._add(depth, f"{', '.join(results)}, = {text}")
        state.update(zip(targets, kind[1:], strict=True))

    def _item(self, step: Step, depth: int, state: State) -> None:
        _, to, number, place = step.instruction
        assert isinstance(to, int)
        assert isinstance(number, int)
        assert isinstance(place, int)
        text, kind = self._operand(number, state)
        if kind[0] != "T":
            raise _NotNative
        state[to] = kind[1 + place]
        self._add(depth, f"{self._name(to, state[to])} = {text}[{place}]")

    def _compute(self, step: Step, name: str, depth: int, state: State) -> None:
        target = self._target(step)
        operator = self._operator(step) or name
        operands = [self._operand(number, state) for number in read_numbers(step.instruction)]
        texts, kinds = [text for text, _ in operands], [kind for _, kind in operands]
        if name in ("list", "tuple"):
            kind, expression = _container(name, step, texts, kinds)
        elif kinds and kinds[0][0] in "LA":
            kind, expression = _on_list(operator, kinds, texts)
        else:
            if operator in COMPARISONS:
                texts, kinds = self._as_floats(step, texts, kinds)
            kind, expression = self._on_numbers(operator, texts, kinds)
        rows = bool(kinds) and kinds[0].startswith("AA")
        for check in (ROW_CHECKS if rows else CHECKS).get(operator, ()):
            self._check(check.format(*texts), depth)
        if target is None:
            self._add(depth, expression.format(*texts))
            return
        if not kind:
            raise _NotNative
        result = self._name(target, kind)
        self._add(depth, f"{result} = {expression.format(*texts)}")
        state[target] = kind
        if operator.partition("::")[2].partition(".")[0] in MATHS:
            self._check(f"math.isfinite({result})", depth)

    def _check(self, condition: str, depth: int) -> None:
        if not _OF_CONSTANT.fullmatch(condition):
            self._add(depth, f"if not ({condition}): return FAIL")

    def _on_numbers(self, operator: str, texts: list[str], kinds: list[str]) -> tuple[str, str]:
        """The kind of the result and the expression."""
        word = operator.partition("::")[2].partition(".")[0]
        plain = "_to_" not in operator and "Scalar" not in operator
        if plain and word in MATHS and len(kinds) == 1 + (word == "pow") and {*kinds} <= {"i", "f"}:
            self.source.maths.add(word)
            operands = ", ".join(f"float({{{i}}})" for i in range(len(texts)))
            return "f", f"m_{word}({operands})"
        found = LINES.get((operator, "".join(kinds)))
        if found is None:
            raise _NotNative
        return found

    def _as_floats(
        self, step: Step, texts: list[str], kinds: list[str]
    ) -> tuple[list[str], list[str]]:
        """Operands of a comparison, a constant whole number beside a float as a float.

        Python compares a whole number with a float exactly, so others are left to it.
        """
        if sorted(kinds) != ["f", "i"]:
            return texts, kinds
        place = kinds.index("i")
        number = read_numbers(step.instruction)[place]
        value = self.code.constants[-1 - number] if number < 0 else None
        if not isinstance(value, int) or abs(value) > _EXACT:
            raise _NotNative
        texts[place] = f"{float(value)!r}"
        return texts, ["f", "f"]

    def _operator(self, step: Step) -> str | None:
        for kind, operand in zip(row(step.instruction).kinds, step.instruction[1:], strict=True):
            if kind == "O":
                assert isinstance(operand, int)
                return self.code.operators[operand].full_name
        return None

    @staticmethod
    def _target(step: Step) -> int | None:
        """The register that a step writes; None if there is none."""
        kinds = row(step.instruction).kinds
        written = step.instruction[1] if kinds[0] in ("R", "R*") else ()
        if isinstance(written, int):
            return written
        if written != ():
            raise _NotNative
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


def _container(name: str, step: Step, texts: list[str], kinds: list[str]) -> tuple[str, str]:
    places = ", ".join(f"{{{i}}}" for i in range(len(texts)))
    if name == "tuple":
        if not kinds or any(kind not in "ifb" for kind in kinds):
            raise _NotNative
        return "T" + "".join(kinds), f"({places},)"
    if len(step.node.outputs) != 1:  # the list of what has warned, which no node makes
        raise _NotNative
    kind = _kind(step.node.output.type)
    if any(each != kind[1:] for each in kinds):
        raise _NotNative
    return kind, f"[{places}]" if texts else _empty(kind)


def _on_list(operator: str, kinds: list[str], texts: list[str]) -> tuple[str, str]:
    """The kind of the result (empty if there is none) and the expression."""
    kind = kinds[0]
    found = (ROWS if kind.startswith("AA") else LISTS).get(operator)
    if found is None:
        raise _NotNative
    result, expression = found
    reads = operator in ("length", "aten::__getitem__.t")
    if kind[0] == "A" and not reads:
        raise _NotNative
    wanted = {"append": [kind[1:]], "aten::_set_item.t": ["i", kind[1:]]}.get(operator)
    if wanted is None:
        wanted = ["i"] * (len(kinds) - 1)
    if operator == "aten::sort.int":
        wanted = ["b"]
    if operator == "aten::pop.t":
        wanted = ["i"]
    if kinds[1:] != wanted:
        raise _NotNative
    if operator in _ONLY_WITH and texts[1:] != _ONLY_WITH[operator]:
        raise _NotNative
    return {"element": kind[1:], "same": kind, "i": "i", "": ""}[result], expression


_ONLY_WITH = {"aten::sort.int": ["False"], "aten::pop.t": ["(-1)"]}
"""Operators that are taken with these operands only."""

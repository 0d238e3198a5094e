"""The text of native code: a code over numbers, strings, lists, dicts and objects of its own, as a
program of the language of `lowering`.

Registers become variables that carry the kind of what they hold in their name, since a variable
has one kind.  The text is made of this part's own templates and of numbers, as a plan's is.  Where
an operator would fail, the code gives up: nothing outside has been touched by then, so the plan
does the call again, from its start, and raises the error.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...ops.table.inline import Native
from ...ops.table.table import TABLE
from ...typecheck.class_types import ClassType
from ...typecheck.types import Type
from ..code.code import Branch, Code, Region, Repeat, Step
from ..code.instructions import read_numbers, row
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    STR,
    Kind,
    NotNative,
    bound,
    kind_of,
    list_of,
    matches,
    tuple_of,
)

__all__ = ["NativeSource", "write_native"]

_LARGEST = 2**63 - 1

State = dict[int, Kind]
"""The kinds of the registers; NONE is that of what was never given a value, too."""


@dataclass
class NativeSource:
    """The text; the kinds of the arguments and of the result; what it names; the kinds of the
    attributes of the classes whose objects it makes."""

    lines: list[str] = field(default_factory=list)
    arguments: list[Kind] = field(default_factory=list)
    result: Kind | None = None
    names: dict[str, object] = field(default_factory=dict)
    objects: dict[str, tuple[Kind, ...]] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def takes_containers(self) -> bool:
        return any(kind.family in ("list", "dict", "tuple") for kind in self.arguments)

    @property
    def crosses_plainly(self) -> bool:
        """Whether arguments and result are to Python what they are to the machine, lists and the
        like copied."""
        return self.result is not None and all(_is_plain(k) for k in (*self.arguments, self.result))


_PLAIN = frozenset(("int", "float", "bool", "none", "str", "list", "dict", "tuple"))


def _is_plain(kind: Kind) -> bool:
    return kind.family in _PLAIN and not kind.name and all(map(_is_plain, kind.parts))


_SCALARS_OF: dict[type, Kind] = {int: INT, float: FLOAT, bool: BOOL, str: STR}

BETWEEN = (65536, 256, 16)
"""Rounds between two looks at whether to stop: of inner loops, of those around them, of others."""


def write_native(code: Code, arguments: Sequence[Type]) -> NativeSource | None:
    """The source of a code's native form; None if it has none."""
    if len(arguments) != code.argument_count:
        return None
    writer = _Writer(code)
    try:
        return writer.write([kind_of(type) for type in arguments])
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
        self._kinds: dict[Kind, str] = {}
        self._first: list[str] = []
        self._loops = 0

    def write(self, arguments: list[Kind]) -> NativeSource:
        source = self.source
        if not all(kind.may_cross for kind in arguments):
            raise NotNative
        source.arguments = arguments
        names = [f"r{i}{kind.letters}" for i, kind in enumerate(arguments)]
        self._region(self.code.body, 1, dict(enumerate(arguments)))
        if source.result is None or not source.result.may_cross:
            raise NotNative
        source.lines = [f"def native({', '.join(names)}):", *self._first, *source.lines]
        source.lines += ["def entry(arguments):", " begin(arguments)"]
        for i, kind in enumerate(arguments):
            source.lines.append(f" a{i} = take({self._kind(kind)}, argument(arguments, {i + 3}))")
        given = "".join(f", a{i}" for i in range(len(arguments)))
        source.lines += [
            " thread = PyEval_SaveThread()",
            f" result = attempt(native{given})",
            " done = context.done",
            " PyEval_RestoreThread(thread)",
            " if done == 0:",
            "  fail()",
            " return finish(result)",
        ]
        return source

    def _kind(self, kind: Kind) -> str:
        """What the text calls a kind."""
        if kind not in self._kinds:
            self._kinds[kind] = f"K{len(self._kinds)}"
            self.source.names[self._kinds[kind]] = kind
        return self._kinds[kind]

    def _add(self, depth: int, line: str) -> None:
        self.source.lines.append(" " * depth + line)

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
        count, kind = "", INT
        if part.count is not None:  # read once: the register may count the rounds then
            count, kind = self._operand(part.count, state)
        if kind != INT:
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
            self._add(depth + 1, f"if w{number} & {between - 1} == 0:")
            self._add(depth + 2, f"spend({between})")
            self._add(depth + 2, "look()")
            return self._region(part.body, depth + 1, state)
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
            count = f"k{number}, e{number}"
        self._add(inside - 1, f"for {index} in range({count}):")
        if test is not None:
            self._add(inside, f"if not {test}: break")
        end = self._region(part.body, inside, state)
        if stretches:
            self._add(depth + 1, f"k{number} = e{number}")
            ended = f"k{number} >= n{number}"
            self._add(depth + 1, f"if {ended if test is None else f'{ended} or not {test}'}: break")
            self._add(depth + 1, "look()")
        if end is not None:
            end.pop(part.index, None)
        return end

    # -- operands

    def _name(self, register: int, kind: Kind) -> str:
        return f"r{register}{kind.letters}"

    def _truth(self, number: int, state: State) -> str:
        text, kind = self._operand(number, state)
        if kind != BOOL:
            raise NotNative
        return text

    def _operand(self, number: int, state: State) -> tuple[str, Kind]:
        """What is read there, and its kind."""
        if number >= 0:
            kind = state.get(number)
            if kind is None:
                raise NotNative
            return f"r{number}{kind.letters}", kind
        value = self.code.constants[-1 - number]
        if value is None:
            return "None", NONE
        if isinstance(value, bool):
            return str(value), BOOL
        if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
            return f"({value})", INT
        name = f"c{-1 - number}"
        if isinstance(value, float) or (isinstance(value, str) and value.isascii()):
            self.source.names[name] = value
            return name, _SCALARS_OF[type(value)]
        if not isinstance(value, list) or not value or type(value[0]) not in _SCALARS_OF:
            raise NotNative
        return self._list_of(name, value, _SCALARS_OF[type(value[0])])

    def _list_of(self, name: str, values: Sequence[object], element: Kind) -> tuple[str, Kind]:
        """A list that is known beforehand; it is made once in a call."""
        parts = []
        for place, value in enumerate(values):
            if isinstance(value, str) and not value.isascii():
                raise NotNative
            self.source.names[f"{name}_{place}"] = value
            parts.append(f"{name}_{place}")
        line = f" {name} = list_of({self._kind(element)}, {', '.join(parts)})"
        if line not in self._first:
            self._first.append(line)
        return name, list_of(element)

    # -- steps

    def _step(self, step: Step, depth: int, state: State) -> None:
        name = row(step.instruction).name
        write = getattr(self, f"_write_{name}", None)
        if write is not None:
            write(step, depth, state)
        elif name != "free":
            self._compute(step, depth, state)

    def _write_move(self, step: Step, depth: int, state: State) -> None:
        to, number = _operands(step)
        text, kind = self._operand(number, state)
        if kind != NONE:
            self._add(depth, f"{self._name(to, kind)} = {text}")
        state[to] = kind

    def _write_return(self, step: Step, depth: int, state: State) -> None:
        (number,) = read_numbers(step.instruction)
        text, kind = self._operand(number, state)
        wanted = self.source.result
        if wanted is not None and wanted != kind:
            raise NotNative
        self.source.result = kind
        self._add(depth, f"return {text}")

    def _write_unpack(self, step: Step, depth: int, state: State) -> None:
        _, targets, number = step.instruction
        assert isinstance(targets, tuple)
        assert isinstance(number, int)
        text, kind = self._operand(number, state)
        if kind.family != "tuple":
            raise NotNative
        results = [self._name(to, each) for to, each in zip(targets, kind.parts, strict=True)]
        if results:
            self._add(depth, f"{', '.join(results)}, = {text}")
        state.update(zip(targets, kind.parts, strict=True))

    def _write_item(self, step: Step, depth: int, state: State) -> None:
        to, number, place = _operands(step)
        text, kind = self._operand(number, state)
        if kind.family != "tuple":
            raise NotNative
        self._put(to, kind.parts[place], f"{text}[{place}]", depth, state)

    def _write_list(self, step: Step, depth: int, state: State) -> None:
        texts, kinds, target = self._made(step, state)
        kind = kind_of(step.node.output.type)
        if any(each != kind.element for each in kinds):
            raise NotNative
        given = ", ".join([self._kind(kind.element), *texts])
        self._put(target, kind, f"list_of({given})", depth, state)

    def _write_tuple(self, step: Step, depth: int, state: State) -> None:
        texts, kinds, target = self._made(step, state)
        if not kinds or NONE in kinds:
            raise NotNative
        self._put(target, tuple_of(kinds), f"make_tuple({', '.join(texts)})", depth, state)

    def _write_dict(self, step: Step, depth: int, state: State) -> None:
        texts, kinds, target = self._made(step, state)
        kind = kind_of(step.node.output.type)
        if any(each != kind.parts[i % 2] for i, each in enumerate(kinds)):
            raise NotNative
        text = f"new_dict({self._kind(kind.key)}, {self._kind(kind.value)})"
        self._put(target, kind, text, depth, state)
        for key, value in zip(texts[::2], texts[1::2], strict=True):
            self._add(depth, f"{self._name(target, kind)}[{key}] = {value}")

    def _made(self, step: Step, state: State) -> tuple[list[str], list[Kind], int]:
        """The operands of what makes a value, their kinds, and where it goes."""
        operands = [self._operand(number, state) for number in read_numbers(step.instruction)]
        target = self._target(step)
        if target is None or len(step.node.outputs) != 1:  # the list of what has warned
            raise NotNative
        return [text for text, _ in operands], [kind for _, kind in operands], target

    def _write_create(self, step: Step, depth: int, state: State) -> None:
        to, number = _operands(step)
        type = self.code.types[number]
        kind = kind_of(type)
        assert isinstance(type, ClassType)
        self.source.objects[kind.name] = tuple(
            _attribute_kind(each.type) for each in type.attributes.values()
        )
        self._put(to, kind, f"new_object({self._kind(kind)})", depth, state)

    def _write_get_slot(self, step: Step, depth: int, state: State) -> None:
        to, number, slot = _operands(step)
        text, kind = self._operand(number, state)
        found = self._slot(kind, slot)
        self._put(to, found, f"attribute({text}, {slot})", depth, state)

    def _write_set_slot(self, step: Step, depth: int, state: State) -> None:
        number, slot, value = _operands(step)
        text, kind = self._operand(number, state)
        given, given_kind = self._operand(value, state)
        if self._slot(kind, slot) != given_kind:
            raise NotNative
        self._add(depth, f"set_attribute({text}, {slot}, {given})")

    def _slot(self, kind: Kind, slot: int) -> Kind:
        """The kind of an attribute."""
        kinds = self.source.objects.get(kind.name)
        if kind.family != "object" or kinds is None or slot >= len(kinds) or kinds[slot] == NONE:
            raise NotNative
        return kinds[slot]

    def _put(self, to: int, kind: Kind, text: str, depth: int, state: State) -> None:
        self._add(depth, f"{self._name(to, kind)} = {text}")
        state[to] = kind

    def _compute(self, step: Step, depth: int, state: State) -> None:
        """An operator, by the first of its native forms that takes these operands."""
        target = self._target(step)
        operands = [self._operand(number, state) for number in read_numbers(step.instruction)]
        texts = [text for text, _ in operands]
        form, kind = self._form(step, [kind for _, kind in operands], texts)
        for check in form.given:
            self._check(check.format(*texts), depth)
        every = ", ".join(texts)
        if target is None:
            self._add(depth, form.text.format(*texts, all=every))
            return
        if kind is None:
            raise NotNative
        result = self._name(target, kind)
        self._add(depth, f"{result} = {form.text.format(*texts, all=every)}")
        state[target] = kind
        if form.then:
            self._check(form.then.format(*texts, result=result), depth)

    def _check(self, condition: str, depth: int) -> None:
        if not _OF_CONSTANT.fullmatch(condition):
            self._add(depth, f"if not ({condition}): fail()")

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


def _operands(step: Step) -> list[int]:
    """The operands of an instruction all of which are numbers."""
    numbers = []
    for each in step.instruction[1:]:
        assert isinstance(each, int)
        numbers.append(each)
    return numbers


def _attribute_kind(type: Type) -> Kind:
    """The kind of an attribute; NONE if it can only be passed by."""
    try:
        return kind_of(type)
    except NotNative:
        return NONE


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

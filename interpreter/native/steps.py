"""Single instructions as lines of native code: a method `_write_<name>` for each that is no call of
an operator."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...ir.graphs.graph import Node
from ...ops.python_values.named_tuples import NamedValues
from ...ops.table.direct import direct_form
from ...ops.table.inline import Native
from ...ops.table.table import TABLE
from ...typecheck.definitions.schema import Argument
from ...typecheck.types.types import ANY, EnumType, Type
from ...typecheck.types.types import NONE as NONE_TYPE
from ..code.code import Code, Step
from ..code.instructions import read_numbers, row
from ..values.objects import EnumMember
from .called import CALLED, results_of
from .kept import is_keepable, is_only_read
from .kinds import (
    ARRAY,
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    MADE,
    NONE,
    STR,
    Kind,
    Known,
    NotNative,
    bound,
    is_convertible,
    kind_of,
    list_of,
    lists_tensors,
    matches,
    shown,
    tuple_of,
)
from .native_source import NativeSource
from .outside import attribute_kinds, check_name
from .written import forms_at, written_wholes

__all__ = ["State", "Steps"]

_LARGEST = 2**63 - 1

State = dict[int, Kind]
"""The kinds of the registers; NONE is that of what was never given a value, too."""

Operand = tuple[str, Kind]
"""How the text names a value, and its kind."""

_SCALARS_OF: dict[type, Kind] = {int: INT, float: FLOAT, bool: BOOL, str: STR}

_GIVEN = {"bool": BOOL, "array": ARRAY, "made": MADE, "written": ARRAY}

_MOST_MEMBERS = 100
"""Members of an enumeration whose values are found one by one."""


class Steps:
    """The lines of instructions, and what they name."""

    def __init__(self, code: Code, caller: Steps | None = None, number: int = 0) -> None:
        """Those of a code, whose constants are told by a `number`; what the text names is the
        program's, the `caller`'s."""
        self.code = code
        self._number = number
        self.source: NativeSource = NativeSource() if caller is None else caller.source.for_callee()
        self._kinds: dict[Kind, str] = {} if caller is None else caller._kinds
        self._first: list[str] = []
        self._written = written_wholes(code)

    def _add(self, depth: int, line: str) -> None:
        self.source.lines.append(" " * depth + line)

    def _kind(self, kind: Kind) -> str:
        """What the text calls a kind."""
        if kind not in self._kinds:
            check_name(kind, self.source)
            self._kinds[kind] = f"K{len(self._kinds)}"
            self.source.names[self._kinds[kind]] = kind
        return self._kinds[kind]

    # -- operands

    def _name(self, register: int, kind: Kind) -> str:
        return f"r{register}{kind.letters}"

    def _truth(self, number: int, state: State) -> str:
        text, kind = self._operand(number, state)
        if kind != BOOL:
            raise NotNative(f"the truth of {kind.family}")
        return text

    def _operand(self, number: int, state: State) -> Operand:
        """What is read there, and its kind."""
        if number >= 0:
            kind = state.get(number)
            if kind is None:
                raise NotNative("a value that is not known to be set")
            return f"r{number}{kind.letters}", kind
        name = f"c{self._number}_{-1 - number}"
        return self._constant(name, self.code.constants[-1 - number])

    def _constant(self, name: str, value: object) -> Operand:
        """A value that is known beforehand; a list is made once in a call."""
        if value is None:
            return "None", NONE
        if isinstance(value, bool):
            return str(value), BOOL
        if isinstance(value, int) and -_LARGEST <= value <= _LARGEST:
            return f"({value})", INT
        if isinstance(value, float | str):
            self.source.names[name] = value
            return name, _SCALARS_OF[type(value)]
        if isinstance(value, complex):
            self.source.names[f"{name}_0"], self.source.names[f"{name}_1"] = value.real, value.imag
            return f"c128_of({name}_0, {name}_1)", COMPLEX
        if isinstance(value, EnumMember):
            kind = kind_of(value.enum)
            at = [name for name, _ in value.enum.members].index(value.name)
            return f"as_kind({self._kind(kind)}, {at})", kind
        if isinstance(value, list | tuple) and value:
            parts = [self._constant(f"{name}_{place}", each) for place, each in enumerate(value)]
            kinds = [kind for _, kind in parts]
            given = ", ".join(text for text, _ in parts)
            if isinstance(value, list) and set(kinds) == {kinds[0]}:
                return self._once(name, f"list_of({self._kind(kinds[0])}, {given})"), list_of(
                    kinds[0]
                )
            if isinstance(value, tuple):
                kind = kind_of(value.type) if isinstance(value, NamedValues) else tuple_of(kinds)
                return self._as(f"make_tuple({given})", tuple_of(kinds), kind), kind
        raise NotNative(f"a constant {type(value).__name__}")

    def _once(self, name: str, text: str) -> str:
        line = f" {name} = {text}"
        if line not in self._first:
            self._first.append(line)
        return name

    def _as(self, text: str, kind: Kind, wanted: Kind) -> str:
        """A value as one of another kind.

        Raises:
            NotNative: it is none.
        """
        if kind == wanted:
            return text
        if kind == NONE and not is_convertible(NONE, wanted):  # never given a value, and never read
            return f"zero({self._kind(wanted)})"
        if not is_convertible(kind, wanted):
            raise NotNative(f"{kind.family} for {wanted.family}")
        return f"converted({self._kind(wanted)}, {text})"

    def _convert(self, register: int, kind: Kind, wanted: Kind, depth: int, state: State) -> None:
        """Have a register hold a value of another kind."""
        text = "None" if kind == NONE else self._name(register, kind)
        self._put(register, wanted, self._as(text, kind, wanted), depth, state)

    def _operands(self, step: Step, state: State) -> list[Operand]:
        """What an instruction reads, refined as the types of its node's inputs say."""
        found = [self._operand(number, state) for number in read_numbers(step.instruction)]
        inputs = step.node.inputs
        if len(inputs) != len(found):
            return found
        return [
            self._refined(operand, value.type) for operand, value in zip(found, inputs, strict=True)
        ]

    def _refined(self, operand: Operand, type: Type) -> Operand:
        """Operand whose type says whether it may be None here, or of which kinds it may be."""
        text, kind = operand
        if type == ANY:
            return operand
        if kind.family == "union":
            wanted = kind_of(type)
            if wanted == NONE:
                return "None", NONE
            return self._as(text, kind, wanted), wanted
        if kind.family != "optional" or type.optional_of is not None or type.is_choice:
            return operand
        return ("None", NONE) if type == NONE_TYPE else (f"the({text})", kind.parts[0])

    # -- steps

    def _step(self, step: Step, depth: int, state: State) -> None:
        name = row(step.instruction).name
        write = getattr(self, f"_write_{name}", None)
        try:
            if write is not None:
                write(step, depth, state)
            elif name != "free":
                self._compute(step, depth, state)
        except NotNative as error:
            if error.args and "line " not in str(error):
                span = step.node.span.original or step.node.span
                raise NotNative(f"{error} (line {span.line})") from None
            raise

    def _put(self, to: int, kind: Kind, text: str, depth: int, state: State) -> None:
        self._add(depth, f"{self._name(to, kind)} = {text}")
        state[to] = kind

    def _write_move(self, step: Step, depth: int, state: State) -> None:
        to, number = _numbers(step)
        text, kind = self._operand(number, state)
        if kind != NONE:
            self._add(depth, f"{self._name(to, kind)} = {text}")
        state[to] = kind

    def _write_return(self, step: Step, depth: int, state: State) -> None:
        ((text, kind),) = self._operands(step, state)
        inputs = step.node.inputs
        wanted = self.source.result
        if wanted is None:
            wanted = kind_of(inputs[0].type) if len(inputs) == 1 else kind
        self.source.result = wanted
        self._add(depth, f"return {self._as(text, kind, wanted)}")

    # -- tuples, lists, dicts

    def _write_unpack(self, step: Step, depth: int, state: State) -> None:
        _, targets, _ = step.instruction
        assert isinstance(targets, tuple)
        ((text, kind),) = self._operands(step, state)
        if kind.family != "tuple":
            raise NotNative(f"parts of {kind.family}")
        self._spread(targets, kind, text, depth, state)

    def _spread(
        self, targets: Sequence[int], kind: Kind, text: str, depth: int, state: State
    ) -> None:
        results = [self._name(to, each) for to, each in zip(targets, kind.parts, strict=True)]
        if results:
            self._add(depth, f"{', '.join(results)}, = {text}")
        state.update(zip(targets, kind.parts, strict=True))

    def _write_unpack_list(self, step: Step, depth: int, state: State) -> None:
        _, targets, _, count = step.instruction
        assert isinstance(targets, tuple)
        ((text, kind),) = self._operands(step, state)
        self._add(depth, f"if len({text}) != {count}: fail()")
        for place, to in enumerate(targets):
            self._put(to, kind.element, f"{text}[{place}]", depth, state)

    def _write_item(self, step: Step, depth: int, state: State) -> None:
        to, _, place = _numbers(step)
        text, kind = self._first_operand(step, state)
        if kind.family != "tuple":
            raise NotNative(f"a part of {kind.family}")
        self._put(to, kind.parts[place], f"{text}[{place}]", depth, state)

    def _write_slice(self, step: Step, depth: int, state: State) -> None:
        _, to, _, start, end = step.instruction
        text, kind = self._first_operand(step, state)
        assert isinstance(to, int)
        assert isinstance(start, int | None)
        assert isinstance(end, int | None)
        places = range(len(kind.parts))[start:end]
        if kind.family != "tuple" or not places:
            raise NotNative("an empty tuple")
        parts = ", ".join(f"{text}[{place}]" for place in places)
        made = tuple_of([kind.parts[place] for place in places])
        self._put(to, made, f"make_tuple({parts})", depth, state)

    def _first_operand(self, step: Step, state: State) -> Operand:
        """The operand of an instruction that reads one, and whose node may have constants too."""
        (number,) = read_numbers(step.instruction)
        return self._refined(self._operand(number, state), step.node.inputs[0].type)

    def _write_list(self, step: Step, depth: int, state: State) -> None:
        if not step.node.outputs:  # what has warned; at a warning native code gives up
            return
        operands, target = self._made(step, state)
        kind = list_of(ARRAY) if lists_tensors(step.node) else kind_of(step.node.output.type)
        texts = [self._as(text, each, kind.element) for text, each in operands]
        self._put(
            target, kind, f"list_of({', '.join([self._kind(kind.element), *texts])})", depth, state
        )

    def _write_tuple(self, step: Step, depth: int, state: State) -> None:
        operands, target = self._made(step, state)
        if not operands:
            raise NotNative("an empty tuple")
        given = tuple_of([kind for _, kind in operands])
        try:
            wanted = kind_of(step.node.output.type)
        except NotNative:  # the end of a function with several results
            wanted = given
        if not is_convertible(given, wanted):
            wanted = given
        parts = [
            self._as(text, kind, part)
            for (text, kind), part in zip(operands, wanted.parts, strict=True)
        ]
        text = f"make_tuple({', '.join(parts)})"
        self._put(target, wanted, self._as(text, tuple_of(wanted.parts), wanted), depth, state)

    _write_named = _write_tuple

    def _write_dict(self, step: Step, depth: int, state: State) -> None:
        operands, target = self._made(step, state)
        kind = kind_of(step.node.output.type)
        texts = [self._as(text, each, kind.parts[i % 2]) for i, (text, each) in enumerate(operands)]
        text = f"new_dict({self._kind(kind.key)}, {self._kind(kind.value)})"
        self._put(target, kind, text, depth, state)
        for key, value in zip(texts[::2], texts[1::2], strict=True):
            self._add(depth, f"{self._name(target, kind)}[{key}] = {value}")

    def _made(self, step: Step, state: State) -> tuple[list[Operand], int]:
        """The operands of what makes a value, and where it goes."""
        target = _target(step)
        assert isinstance(target, int)
        return self._operands(step, state), target

    # -- objects and enumerations

    def _write_create(self, step: Step, depth: int, state: State) -> None:
        to, number = _numbers(step)
        kind = kind_of(self.code.types[number])
        attribute_kinds(kind, self.source)
        self._put(to, kind, f"new_object({self._kind(kind)})", depth, state)

    def _write_get_slot(self, step: Step, depth: int, state: State) -> None:
        to, _, slot = _numbers(step)
        text, kind = self._first_operand(step, state)
        found = self._slot(step.node, kind, slot)
        is_read = is_keepable(found) and is_only_read(step.node.output)
        site = kind.name, slot
        self.source.kept[site] = is_read and self.source.kept.get(site, True)
        self._put(to, found, f"attribute({text}, {slot})", depth, state)

    def _write_set_slot(self, step: Step, depth: int, state: State) -> None:
        _, slot, _ = _numbers(step)
        (text, kind), (given, given_kind) = self._operands(step, state)
        wanted = self._slot(step.node, kind, slot)
        self.source.kept[kind.name, slot] = False
        value = self._as(given, given_kind, wanted)
        self._add(depth, f"set_attribute({text}, {slot}, {value})")

    def _slot(self, node: Node, kind: Kind, slot: int) -> Kind:
        """The kind of an attribute."""
        found = NONE
        if kind.family == "object":
            found = attribute_kinds(kind, self.source)[slot]
        if found == NONE:
            raise NotNative(f"the attribute `{node.attributes.get('name')}`")
        self.source.slots[kind.name].add(slot)
        return found

    _write_get_tensor, _write_set_tensor = _write_get_slot, _write_set_slot

    def _write_enum_name(self, step: Step, depth: int, state: State) -> None:
        self._members(step, depth, state, [name for name, _ in _enum(step).members])

    def _write_enum_value(self, step: Step, depth: int, state: State) -> None:
        self._members(step, depth, state, [value for _, value in _enum(step).members])

    def _members(self, step: Step, depth: int, state: State, values: Sequence[object]) -> None:
        """What members of an enumeration have, found by their place."""
        to, _ = _numbers(step)
        text, kind = self._first_operand(step, state)
        name = f"m{len(self.source.names)}"
        known = [self._constant(f"{name}_{i}", value) for i, value in enumerate(values)]
        found = known[-1][1]
        if len({each for _, each in known}) > 1 or len(known) > _MOST_MEMBERS:
            raise NotNative(f"members of {kind.name}")
        chosen = known[-1][0]
        for place, (each, _) in reversed(list(enumerate(known[:-1]))):
            chosen = f"({each} if place_of({text}) == {place} else {chosen})"
        self._put(to, found, chosen, depth, state)

    # -- None

    def _write_is(self, step: Step, depth: int, state: State) -> None:
        to, *numbers = _numbers(step)
        operands = [self._operand(number, state) for number in numbers]
        text = _is_none(operands) if NONE in (kind for _, kind in operands) else None
        if text is None:
            raise NotNative("`is` of values")
        self._put(to, BOOL, text, depth, state)

    def _write_is_not(self, step: Step, depth: int, state: State) -> None:
        self._write_is(step, depth, state)
        to = _numbers(step)[0]
        self._put(to, BOOL, f"not {self._name(to, BOOL)}", depth, state)

    def _write_is_instance(self, step: Step, depth: int, state: State) -> None:
        _, to, number, types = step.instruction
        assert isinstance(to, int)
        assert isinstance(number, int)
        assert isinstance(types, tuple)
        text, kind = self._operand(number, state)
        wanted = [kind_of(self.code.types[each]) for each in types]
        if kind.family == "union":
            wanted += [part for each in wanted if each.family == "optional" for part in each.parts]
            places = [str(at) for at, part in enumerate(kind.parts) if part in wanted]
            found = f"is_choice({', '.join([text, *places])})"
        elif kind.family != "optional":
            found = str(kind in wanted)
        elif kind.parts[0] in wanted:
            found = "True" if NONE in wanted else f"has({text})"
        else:
            found = f"not has({text})" if NONE in wanted else "False"
        self._put(to, BOOL, found, depth, state)

    # -- operators

    def _compute(self, step: Step, depth: int, state: State) -> None:
        """An operator, by the first of its native forms that takes these operands."""
        called = step.node.signature
        entry = None if called is None else TABLE.operator(called.full_name)
        if entry is None:
            raise NotNative(f"`{step.node.kind}`")
        self._apply(step, self._operands(step, state), depth, state)

    def _apply(self, step: Step, operands: list[Operand], depth: int, state: State) -> None:
        try:
            form, known = self._form(step, operands)
        except NotNative:
            for place, (text, kind) in enumerate(operands):
                if kind.family == "optional":
                    self._split(step, operands, place, text, depth, state)
                    return
            if not self._call_out(step, operands, depth, state):
                raise
            return
        self._write_form(step, form, known, operands, depth, state)

    def _call_out(self, step: Step, operands: Sequence[Operand], depth: int, state: State) -> bool:
        """An operator without a form, as plans call it, unless tensors are written here, which
        lie elsewhere until the call ends; whether that may be."""
        assert step.node.signature is not None
        entry, target = TABLE.of(step.node.signature), _target(step)
        if target is None or self._written or self.source.written:
            return False
        types = [each.type for each in step.node.inputs]
        results = results_of(entry, [kind for _, kind in operands], types)
        if results is None:
            return False
        word = f"{CALLED}{entry.full_name}"
        self.source.outer[word] = direct_form(entry)
        made = results[0] if isinstance(target, int) else tuple_of(results)
        given = ", ".join(text for text, _ in operands)
        text = f'called_out(zero({self._kind(made)}), python("{word}"), make_tuple({given}))'
        if isinstance(target, int):
            self._put(target, made, text, depth, state)
        else:
            self._spread(target, made, text, depth, state)
        return True

    def _split(
        self, step: Step, operands: list[Operand], place: int, text: str, depth: int, state: State
    ) -> None:
        """One way for an operand that is there and one for None; the plan takes what has no form.

        Raises:
            NotNative: there is no form for a value either.
        """
        inner = operands[place][1].parts[0]
        others = operands[:place], operands[place + 1 :]
        self._add(depth, f"if has({text}):")
        after = dict(state)
        self._apply(step, [*others[0], (f"the({text})", inner), *others[1]], depth + 1, after)
        self._add(depth, "else:")
        lines = len(self.source.lines)
        without = dict(state)
        try:
            self._apply(step, [*others[0], ("None", NONE), *others[1]], depth + 1, without)
        except NotNative:
            without = after
        if without != after:
            raise NotNative("results of two kinds")
        if without is after:
            del self.source.lines[lines:]
            self._add(depth + 1, "fail()")
        state.update(after)

    def _write_form(
        self,
        step: Step,
        form: Native,
        known: Known,
        operands: list[Operand],
        depth: int,
        state: State,
    ) -> None:
        assert step.node.signature is not None
        entry = TABLE.of(step.node.signature)
        cell = getattr(entry, "cell", None)
        if cell is not None:  # an operator of a user's, which is a C function
            self.source.outer[f"foreign {entry.full_name}"] = cell
        if form.gives == "written" or (entry.is_in_place and operands[0][1].family == "array"):
            self.source.written.append(entry.name)
        if form.orders:
            self._order(operands[0][1].element)
        texts = [text for text, _ in operands]
        target = _target(step)
        for check in form.given:
            self._check(check.format(*texts), depth)
        told = kind_of(step.node.output.type) if form.gives == "told" else NONE
        kind = "" if told == NONE else self._kind(told)
        text = form.text.format(*texts, all=", ".join(texts), kind=kind)
        if form.gives == "made" and not self._written.isdisjoint(step.node.outputs):
            text = f"array_writable({text})"
        if target is None:
            self._add(depth, text)
            return
        if form.gives == "written":
            text = self._as(text, operands[0][1], ARRAY)
        if form.gives:
            results = [_GIVEN.get(form.gives, told)] * len(entry.signature.returns)
        else:
            results = [bound(each.type, known) for each in entry.signature.returns]
        if not isinstance(target, int):
            self._spread(target, tuple_of(results), text, depth, state)
            return
        if form.writes:
            raise NotNative(f"what `{entry.name}` gives")
        self._put(target, results[0], text, depth, state)
        if form.then:
            self._check(form.then.format(*texts, result=self._name(target, results[0])), depth)

    def _order(self, kind: Kind) -> None:
        """Have values of a kind compared, if they can be."""
        raise NotImplementedError

    def _check(self, condition: str, depth: int) -> None:
        if not _OF_CONSTANT.fullmatch(condition):
            self._add(depth, f"if not ({condition}): fail()")

    def _form(self, step: Step, operands: list[Operand]) -> tuple[Native, Known]:
        """The form of an operator for operands, which are made to fit it."""
        assert step.node.signature is not None
        entry = TABLE.of(step.node.signature)
        kinds = [kind for _, kind in operands]
        for form in forms_at(entry, step.node):
            known = matches(form, entry.signature, kinds)
            if known is not None and all(operands[at][0] == each for at, each in form.at.items()):
                if not form.of:
                    self._fit(entry.signature.arguments, known, operands)
                return form, known
        given = ", ".join(map(shown, kinds))
        raise NotNative(f"`{entry.name}` of {given or 'nothing'}")

    def _fit(self, arguments: Sequence[Argument], known: Known, operands: list[Operand]) -> None:
        """Make operands be what type variables stand for."""
        for place, ((text, kind), argument) in enumerate(zip(operands, arguments, strict=False)):
            variable = argument.type.variable
            if variable is not None and kind != known[variable]:
                operands[place] = self._as(text, kind, known[variable]), known[variable]


_OF_CONSTANT = re.compile(r"\((?!0\))-?\d+\) != 0|\((?!-1\))-?\d+\) != -1 or .*")
"""Checks of a constant divisor that always hold."""


def _is_none(operands: Sequence[Operand]) -> str:
    """Whether one of two values, the other of which is None, is None."""
    kinds = [kind for _, kind in operands]
    if kinds == [NONE, NONE]:
        return "True"
    text, kind = operands[kinds[0] == NONE]
    if kind.family == "union" and NONE in kind.parts:
        return f"is_choice({text}, {kind.parts.index(NONE)})"
    return f"not has({text})" if kind.family == "optional" else "False"


def _enum(step: Step) -> EnumType:
    type = step.node.inputs[0].type
    if not isinstance(type, EnumType):
        raise NotNative("a member of an unknown enumeration")
    return type


def _target(step: Step) -> int | Sequence[int] | None:
    """The registers that a step writes; None if there are none."""
    kinds = row(step.instruction).kinds
    written = step.instruction[1] if kinds[0] in ("R", "R*") else ()
    if isinstance(written, int):
        return written
    assert isinstance(written, tuple)
    return written or None


def _numbers(step: Step) -> list[int]:
    """The operands of an instruction all of which are numbers."""
    numbers = []
    for each in step.instruction[1:]:
        assert isinstance(each, int)
        numbers.append(each)
    return numbers

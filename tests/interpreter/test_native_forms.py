"""Every form in which native code writes an operator gives what its forward gives: the same values
of the same types, and the same changes; where the forward fails, it gives up."""

from __future__ import annotations

import ast
import itertools
import marshal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.machine import Machine, MachineFailure
from rushlight.interpreter.native.program import FAILED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.ir.graphs.graph import Graph, Value
from rushlight.ops.arithmetic.scalar import wrap64
from rushlight.ops.table.inline import Native
from rushlight.ops.table.record import Operator
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    DictType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    VariableType,
)
from tests.interpreter.test_written_out import concrete, constant, no_calls

WORDS: dict[str, Type] = {"int": INT, "float": FLOAT, "bool": BOOL, "str": STRING}

VALUES: dict[Type, list[Any]] = {
    INT: [0, 1, -1, 2, 7, -4, 63, 2**31, 2**53 + 1, -(2**62) - 1, 2**63 - 1, -(2**63)],
    FLOAT: [0.0, -0.0, 1.0, -1.5, 7.25, 2.0**53, 1e308, -5e-324, *map(float, ("inf", "nan"))],
    COMPLEX: [0j, complex(-0.0, 0.0), 1 + 2j, -1.5j, complex("inf"), complex("nan+1j"), 1e308j],
    BOOL: [False, True],
    STRING: ["", "abc", "b", " Ab\t1 ", "né", "a,b,,c", "42"],
}
FEW: dict[Type, list[Any]] = {
    INT: [0, 1, -1, 3, -4],
    FLOAT: [1.5, -0.0, float("nan"), 0.0],
    COMPLEX: [0j, 2 - 1j, complex(3.0, float("nan"))],
    BOOL: [False, True],
    STRING: ["", "abc", "b", ",", "é"],
}


def samples(type: Type, few: bool) -> list[Any]:
    """Values of a type."""
    if isinstance(type, OptionalType):
        return [None, *samples(type.element, few)]
    if isinstance(type, ListType):
        values = samples(type.element, True)
        return [[], values, values[:1] * 3, [*values[::-1], *values, *values[1:], *values]]
    if isinstance(type, DictType):
        keys = [key for key in samples(type.key, True) if key == key]
        values = samples(type.value, True)
        return [{}, dict(zip(keys, itertools.cycle(values), strict=False)), {keys[0]: values[1]}]
    if isinstance(type, TupleType):
        parts = [samples(each, True) for each in type.elements]
        return list(itertools.islice(itertools.product(*parts), 0, None, 3))
    return (FEW if few else VALUES)[type]


@dataclass(frozen=True)
class Way:
    """A form on operands of certain types."""

    entry: Operator
    form: Native
    types: tuple[Type, ...]

    @property
    def results(self) -> list[Type]:
        returns = self.entry.signature.returns
        return [] if self.form.writes else [concrete(each.type) for each in returns]

    @property
    def given(self) -> list[Type]:
        """The operands that are no constants."""
        return [each for i, each in enumerate(self.types) if i not in self.form.at]


def ways_of(entry: Operator, form: Native) -> Iterator[Way]:
    if form.of:
        for words in form.of:
            if all(word in WORDS for word in words.split()) and may_take(entry, words):
                yield Way(entry, form, tuple(WORDS[word] for word in words.split()))
        return
    for types in itertools.product(*(choices_for(each.type) for each in entry.signature.arguments)):
        yield Way(entry, form, types)


def choices_for(wanted: Type) -> list[Type]:
    """The types of an operand: of what may be None all three, unless None says too little."""
    type = concrete(wanted)
    if not isinstance(type, OptionalType):
        return [type]
    has_variable = isinstance(wanted, OptionalType) and isinstance(wanted.element, VariableType)
    return [type.element, type, *([] if has_variable else [NONE])]


def may_take(entry: Operator, words: str) -> bool:
    given = zip(entry.signature.arguments, words.split(), strict=True)
    return returns_known(entry) and all(
        argument.type in (WORDS[word], NUMBER)
        or isinstance(argument.type, VariableType | OptionalType)
        for argument, word in given
    )


def returns_known(entry: Operator) -> bool:
    return all(each.type != NUMBER for each in entry.signature.returns)


def _chosen() -> Iterator[tuple[Operator, Native]]:
    """Of forms that are alike, for operators of one name, the first two and the last."""
    alike: dict[tuple[str, str], list[tuple[Operator, Native]]] = {}
    for entry in TABLE:
        for form in entry.native:
            if form.text != "fail()" and not any(
                word in f"{entry.schema} {form.of}" for word in ("Any", "...", "Tensor", "array")
            ):
                alike.setdefault((entry.name, form.text), []).append((entry, form))
    for each in alike.values():
        yield from each if len(each) <= 3 else (*each[:2], each[-1])


FORMS = list(_chosen())
NAMES = sorted({entry.name for entry, _ in FORMS})


def goes(graph: Graph, way: Way, parameters: Sequence[Value]) -> Value:
    """Write a way down; what it gives, and what it was given and may have changed."""
    rest = iter(parameters)
    operands = [
        constant(graph, None if type == NONE else ast.literal_eval(way.form.at.get(i, "0")), type)
        if i in way.form.at or type == NONE
        else next(rest)
        for i, type in enumerate(way.types)
    ]
    node = graph.create(way.entry.name, operands, way.results, signature=way.entry.signature)
    graph.insert(node)
    first = operands[0]
    if not way.results:
        return first
    given = TupleType((*way.results, first.type))
    operands = [*node.outputs, first]
    return graph.insert(graph.create("prim::TupleConstruct", operands, [given])).output


def checked(way: Way) -> bool:
    """Whether native code gives what the machine gives, and some result at all."""
    graph = Graph()
    types = [type for type in way.given if type != NONE]
    parameters = [graph.add_input(type) for type in types]
    graph.block.add_output(goes(graph, way, parameters))
    code = assemble(graph)
    source = write_native(code, types)
    run, machine = compile_native(source), Machine(code, no_calls)
    never, done = np.zeros(1, np.int64), False
    few = way.entry.name == "prim::rangelist"  # which takes memory
    choices = [samples(type, few or place > 0) for place, type in enumerate(types)]
    for values in itertools.product(*choices):
        arguments, own = list(copied(values)), list(copied(values))
        found = run(1 << 60, never.ctypes.data, 0, *own)
        try:
            expected = exact(in_64_bits(machine.run(arguments)))
        except MachineFailure:
            assert found is FAILED, (way, values)
            continue
        if found is FAILED:
            assert exact(own) == exact(list(values)), (way, values)
            continue
        done = True
        assert exact(found) == expected, (way, values)
        assert exact(own) == exact(arguments), (way, values)
    return done


def exact(value: Any) -> bytes:
    """What must be equal of results: their types, their order, each bit of their numbers."""
    return marshal.dumps(value, 2)  # later formats tell apart who holds the same object


def copied(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        yield value.copy() if isinstance(value, (list, dict)) else value


def in_64_bits(value: Any) -> Any:
    """Numbers of ranges are not beyond 64 bits, so nothing looks; native code has no others."""
    if isinstance(value, tuple):
        return tuple(map(in_64_bits, value))
    return wrap64(value) if type(value) is int else value


@pytest.mark.parametrize("name", NAMES)
def test_forms_in_native_code(name: str) -> None:
    tried: dict[str, bool] = {}
    for entry, form in FORMS:
        if entry.name == name:
            done = [checked(way) for way in ways_of(entry, form)]
            tried[form.text] = tried.get(form.text, False) or any(done)
    assert [text for text, is_done in tried.items() if not is_done] == []

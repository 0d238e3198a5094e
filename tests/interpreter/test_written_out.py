"""Every form in which an operator is written out gives what its forward gives: the same bits,
types, strides, changes and errors."""

from __future__ import annotations

import ast
import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import rushlight
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.machine import Machine, MachineFailure
from rushlight.interpreter.failures.errors import Failure
from rushlight.interpreter.native.native import _change, compile_native
from rushlight.interpreter.native.source import DONE, FAILED, write_native
from rushlight.interpreter.plans.plan import Plan, make_plan
from rushlight.ir.constants import create_constant
from rushlight.ir.graph import Graph, Value
from rushlight.ops.arithmetic.scalar import wrap64
from rushlight.ops.memory.unforeseen import told
from rushlight.ops.table.inline import NAMES, SHORT, Inline, Native
from rushlight.ops.table.record import Operator
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types import (
    BOOL,
    FLOAT,
    INT,
    NUMBER,
    STRING,
    TENSOR,
    DictType,
    ListType,
    OptionalType,
    Type,
    VariableType,
)

for _name in TABLE.names():
    TABLE.operators(_name)

INTS = [0, 1, -1, 2, 7, -4, 63, 2**31, 2**53 + 1, -(2**62) - 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 7.25, 2.0**53, 1e308, -5e-324, math.inf, -math.inf, math.nan]
TEXTS = ["", "abc", "né日", "b"]

F32 = np.float32
ARRAYS = [
    np.array(2.5, F32),
    np.array([1.5, -0.0, np.nan], F32),
    np.array([[1, 2, 3]], F32),
    np.arange(9, dtype=F32).reshape(3, 3).T,
    np.zeros((0, 3), F32),
    np.zeros((3, 2), F32)[:, :0],
    np.ones((2, 3, 3), F32)[::-1],
    np.array([1, 2, 3], np.float64),
    np.array([[1, -2, 3]] * 3, np.int64),
    np.array(7, np.int64),
    np.array([True, False, True]),
    np.array([True]),
    np.array([200, 100, 1], np.uint8),
    np.array([1 + 2j, 0, -1j], np.complex64),
    np.array([1.5, -2, 3], ml_dtypes.bfloat16),
    rushlight.quantize_per_tensor(rushlight.tensor([[1.0, 2, 3]]), 0.5, 1, rushlight.quint8)._array,
]
"""Of each layout and dtype some."""

TYPES: dict[str, Type] = {"int": INT, "float": FLOAT, "bool": BOOL, "Scalar": NUMBER}


def concrete(type: Type) -> Type:
    """A type of a schema with `t` being `int`."""
    if isinstance(type, VariableType):
        return INT
    return type.with_contained(tuple(map(concrete, type.contained))) if type.contained else type


def takes(entry: Operator, words: str) -> bool:
    """Whether an operator takes operands of the types that a form says it is for."""
    given = zip(entry.signature.arguments, words.split(), strict=True)
    return all(argument.type in (TYPES[word], NUMBER) for argument, word in given)


def samples(type: Type) -> Sequence[Any]:
    """Values of a type."""
    if isinstance(type, OptionalType):
        return [None, *samples(type.element)]
    if isinstance(type, DictType):
        keys = samples(type.key)[:3]
        return [{}, dict(zip(keys, (5, 6, 7), strict=False))]
    if type == ListType(TENSOR):
        return [[], ARRAYS[1:2], [ARRAYS[1], ARRAYS[1]], [ARRAYS[1], ARRAYS[2]], [ARRAYS[6]] * 2]
    if isinstance(type, ListType):
        return [[], [3, 1, 2]]
    return {
        INT: INTS,
        FLOAT: FLOATS,
        BOOL: [False, True],
        NUMBER: [*INTS, *FLOATS, True, 2j],
        STRING: TEXTS,
        TENSOR: ARRAYS,
    }[type]


def exact(value: Any, given: Sequence[Any] = ()) -> Any:
    """What must be equal of results."""
    if isinstance(value, np.ndarray):
        shares = any(isinstance(g, np.ndarray) and np.may_share_memory(g, value) for g in given)
        place = value.ctypes.data if shares else None
        return type(value), value.dtype, value.shape, value.strides, value.tobytes(), place
    if isinstance(value, (list, tuple)):
        return type(value), [exact(each, given) for each in value]
    if isinstance(value, dict):
        return type(value), [(exact(k), exact(v)) for k, v in value.items()]
    return type(value), struct.pack("d", value) if isinstance(value, float) else value


def outcome(run: Callable[..., Any], values: Sequence[Any]) -> Any:
    """What a call gives and what it has changed, or how it fails."""
    own = [deepcopy(v) if isinstance(v, (list, dict)) else v for v in values]
    with np.errstate(all="ignore"):
        try:
            result = run(*own)
        except Exception as error:
            return type(error), str(error)
    return exact(result, own), [exact(v) for v in own if not isinstance(v, np.ndarray)]


def running(plan: Plan) -> Callable[..., Any]:
    """A plan that raises what users are told."""

    def run(*values: Any) -> Any:
        try:
            return plan.run(*values)
        except Exception as error:
            raise Failure.in_plan(error, plan).cause from None

    return run


def told_of(entry: Operator, error: Exception) -> Exception:
    """What users are told of an error of an operator's forward."""
    types = [a.type for a in (*entry.signature.arguments, *entry.signature.returns)]
    over_tensors = {TENSOR, ListType(TENSOR)}.intersection(types)
    return told(error, entry.name) if over_tensors else error


def constant(graph: Graph, value: Any, type: Type) -> Value:
    return graph.insert(create_constant(graph, value, type)).output


def no_calls(target: Any, values: Any) -> Any:
    raise AssertionError("nothing is called here")


# --------------------------------------------------------------------------- plans

NUMBERS: list[float] = [0.1, -0.0, 0, 3, -7, 1e300, 16777217]


def plan_types(entry: Operator, form: Inline) -> list[Type]:
    if form.of:
        return [TYPES[word] for word in form.of.split()]
    return [concrete(argument.type) for argument in entry.signature.arguments]


def planned(entry: Operator, form: Inline, constants: dict[int, Any]) -> Plan:
    """A plan of one operator, some operands being constants."""
    graph = Graph()
    inputs = [
        constant(graph, constants[i], FLOAT if type(constants[i]) is float else INT)
        if i in constants
        else graph.add_input(each)
        for i, each in enumerate(plan_types(entry, form))
    ]
    results = entry.signature.returns
    outputs = [concrete(results[0].type)] if results else []
    node = graph.insert(graph.create(entry.name, inputs, outputs, signature=entry.signature))
    graph.block.add_output(inputs[0] if form.writes else node.output)
    plan = make_plan(assemble(graph), no_calls)
    assert plan is not None
    assert "= o0(" not in plan.text, "the form is not taken"
    return plan


PLAN_FORMS = [
    (entry, form)
    for entry in TABLE
    for form in entry.inline
    if "{p}" not in form.text or entry.on_arrays is not None
    if not form.of or takes(entry, form.of)
]


@pytest.mark.parametrize(
    ("entry", "form"), PLAN_FORMS, ids=lambda part: getattr(part, "full_name", "")
)
def test_forms_in_plans(entry: Operator, form: Inline) -> None:
    types = plan_types(entry, form)
    for number in NUMBERS if "{k}" in form.text else [None]:
        constants = {
            place: 7 if text is SHORT else ast.literal_eval(text) for place, text in form.at.items()
        }
        if number is not None:
            constants[1] = number
        run = running(planned(entry, form, constants))

        def forward(*values: Any, constants: dict[int, Any] = constants) -> Any:
            rest = iter(values)
            every = [constants[i] if i in constants else next(rest) for i in range(len(types))]
            try:
                result = entry.forward(*every)
            except Exception as error:
                raise told_of(entry, error) from None
            return every[0] if form.writes else result

        given = [samples(type) for i, type in enumerate(types) if i not in constants]
        for values in itertools.product(*given):
            assert outcome(run, values) == outcome(forward, values), values


def test_a_name_means_the_same_in_all_forms() -> None:
    meanings: dict[str, object] = dict(NAMES)
    for _, form in PLAN_FORMS:
        for name, meaning in form.names.items():
            assert meanings.setdefault(name, meaning) is meaning


LARGE_ARRAYS = [
    np.arange(40000, dtype=F32).reshape(200, 200),
    np.full(200, 0.5, F32),
    np.ones((), F32),
]


@pytest.mark.parametrize(
    ("entry", "form"),
    [(entry, form) for entry, form in PLAN_FORMS if form.over is not None],
    ids=lambda part: getattr(part, "full_name", ""),
)
def test_forms_over_an_operand_that_is_not_needed_again(entry: Operator, form: Inline) -> None:
    graph = Graph()
    first = graph.add_input(TENSOR)
    negated = TABLE.operator("aten::neg")
    assert negated is not None
    made = graph.insert(graph.create("aten::neg", [first], signature=negated.signature)).output
    number = "{k}" in form.text
    inputs = [made, constant(graph, 0.1, FLOAT) if number else graph.add_input(TENSOR)]
    inputs += [constant(graph, 1, INT) for _ in entry.signature.arguments[2:]]
    node = graph.insert(graph.create(entry.name, inputs, signature=entry.signature))
    graph.block.add_output(node.output)
    plan = make_plan(assemble(graph), no_calls)
    assert plan is not None
    assert f"reuse({form.over.__name__}, " in plan.text

    def forward(a: Any, b: Any = 0.1) -> Any:
        return entry.forward(negated.forward(a), b, *[1] * (len(inputs) - 2))

    for values in itertools.product(LARGE_ARRAYS, repeat=1 if number else 2):
        assert outcome(running(plan), values) == outcome(forward, values)


# --------------------------------------------------------------------------- native code

ROWS = ListType(ListType(INT))
PARAMETERS: dict[str, Type] = {
    f"{type}{place}": type for type in (INT, FLOAT, BOOL) for place in range(3)
} | {"int[]0": ListType(INT), "int[][]0": ROWS}
LISTS: dict[str, list[Any]] = {"int[]0": [[], [3, 1, 2]], "int[][]0": [[], [[4, 5], [], [6]]]}


OTHERS = {
    name: LISTS[name][1] if name in LISTS else samples(PARAMETERS[name])[1] for name in PARAMETERS
}
"""Arguments that do not matter."""


@dataclass(frozen=True)
class Way:
    """A form on operands of certain types; `made` says of how many elements lists are made inside,
    None that they are arguments."""

    entry: Operator
    form: Native
    types: tuple[Type, ...]
    made: int | None = None

    @property
    def is_of_row(self) -> bool:
        """Whether the result is a list from outside, of which an element is asked then."""
        return self.form.lists == "rows" and self.entry.signature.returns[0].type != INT

    @property
    def result(self) -> Type:
        if self.form.writes:
            return self.types[0]
        return INT if self.is_of_row else concrete(self.entry.signature.returns[0].type)

    @property
    def used(self) -> list[str]:
        """The parameters that matter."""
        names = [f"{type}{i}" for i, type in enumerate(self.types) if i not in self.form.at]
        if self.made is not None:
            names = [f"int{i}" for i in range(3)]
        return names + ["int2"] * self.is_of_row


def ways_of(entry: Operator, form: Native) -> Iterator[Way]:
    if form.of and "[]" not in form.of[0]:
        for words in form.of:
            if takes(entry, words):
                yield Way(entry, form, tuple(TYPES[word] for word in words.split()))
        return
    types = tuple(concrete(argument.type) for argument in entry.signature.arguments)
    if not isinstance(types[0], ListType):
        yield Way(entry, form, types)
        return
    if form.lists != "rows":
        yield Way(entry, form, types, 3)
        yield Way(entry, form, types, 0)
    if form.lists != "made":
        yield Way(entry, form, (ROWS if form.lists == "rows" else types[0], *types[1:]))


NATIVE_WAYS = [
    way
    for entry in TABLE
    for form in entry.native
    if "complex" not in entry.schema and "Any" not in entry.schema
    for way in ways_of(entry, form)
]


def values_of(name: str, way: Way) -> Sequence[Any]:
    if name in LISTS:
        return LISTS[name]
    values = samples(PARAMETERS[name])
    if isinstance(way.types[0], ListType):
        return [0, 1, -1, 3, -4]
    return values if len(way.used) < 3 else values[1::2]


def call(graph: Graph, name: str, inputs: list[Value], result: list[Type]) -> Value:
    entry = TABLE.operator(name)
    assert entry is not None
    node = graph.create(entry.name, inputs, result, signature=entry.signature)
    graph.insert(node)
    return node.output if result else inputs[0]


def in_64_bits(value: Any) -> Any:
    """Numbers of ranges are not beyond 64 bits, so nothing looks; native code has no others."""
    return wrap64(value) if type(value) is int else value


def goes(graph: Graph, way: Way, parameters: dict[str, Value]) -> Value:
    """Write a way down."""
    operands: list[Value] = []
    for i, type in enumerate(way.types):
        if i in way.form.at:
            operands.append(constant(graph, ast.literal_eval(way.form.at[i]), type))
        elif isinstance(type, ListType) and way.made is not None:
            elements = [parameters[f"int{i}"] for i in range(way.made)]
            operands.append(
                graph.insert(graph.create("prim::ListConstruct", elements, [type])).output
            )
        else:
            operands.append(parameters[f"{type}{i}"])
    returned = [] if way.form.writes else [ListType(INT) if way.is_of_row else way.result]
    value = call(graph, way.entry.full_name, operands, returned)
    if way.is_of_row:
        value = call(graph, "aten::__getitem__.t", [value, parameters["int2"]], [INT])
    return value


def choice(ways: Sequence[Way], empty: Any) -> Graph:
    """A graph that goes one of many ways, by its first argument."""
    graph = Graph()
    which = graph.add_input(INT)
    parameters = {name: graph.add_input(type) for name, type in PARAMETERS.items()}
    type = ways[0].result
    result = (
        constant(graph, empty, type)
        if empty is not None
        else graph.insert(graph.create("prim::ListConstruct", [], [type])).output
    )
    for number, way in enumerate(ways):
        chosen = call(graph, "aten::eq.int", [which, constant(graph, number, INT)], [BOOL])
        branch = graph.insert(graph.create("prim::If", [chosen], [type]))
        then, otherwise = branch.add_block(), branch.add_block()
        with graph.inserting_before(then.ret):
            then.add_output(goes(graph, way, parameters))
        otherwise.add_output(result)
        result = branch.output
    graph.block.add_output(result)
    return graph


@pytest.mark.parametrize(
    ("type", "empty"), [(INT, 0), (FLOAT, 0.0), (BOOL, False), (ListType(INT), None)], ids=str
)
def test_forms_in_native_code(type: Type, empty: Any) -> None:
    pytest.importorskip("numba")
    ways = [way for way in NATIVE_WAYS if way.result == type]
    code = assemble(choice(ways, empty))
    source = write_native(code, [INT, *PARAMETERS.values()])
    assert source is not None
    run, machine = compile_native(source), Machine(code, no_calls)
    never = np.zeros(1, np.int64)
    take = [_change(kind) for kind in source.arguments]
    done = set()
    for number, way in enumerate(ways):
        for values in itertools.product(*(values_of(name, way) for name in way.used)):
            given = OTHERS | dict(zip(way.used, values, strict=True))
            arguments = [number, *given.values()]
            status, result = run(
                1 << 60, never.ctypes.data, *(f(v) for f, v in zip(take, arguments, strict=True))
            )
            try:
                expected = exact(in_64_bits(machine.run(arguments)))
            except MachineFailure:
                expected = None
            if status == DONE:
                assert exact(result) == expected, (way, values)
                done.add(id(way.form))
            assert status in (DONE, FAILED)
    assert [way for way in ways if id(way.form) not in done] == []


def test_all_native_forms_are_tried() -> None:
    tried = {id(way.form) for way in NATIVE_WAYS if way.result in (INT, FLOAT, BOOL, ListType(INT))}
    assert [e for e in TABLE for form in e.native if id(form) not in tried] == []

"""Every form in which an operator is written out gives what its forward gives: the same bits,
types, strides, changes and errors."""

from __future__ import annotations

import ast
import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import rushlight
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.failures.errors import Failure
from rushlight.interpreter.plans.plan import Plan, make_plan
from rushlight.ir.graphs.constants import create_constant
from rushlight.ir.graphs.graph import Graph, Value
from rushlight.ops.memory.unforeseen import told
from rushlight.ops.table.inline import NAMES, SHORT, Inline
from rushlight.ops.table.record import Operator
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import (
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
TEXTS = ["", "abc", "né日", "b", "\udcc3", " Ab 1\n", "\x1f\x1c", "42", "-7", "٣", "9" * 19]

F32 = np.float32
ARRAYS = [
    np.array(2.5, F32),
    np.array([1.5, -0.0, np.nan], F32),
    np.array([[1, 2, 3]], F32),
    np.arange(9, dtype=F32).reshape(3, 3).T,
    np.zeros((0, 3), F32),
    np.zeros((3, 2), F32)[:, :0],
    np.ones((3, 2, 3), F32).transpose(1, 0, 2),
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
    """Whether an operator takes operands of the types that a form says it is for: whole numbers
    stand for floats, too."""
    given = zip(entry.signature.arguments, words.split(), strict=True)
    return all(
        argument.type in (TYPES[word], NUMBER) or (argument.type == FLOAT and word == "int")
        for argument, word in given
    )


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


def meetings(choices: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Values that are given together: all with all, but of two long rows each only with its like
    and with every third of the others, that of another remainder for each."""
    numbered = [list(enumerate(each)) for each in choices]
    long = [place for place, each in enumerate(choices) if len(each) > 12][:2]
    for pairs in itertools.product(*numbered):
        if len(long) == 2:
            one, other = (pairs[place][0] for place in long)
            if one != other and (one + other) % 3:
                continue
        yield tuple([value for _, value in pairs])


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
    if isinstance(value, complex):
        return type(value), struct.pack("2d", value.real, value.imag)
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
    return told(error, entry.name) if over_tensors or isinstance(error, MemoryError) else error


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
        for values in meetings(given):
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

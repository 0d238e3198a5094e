"""Tensors of few numbers that native code computes by itself: the same bits, sizes and strides as
the operators give, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.code.machine import Machine, MachineFailure
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.native.program import FAILED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ir.graphs.graph import Graph
from rushlight.ops.table.record import Operator
from rushlight.ops.table.table import TABLE
from rushlight.typecheck.types.types import BOOL, FLOAT, INT, TENSOR, TupleType, Type
from tests.interpreter.test_islands import fresh, only_islands, space_of
from tests.interpreter.test_written_out import constant, meetings, no_calls

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor

NUMBERS = [0.0, -0.0, 1.5, -2.25, 3.0, 1e-40, -7.0, 0.1, 1e30, 2.0, -0.3, 5.0]
ODD = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1.0, 1.0, -3.5]

FEW = ("small_", "array_unsqueeze", "array_reshape")


def arrays() -> Iterator[Any]:
    """Tensors of several dtypes that lie in several ways."""
    for dtype in (np.float32, np.float64, np.int64):
        row = np.clip(
            np.array(NUMBERS, np.float32), -1e30, 1e9 if dtype == np.int64 else 1e30
        ).astype(dtype)
        yield row[2].copy()
        yield row[:0]
        yield row[2:3]
        yield row[:4]
        yield row[::3]
        yield row.reshape(3, 4)
        yield row.reshape(3, 4)[:, 1:3]
        yield row.reshape(4, 3).T
        yield row.reshape(3, 4)[:, :1]
        yield row.reshape(2, 3, 2)
        yield row.reshape(3, 1, 4)[:, :, ::2]
        yield np.resize(row, (20, 20))
    yield np.array(ODD, np.float32)
    yield np.array(ODD, np.float64)[::2]
    yield np.array([[np.nan, 1], [2, np.nan]], np.float32)
    yield np.array([-0.0, 0.0, -0.0], np.float32)
    yield np.array([True, False])
    yield np.array([3, 1, 2, 1], np.int32)


OTHERS: dict[Type, list[Any]] = {
    INT: [0, 2, -1, 2**53 + 1],
    FLOAT: [0.1, -0.0, 3.0, float("nan")],
    BOOL: [False, True],
}


def ways() -> Iterator[tuple[Operator, str, list[Any]]]:
    """Operators over few tensors and numbers, the texts of their forms, and operands: types, and
    constants."""
    for entry in TABLE:
        for form in entry.native:
            if not form.text.startswith(FEW) or "index" in entry.name:
                continue
            for words in form.of or [""]:
                operands: list[Any] = []
                for place, argument in enumerate(entry.signature.arguments):
                    word = words.split()[place] if words else ""
                    if place in form.at:
                        operands.append(eval(form.at[place], {}))
                    elif word in ("int", "float", "none"):
                        operands.append({"int": INT, "float": FLOAT, "none": None}[word])
                    elif str(argument.type) == "Tensor":
                        operands.append(TENSOR)
                    elif "int[]" in str(argument.type).lower() or argument.type.list_of:
                        operands.append([-1])
                    else:
                        operands.append(argument.type)
                yield entry, form.text, operands


WAYS = list(ways())


def code_of(entry: Operator, operands: Sequence[Any]) -> tuple[Any, list[Type]]:
    """A code that gives what an operator gives."""
    graph, types = Graph(), [each for each in operands if isinstance(each, Type)]
    given = iter([graph.add_input(each) for each in types])
    values = []
    for operand, argument in zip(operands, entry.signature.arguments, strict=True):
        is_given = isinstance(operand, Type)
        values.append(next(given) if is_given else constant(graph, operand, argument.type))
    results = [each.type for each in entry.signature.returns]
    node = graph.create(entry.name, values, results, signature=entry.signature)
    graph.insert(node)
    whole = TupleType(tuple(results))
    made = graph.insert(graph.create("prim::TupleConstruct", node.outputs, [whole])).output
    graph.block.add_output(made)
    return assemble(graph), types


def exact(value: Any) -> Any:
    """What tells a result from others."""
    if isinstance(value, tuple):
        return tuple(map(exact, value))
    strides = [n for n, size in zip(value.strides, value.shape, strict=True) if size > 1]
    return value.dtype, value.shape, strides if value.size else [], value.tobytes()


@pytest.mark.parametrize("number", range(len(WAYS)), ids=[f"{e.full_name}" for e, _, _ in WAYS])
def test_small_tensors_are_those_of_the_operator(number: int) -> None:
    entry, text, operands = WAYS[number]
    code, types = code_of(entry, operands)
    if text.startswith("array_"):
        return  # parts of tensors, which do not go out
    run, machine = compile_native(write_native(code, types)), Machine(code, no_calls)
    never, done = np.zeros(1, np.int64), 0
    choices = [list(arrays()) if each == TENSOR else OTHERS[each] for each in types]
    for values in meetings(choices):
        found = run(1 << 60, never.ctypes.data, 0, *values)
        try:
            with np.errstate(all="ignore"):
                expected = machine.run(list(values))
        except MachineFailure:
            assert found is FAILED, values
            continue
        if found is not FAILED:
            done += 1
            assert exact(found) == exact(expected), values
    assert done > 5


def measured(boxes: Tensor, others: Tensor, n: int) -> tuple[int, float, list[int]]:
    order: list[int] = []
    total = 0.0
    at = 0
    for i in range(n):
        b = boxes[i % boxes.size(0)]
        low = torch.max(boxes[:, None, :2], others[None, :, :2])
        high = torch.min(boxes[:, None, 2:], others[None, :, 2:])
        wide = (high - low).clamp(min=0)
        both = wide[..., 0] * wide[..., 1]
        v, k = both[:, i % others.size(0)].max(0)
        total += float(v) + float((b[2] - b[0]) * -(b[3] / 2 - 1))
        both[int(k)] = -1.0
        at += int(both.argmax()) + int(both.argmin())
        top, where = b.topk(2)
        order.append(int(where[0]))
        order.append(int(boxes.view(-1)[at % 4] * 10))
        order.append(int(where[1]))
        if bool(top[0] > b.unsqueeze(0)[0, 1]) and float(both.max()) < 0:
            break
    return at, total, order


def carried(x: Tensor, n: int) -> float:
    best = x[0]
    total = x[1] * 0
    for i in range(n):
        if bool(x[i] > best):
            best = x[i] * 1.0
        total = total + abs(x[i] - best) * 0.1
    return float(best) + float(total)


def voted(x: Tensor, labels: Tensor, k: int) -> tuple[list[int], float]:
    votes: list[int] = []
    total = 0.0
    for i in range(x.size(0)):
        order = x[i].argsort(descending=True)
        near = x[i][order[:k]]
        for j in range(k):
            votes.append(int(labels[order[j]]))
            total += float(near[j]) + float(x[order[j], 0])
    return votes, total


def filled(x: Tensor, n: int) -> tuple[list[list[float]], int]:
    out: list[list[float]] = []
    marks = x.clone()
    count = 0
    for _ in range(n):
        k = int(marks.argmax())
        row = k // marks.size(1)
        kept: list[float] = marks[row].tolist()
        out.append(kept)
        marks[row] = -1.0
        marks[:, k % marks.size(1)] = 0.5
        count += row
    return out, count


def chosen(x: Tensor, k: int) -> tuple[float, int]:
    found, places = x.topk(k)
    total = 0.0
    at = 0
    for j in range(k):
        total += float(found[j])
        at = at * 3 + int(places[j])
    return total, at


def table(*sizes: int) -> Tensor:
    return torch.rand(*sizes, generator=torch.Generator().manual_seed(7))


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (measured, (table(5, 4), table(4, 4), 6)),
    (carried, (table(12), 12)),
    (filled, (table(4, 3), 3)),
    (chosen, (table(12), 4)),
    (voted, (table(5, 5), torch.tensor([3, 1, 4, 1, 5]), 3)),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0].__name__)
def test_loops_over_small_tensors_are_islands(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function, given = call
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    expected = torch.jit.script(fresh(function))(*given)
    only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(function))
    with torch.no_grad():
        assert [scripted(*given) for _ in range(3)] == [expected] * 3
        space, done = space_of(scripted), list[bool]()
        island = space["i0"]

        def watched(*values: object) -> Any:
            found = island(*values)
            done.append(found is not None)
            return found

        space["i0"] = watched
        assert scripted(*given) == expected
    assert done == [True]


def test_many_numbers_are_left_to_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    x = table(40, 30)
    scripted = torch.jit.script(fresh(filled))
    with torch.no_grad():
        assert scripted(x, 5) == filled(x, 5)
        assert scripted(x.t(), 5) == filled(x.t(), 5)
        assert scripted(x[:3, :5], 2) == filled(x[:3, :5], 2)


def test_errors_are_those_of_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(measured))
    with torch.no_grad():
        scripted(table(5, 4), table(4, 4), 2)
        with pytest.raises(RuntimeError, match="must match the size"):
            scripted(table(5, 4), table(4, 5), 2)


def counted(x: Tensor, numbers: list[int], n: int) -> tuple[int, int]:
    places = 0
    total = 0
    for i in range(n):
        for number in numbers:
            total += number * i
        _, place = x[i].max(0)
        places += int(place)
    return places, total


def test_islands_do_without_steps_over_many_numbers() -> None:
    x, numbers = table(4, 400), list(range(300))
    scripted = torch.jit.script(fresh(counted))
    expected = counted(x, numbers, 4)
    with torch.no_grad():
        scripted(x, numbers, 4)
        way = tiers_of(scripted._rushlight_function).way()
        before = way.plan
        assert before is not None
        small = [each for part in before.islands for each in part.small]
        assert len(small) == 1
        way._cut_large(small)
        assert scripted(x, numbers, 4) == expected
    assert way.plan is not before
    assert [part.small for part in way.plan.islands] == [[]]
    way._cut_large(small)
    assert way.plan.former is before  # nothing is left out twice

"""Native code gives what plans give: the same values of the same types, the same errors."""

from __future__ import annotations

import math
import os
import struct
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight
from rushlight.frontend.limits.bounds import BoundExceeded
from rushlight.interpreter.code.assemble import assemble
from rushlight.interpreter.native import native
from rushlight.interpreter.native.program import FAILED, STOPPED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.interpreter.running.tiers import Way
from rushlight.ops.kernels.code.loading import objects as kept_objects
from rushlight.ops.kernels.kept_files import keep, read_kept
from rushlight.typecheck.types.types import FLOAT, INT, STRING, ListType

HUGE = 2**63 - 1
NEVER = np.zeros(1, np.int64)
"""What nobody writes: a call is never told to stop."""


def whole(a: int, b: int) -> int:
    total = a
    for i in range(3):
        total = total * 6364136223846793005 + b
        total = total ^ (a // b) ^ (b % 7) ^ (total % b) ^ -a ^ math.floor(a >> i) ^ (i % b)
        total += (total >> 3) - (a << i) + abs(b) + max(a, b) - min(a, i)
        if i == 2 and total > 0:
            total = total // -1
    return total


def floats(x: float, n: int) -> tuple[float, float, int, bool]:
    total = 0.0
    y = x
    for i in range(n):
        y = 3.7 * y * (1.0 - y) + i
        total += y / (i - 2) + float(i) * 0.1
        if y > 3 or not math.isfinite(y):
            y = x / n
    return total, y, int(y), total >= y


def functions(x: float) -> float:
    total = 0.0
    for i in range(1, 6):
        total += math.exp(-x * i) + math.log(x + i) + math.sin(x) * math.cos(i) + math.tanh(x)
        total += math.sqrt(x * i) + math.pow(x, i) + math.floor(x * i) + math.ceil(x)
    return total


def lists(n: int, start: list[int]) -> list[int]:
    found: list[int] = []
    for i in range(n):
        found.append((i * 7919) % 101 + start[i % len(start)])
    found[-1] = start[-2]
    found.sort()
    found.reverse()
    found.append(found.pop() + len(found))
    return found


def rows(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    result: list[list[float]] = []
    for i in range(len(a)):
        row: list[float] = []
        for j in range(len(b[0])):
            total = 0.0
            for k in range(len(b)):
                total += a[i][k] * b[k][-1 - j]
            row.append(total)
        result.append(row)
    return result


def leaves_early(n: int, values: list[float]) -> float:
    for i in range(n):
        if values[i] < 0.0:
            return float(i)
        assert values[i] != 5.0, f"five at {i}"
    while n > 0:
        n -= 3
        if n == 1:
            return -1.0
    return 0.5


def wraps_to_zero(a: int, n: int) -> int:
    total = 0
    for i in range(n):
        total += i % (a * a) + (a + 1 > a)  # neither holds in 64 bits for each a
    return total


CASES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (whole, [(a, b) for a in (0, 5, -7, HUGE, -HUGE - 1) for b in (1, -1, 3, -4, HUGE, 0)]),
    (wraps_to_zero, [(a, 3) for a in (3, 0, 2**32, HUGE, -HUGE - 1)]),
    (floats, [(x, n) for x in (0.3, -0.0, 1e308, math.inf, math.nan) for n in (0, 1, 7)]),
    (functions, [(0.5,), (2.25,), (0.0,), (-0.5,), (-2.0,), (300.0,), (math.nan,)]),
    (lists, [(30, [3, 1, 2]), (1, [4, 5]), (0, [1, 2]), (3, []), (2, [7]), (9, [HUGE, 1])]),
    (rows, [([[1.0, 2.5], [0.0, -1.0]], [[2.0], [0.5]]), ([], [[1.0]]), ([[1.0]], []),
            ([[1.0], [2.0, 3.0]], [[1.0, 0.5], [3.0, -0.0]])]),
    (leaves_early, [(2, [1.0, 2.0]), (4, [1.0, 2.0, 3.0, 4.0]), (3, [1.0, -1.0, 2.0]),
                    (3, [1.0, 2.0]), (2, [1.0, 5.0]), (-1, [])]),
]  # fmt: skip


def outcome(function: Any, arguments: tuple[Any, ...]) -> Any:
    try:
        return exact(function(*arguments))
    except Exception as error:
        return type(error), str(error)


def exact(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value), [exact(each) for each in value]
    if isinstance(value, float):
        return float if math.isnan(value) else struct.pack("d", value)
    return type(value), value


def words(text: str, least: int) -> tuple[dict[str, int], list[str], str]:
    counts: dict[str, int] = {}
    for word in text.lower().split(" "):
        word = word.strip(",.")
        if len(word) >= least:
            counts[word] = counts.get(word, 0) + 1
    often: list[str] = []
    for key, count in counts.items():
        if count > 1 and not key.startswith("x"):
            often.append(key + "=" + str(count))
    often.sort(reverse=True)
    reverse = ""
    for i in range(len(text)):
        reverse += text[-1 - i]
    return counts, often, reverse[2:7] + "".join(often)


def texts(names: list[str], n: int) -> list[str]:
    found: list[str] = []
    for i in range(n):
        found.append(f"{i}: {names[i % len(names)]} {i > 2}" + str(-i))
    found.append("{} {}".format(n, "!", 3))  # noqa: F523
    return found


def tables(rows: list[tuple[str, int]], limit: int) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, number in rows:
        if number not in found:
            empty: list[str] = []
            found[number] = empty
        found[number].append(name)
        if len(found) > limit:
            found.pop(number)
    for i in range(3):
        if i in found and len(found[i]) < 9:
            del found[i]
    return found


@rushlight.jit.script
class Account:
    def __init__(self, balance: float, name: str):
        self.balance = balance
        self.moves: list[str] = []
        self.name = name

    def add(self, amount: float) -> None:
        self.balance += amount
        self.moves.append(self.name)


def objects(n: int) -> tuple[float, list[str]]:
    one = Account(1.0, "one")
    accounts = [one, Account(2.5, "two"), one]
    for i in range(n):
        accounts[i % len(accounts)].add(float(i))
    return one.balance, accounts[1].moves + one.moves


def shared(rows: list[list[int]], n: int) -> tuple[list[list[int]], list[int], int]:
    first = rows[0]
    for i in range(n):
        first.append(i)
        rows.append(first)
    return rows, first, len(rows[-1])


TEXT = "The quick, brown fox. The lazy dog, the xx xx end"

CASES += [
    (words, [(TEXT, 2), ("", 0), ("a", 1), ("né né", 1)]),
    (texts, [(["a", "bc"], 5), ([], 0), ([], 1), (["é"], 1)]),
    (tables, [([("a", 1), ("b", 7), ("c", 1), ("d", 9)], 9), ([("a", 5), ("b", 6)], 1), ([], 0)]),
    (objects, [(0,), (7,), (40,)]),
    (shared, [([[1], [2]], 3), ([[]], 1), ([], 2)]),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_native_code_gives_what_plans_give(
    function: Any, arguments: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "off")
    plain = rushlight.jit.script(function)
    expected = [outcome(plain, each) for each in arguments]
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    plain._debug_flush_compilation_cache()
    assert [outcome(plain, each) for each in arguments] == expected
    made = tiers_of(plain._rushlight_function).way().executable.native
    assert made is not None
    assert made.is_ready
    made._run = compile_native(write_native(made._code, made._arguments), quickly=True)
    assert [outcome(plain, each) for each in arguments] == expected


def grows(n: int) -> int:
    total = 0
    for i in range(n):
        total += len([i] * 1000)
    return total


def test_a_call_that_takes_too_much_memory_is_left_to_the_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    assert rushlight.jit.script(grows)(40_000) == 40_000_000


def test_lists_of_the_caller_are_written_back_where_they_are() -> None:
    """Lists that a plan hands over are its own; native code works on copies."""
    graph = rushlight.jit.script(shared).inlined_graph._inner
    source = write_native(assemble(graph), [value.type for value in graph.inputs])
    rows = [[1], [2]]
    first, second = rows
    result, given, count = compile_native(source)(1 << 60, NEVER.ctypes.data, 0, rows, 2)
    assert result is rows
    assert given is first
    assert rows[0] is rows[2] is rows[3] is first
    assert rows[1] is second
    assert (first, second, count) == ([1, 0, 1], [2], 3)


def test_a_call_ends_when_it_is_told_to_stop() -> None:
    code = assemble(rushlight.jit.script(leaves_early).inlined_graph._inner)
    source = write_native(code, [INT, ListType(FLOAT)])
    run = compile_native(source)
    many = 1 << 40
    assert run(1000, NEVER.ctypes.data, 0, many, []) is FAILED
    assert run(1000, NEVER.ctypes.data, 0, 100_000, [1.0] * 100_000) is STOPPED
    stop = np.ones(1, np.int64)
    assert run(1 << 60, stop.ctypes.data, 0, 100_000, [1.0] * 100_000) is STOPPED
    assert run(1 << 60, NEVER.ctypes.data, 0, 99_999, [1.0] * 100_000) == 0.5


def _wait_for_native_code() -> None:
    for thread in threading.enumerate():
        if thread.name == "rushlight-native":
            thread.join()


def test_hot_functions_become_native_beside_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(native, "was_hot", lambda *_: False)
    monkeypatch.setattr(native, "SPENT", 1e9)  # a busy machine may make the first call a long one
    hot = rushlight.jit.script(leaves_early)
    hot._debug_flush_compilation_cache()
    arguments = (2, [1.0, 2.0])
    made = tiers_of(hot._rushlight_function).way().executable.native
    assert made is not None
    made._limit = math.inf
    assert hot(*arguments) == leaves_early(*arguments)
    assert not made.is_ready
    made._limit = 1e-9
    assert hot(*arguments) == leaves_early(*arguments)
    _wait_for_native_code()
    assert made.is_ready
    for _ in range(20):  # with lists it stays only if it pays
        assert hot(*arguments) == leaves_early(*arguments)


def test_a_draft_that_is_called_often_is_compiled_with_care(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(native, "DRAFT_CALLS", 5)
    monkeypatch.setattr(native, "DRAFT_SPENT", math.inf)
    monkeypatch.setattr(kept_objects, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kept_objects, "_MADE", {})
    hot = rushlight.jit.script(whole)
    made = _way_anew(hot).executable.native
    assert made is not None
    made._limit = 1e-9
    expected = hot(2**60, 3)
    _wait_for_native_code()
    draft = made._run
    for _ in range(4):
        assert hot(2**60, 3) == expected
    assert made._run is draft
    assert made.straight_run is None
    assert {each.name.partition("-")[0] for each in tmp_path.iterdir()} == {"draft", "hot"}
    assert hot(2**60, 3) == expected
    _wait_for_native_code()
    assert made._run is not draft
    assert made.straight_run is made._run
    assert hot(2**60, 3) == expected
    assert {each.name.partition("-")[0] for each in tmp_path.iterdir()} == {
        *("draft", "hot", "program"),
    }


def test_in_a_forked_child_drafts_may_be_compiled_again() -> None:
    code = assemble(rushlight.jit.script(whole).inlined_graph._inner)
    cold, hot = (native.Native(code, [INT, INT], 1.0) for _ in range(2))
    source = write_native(code, [INT, INT])
    cold._stage, hot._stage = native._Stage.PLAN, native._Stage.HOT
    for made in (cold, hot):
        native._UNDER_WAY._made[made, 0] = partial(made.begin_anew, source)
    native._UNDER_WAY.forget()
    assert not native._UNDER_WAY
    assert cold._stage is native._Stage.COLD
    assert hot._draft is source


def test_a_draft_stays_where_it_cannot_be_compiled_with_care(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(native, "DRAFT_CALLS", 2)
    hot = rushlight.jit.script(whole)
    made = _way_anew(hot).executable.native
    assert made is not None
    made._limit = 1e-9
    expected = hot(2**60, 3)
    _wait_for_native_code()
    draft = made._run

    def out_of_room(*_: object, **__: object) -> object:
        raise OSError("no memory may be executed")

    monkeypatch.setattr(native, "compile_native", out_of_room)
    for _ in range(4):
        assert hot(2**60, 3) == expected
    _wait_for_native_code()
    assert made._run is draft
    assert made.straight_run is draft


def test_native_code_that_gives_up_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(native, "was_hot", lambda *_: False)
    hot = rushlight.jit.script(whole)
    hot._debug_flush_compilation_cache()
    hot(1, 2)
    made = tiers_of(hot._rushlight_function).way().executable.native
    assert made is not None
    made._limit = 1e-9
    hot(1, 2)
    _wait_for_native_code()
    for _ in range(native.MISSES):
        assert made.is_ready
        with pytest.raises(RuntimeError, match="division by 0"):
            hot(1, 0)
    assert not made.is_ready
    assert hot(5, 3) == outcome_of_plan(5, 3)


class Steps(rushlight.nn.Module):
    """An object is bound before native code takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 3

    def forward(self, n: int) -> int:
        total = 0
        for i in range(n):
            total += i * self.step
        return total


def _way_anew(scripted: Any) -> Way:
    """How a scripted function or module runs, as if it never had."""
    function = getattr(scripted, "_rushlight_function", None)
    function = function or scripted._c.cls.method("forward")
    function.tiers = None
    return tiers_of(function).way()


@pytest.mark.parametrize(
    ("make", "arguments"),
    [(lambda: whole, (2**60, 3)), (lambda: lists, (50, [3, 5])), (Steps, (5000,))],
)
def test_what_was_hot_in_one_process_is_native_from_the_first_call_of_the_next(
    make: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(kept_objects, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kept_objects, "_MADE", {})
    first = rushlight.jit.script(make())
    way = _way_anew(first)
    made = way.executable.native
    assert made is not None
    made._limit = math.inf
    expected = first(*arguments)
    assert way.tier == "plan"
    assert list(tmp_path.iterdir()) == []
    made._limit = 1e-9
    first(*arguments)
    _wait_for_native_code()
    for _ in range(native.TRIALS):  # with an object it has to pay first
        first(*arguments)
    assert way.tier == "native"

    monkeypatch.setattr(kept_objects, "_MADE", {})
    monkeypatch.setattr(kept_objects, "_assembler", _no_compiler)
    second = rushlight.jit.script(make())
    way = _way_anew(second)
    assert second(*arguments) == expected
    assert way.tier == "native"
    assert way.plan is None


def test_a_draft_that_does_not_pay_is_compiled_with_care_before_it_is_given_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(kept_objects, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(native.Native, "_usual_in_plan", property(lambda self: 0.0))
    scripted = rushlight.jit.script(Steps())
    way = _way_anew(scripted)
    made = way.executable.native
    assert made is not None
    made._limit = math.inf
    expected = scripted(5000)
    made._limit = 1e-9
    scripted(5000)
    _wait_for_native_code()
    assert way.tier == "native"
    for _ in range(native.TRIALS):
        assert scripted(5000) == expected
    _wait_for_native_code()
    assert not made.refusal
    assert made._draft is None
    assert way.tier == "native"
    for _ in range(native.TRIALS):
        assert scripted(5000) == expected
    assert way.tier == "plan"
    assert "handing its arguments over" in made.refusal


def _no_compiler() -> object:
    raise AssertionError("the compiler is asked for")


@pytest.mark.parametrize("rest", [b"", b"not an object", None])
def test_native_code_that_is_lost_or_broken_on_disk_is_done_without(
    rest: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(native.NATIVE_VARIABLE, raising=False)
    monkeypatch.setattr(kept_objects, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kept_objects, "_MADE", {})
    scripted = rushlight.jit.script(whole)
    made = _way_anew(scripted).executable.native
    assert made is not None
    made._limit = 1e-9
    expected = scripted(2**60, 3)
    _wait_for_native_code()
    names = [*tmp_path.glob("draft-*.o")]
    assert len(names) == 2  # by what asks for it, and by its text
    for kept in names:
        if rest is None:
            kept.unlink()
        else:
            kept.write_bytes(rest)

    monkeypatch.setattr(kept_objects, "_MADE", {})
    way = _way_anew(scripted)
    assert scripted(2**60, 3) == expected
    assert (way.tier == "native") == (rest is not None)  # broken ones are made anew at once


def outcome_of_plan(a: int, b: int) -> int:
    plan = tiers_of(rushlight.jit.script(whole)._rushlight_function).way().plan
    assert plan is not None
    result: int = plan.run(a, b)
    return result


def changing(n: int, limit: int) -> tuple[int, int, list[int]]:
    """A dict that keys come into and leave again and again."""
    found: dict[int, int] = {}
    for i in range(n):
        key = i * 7919 % 101
        if key in found:
            del found[key]
        else:
            found[key] = i
        while len(found) > limit:
            keys = list(found.keys())
            found.pop(keys[0])
    total = 0
    for key, value in found.items():
        total = (total * 31 + key * value) % 1000003
    return total, len(found), list(found.keys())


@pytest.mark.parametrize("limit", [1, 3, 8, 9, 17, 100])
def test_dicts_whose_keys_come_and_go(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(changing)
    assert scripted(500, limit) == changing(500, limit)
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    assert made.is_ready


def searches(values: list[int], text: str, n: int) -> int:
    total = 0
    for i in range(n):
        total += int(-i in values) + int("b" in text) + len(values[:i]) + len(text.lower())
    return total


def test_work_on_what_is_long_counts_as_rounds() -> None:
    source = write_native(
        assemble(rushlight.jit.script(searches).inlined_graph._inner), [ListType(INT), STRING, INT]
    )
    run = compile_native(source)
    given = [1] * 100_000, "a" * 100_000
    stop = np.ones(1, np.int64)
    assert run(1 << 60, stop.ctypes.data, 0, *given, 1 << 40) is STOPPED
    assert run(10**6, NEVER.ctypes.data, 0, *given, 1000) is STOPPED
    assert run(10**9, NEVER.ctypes.data, 0, *given, 20) == searches(*given, 20)


def rows(
    table: list[list[float]], names: dict[str, int], pair: tuple[int, str], on: bool
) -> tuple[list[list[float]], dict[str, int], float]:
    total = 0.0
    for row in table:
        row.append(1.0)
        total += sum(row)
    names[pair[1]] = pair[0] if on else -1
    return table, names, total


class _Index:
    def __index__(self) -> int:
        return 7


class _List(list[float]):
    """A list of somebody's own."""


_ROW = [0.5]

_GIVEN: dict[str, Any] = {
    "as they are": ([[1.0, 2.0], []], {"a": 1, "b": 2}, (3, "b"), True),
    "ints for floats": ([[1, True, 2.5]], {"a": 1}, (3, "b"), True),
    "tuples for lists": (((1.0, 2.0),), {"a": 1}, (3, "b"), True),
    "a list of one's own": ([_List([1.0])], {"a": 1}, (3, "b"), True),
    "a list for a tuple": ([[1.0]], {"a": 1}, [3, "b"], True),
    "one in two places": ([_ROW, _ROW], {}, (3, "b"), False),
    "what has an index": ([[1.0]], {"a": _Index()}, (_Index(), "b"), True),
    "a tensor": ([[1.0]], {"a": rushlight.tensor(4)}, (3, "b"), rushlight.tensor(True)),
    "a large float": ([[10**400]], {}, (3, "b"), True),
    "a large int": ([[1.0]], {"a": 2**63}, (3, "b"), True),
    "a long tuple": ([[1.0]], {}, (3, "b", 1), True),
    "text of other letters": ([[1.0]], {"é": 1}, (3, "ü"), True),
    "half a letter": ([[1.0]], {"\ud800": 1}, (3, "b"), True),
    "a text as a list": (["ab"], {}, (3, "b"), True),
    "None": ([None], {}, (3, "b"), True),
    "a number": (1.0, {}, (3, "b"), True),
    "too few": ([[1.0]], {}, (3, "b")),
    "too many": ([[1.0]], {}, (3, "b"), True, 1),
}


def _scripted_anew(function: Any) -> Any:
    """A scripted function whose calls nothing is known of."""
    scripted = rushlight.jit.script(function)
    scripted._debug_flush_compilation_cache()
    return scripted


def _told(call: Any, given: Any) -> Any:
    try:
        found = call(*given)
    except Exception as error:
        return type(error), str(error)
    return repr(found), found[0] is given[0], found[1] is given[1]


@pytest.mark.parametrize("name", _GIVEN)
def test_values_straight_from_python_are_taken_as_bound_ones_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = _GIVEN[name]
    before = repr(given)
    monkeypatch.setenv(native.NATIVE_VARIABLE, "off")
    expected = _told(_scripted_anew(rows), given)
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = _scripted_anew(rows)
    scripted(*_GIVEN["as they are"])
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    assert made.call_straight(_GIVEN["as they are"]) is not FAILED
    assert _told(scripted, given) == expected
    assert repr(given) == before


def deep(n: int) -> list[list[list[list[int]]]]:
    one = [0] * n
    two = [one] * n
    three = [two] * n
    return [three] * n


def test_results_in_very_many_places_are_left_to_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = _scripted_anew(deep)
    assert scripted(3)[2][1] == [[0, 0, 0]] * 3
    assert scripted(2)[0] is not scripted(2)[1]
    with pytest.raises(BoundExceeded, match="elements, each counted in all its places"):
        scripted(300)


def test_values_that_are_never_taken_straight_are_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Native code that fails on them again and again is not asked any more."""
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = _scripted_anew(rows)
    for _ in range(native.MISSES + 2):
        assert scripted(((1.0,),), {}, (3, "b"), True) == ([[1.0, 1.0]], {"b": 3}, 2.0)
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    assert made.call_straight(_GIVEN["as they are"]) is FAILED
    assert made.is_ready


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_what_lies_in_the_place_of_an_object_is_neither_waited_for_nor_followed(
    tmp_path: Path,
) -> None:
    whole, pipe, link, holes = (tmp_path / name for name in ("whole", "pipe", "link", "holes"))
    keep(whole, b"code")
    os.mkfifo(pipe)
    link.symlink_to(whole)
    with open(holes, "wb") as file:
        file.truncate(1 << 40)
    found = [read_kept(each) for each in (whole, pipe, link, holes, tmp_path)]
    assert found == [b"code", None, None, None, None]


def loops_in_a_loop(n: int) -> int:
    kept = {"a": 1, "b": 0}
    total = 0
    for key in kept:
        step = 1
        while step < 4:
            step = step + 1
        place = step % 5
        while place < 4 and key.startswith("a"):
            place = place + 1
        rounds = 1
        going = True
        while going:
            rounds = rounds + 1
            if place * place > 0 and place * place < step << 1:  # noqa: SIM108
                going = rounds < 4
            else:
                going = rounds < n
        total += rounds + place
    return total


def test_loops_in_loops_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass over loops ended the process over this one."""
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(loops_in_a_loop)
    assert [scripted(n) for n in (2, 9)] == [loops_in_a_loop(n) for n in (2, 9)]
    made = tiers_of(scripted._rushlight_function).way().executable.native
    assert made is not None
    assert made.is_ready

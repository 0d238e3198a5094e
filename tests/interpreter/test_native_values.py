"""Values that may be None, NamedTuples, members of enumerations, objects and modules of the caller,
what is printed and texts beyond ASCII: native code gives what plans give, and leaves what they do.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import rushlight
from rushlight.interpreter.code.code import Code
from rushlight.interpreter.code.machine import Machine
from rushlight.interpreter.native import native, refusals
from rushlight.interpreter.native.kinds import NotNative
from rushlight.interpreter.native.program import FAILED, compile_native
from rushlight.interpreter.native.source import write_native
from rushlight.interpreter.running.executable import executable_of
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.interpreter.running.reached import Reached, _reaching_slots
from rushlight.typecheck.types.types import Type

NEVER = np.zeros(1, np.int64)
"""What nobody writes: a call is never told to stop."""


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = 7


class Mode(Enum):
    START = "start"
    WORD = "wörd"


class Token(NamedTuple):
    text: str
    place: int
    parent: int | None


class Limits(NamedTuple):
    low: float
    name: str | None


def trouble(function: Any) -> str:
    """Why a function's calls were not native, if they were not."""
    executable = tiers_of(function._rushlight_function).way().executable
    made = executable.native
    if made is None:
        return "never to be"
    return made.refusal or (f"{made._misses} misses" if made._misses else "")


def both_ways(
    function: Callable[..., Any], calls: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compare a function that is native with its plan and with Python."""
    monkeypatch.setenv(native.NATIVE_VARIABLE, "off")
    scripted = rushlight.jit.script(function)
    scripted._debug_flush_compilation_cache()
    planned = [scripted(*each) for each in calls]
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted._debug_flush_compilation_cache()
    found = [scripted(*each) for each in calls]
    assert trouble(scripted) == ""
    assert repr(found) == repr(planned) == repr([function(*each) for each in calls])
    assert [type(each) for each in found] == [type(each) for each in planned]


def first_places(words: list[str], sought: list[str | None]) -> list[int | None]:
    found: list[int | None] = []
    for word in sought:
        place: int | None = None
        if word is not None:
            for i in range(len(words)):
                if words[i] == word and place is None:
                    place = i
        found.append(place)
    return found


def chain(parents: dict[int, int | None], start: int | None) -> tuple[int, int | None, list[int]]:
    steps = 0
    last: int | None = None
    seen: list[int] = []
    for _ in range(9):
        if start is not None:
            last = start
            seen.append(start)
            start = parents[start] if start in parents else None  # noqa: SIM401
            steps += 1
        else:
            break
    return steps, last, seen


def slices(text: str, start: int | None, end: int | None) -> list[str]:
    found: list[str] = []
    for step in range(1, 3):
        found.append(text[start:end:step])
    return found


def looked_up(counts: dict[str, int], words: list[str]) -> int:
    total = 0
    for word in words:
        found = counts.get(word)
        total += 100 if found is None else found
    return total


def tokens(text: str) -> tuple[list[Token], Token | None]:
    found: list[Token] = []
    longest: Token | None = None
    for i, word in enumerate(text.split(" ")):
        token = Token(word, i, None if i == 0 else i - 1)
        found.append(token)
        if longest is None or len(word) > len(longest.text):
            longest = token
    return found, longest


def within(limits: Limits, values: list[float]) -> Limits:
    low = limits.low
    for value in values:
        low = min(low, value)
    name = limits.name
    if name is None:
        name = "least"
    return Limits(low, name + "!")


def modes(text: str, start: Mode) -> tuple[list[Mode], str, int]:
    found: list[Mode] = []
    mode = start
    names = ""
    for c in text:
        mode = Mode.START if c == " " else Mode.WORD
        if mode != start:
            names += mode.name + mode.value
        found.append(mode)
    return found, names, len(found)


def colors(given: list[Color], table: dict[str, Color]) -> tuple[int, list[str], Color | None]:
    total = 0
    names: list[str] = []
    last: Color | None = None
    for color in given:
        total += color.value
        if color == Color.BLUE or color != Color.RED:
            last = color
    for name, color in table.items():
        names.append(name + color.name)
    return total, names, last


def beyond_ascii(text: str) -> tuple[list[str], dict[str, int], str]:
    counts: dict[str, int] = {}
    found: list[str] = []
    for word in text.lower().strip().split(" "):
        counts[word] = counts.get(word, 0) + 1
        found.append(word + "é")
    return found, counts, "ü".join(found)


def shown(values: list[float], n: int) -> list[str]:
    found: list[str] = []
    for i, value in enumerate(values):
        found.append(f"{value} {i}" + str([value]) + f"{(i, str(value))}" + str({i: True}))
        if i > n:
            return found
    return found


def numbers(texts: list[str]) -> float:
    total = 0.0
    for text in texts:
        total += float(text) + int(text.split(".")[0])
    return total


def sorted_tuples(pairs: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], tuple[int, str]]:
    made: list[tuple[int, str]] = []
    for number, name in pairs:
        made.append((-number, name))
    made.sort(reverse=True)
    return sorted(pairs), made[0]


def refines(values: list[float | None]) -> float:
    total = 0.0
    for value in values:
        if isinstance(value, float):
            total += value
        else:
            total -= 1.0
    return total


CASES: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (first_places, [(["a", "b"], ["b", None, "c", "a"]), ([], [None])]),
    (chain, [({1: 2, 2: None, 3: 1}, 3), ({}, None), ({}, 4)]),
    (slices, [("abcdef", None, None), ("abcdef", 1, None), ("abcdef", None, -2), ("abc", 2, 1)]),
    (looked_up, [({"a": 1, "b": 0}, ["a", "c", "b"])]),
    (tokens, [("a bcd ef",), ("",)]),
    (within, [(Limits(1.0, None), [2.0, -0.0]), (Limits(0.5, "n"), [])]),
    (modes, [("ab c", Mode.START), (" ", Mode.WORD)]),
    (colors, [([Color.RED, Color.BLUE, Color.RED], {"x": Color.GREEN}), ([], {})]),
    (beyond_ascii, [(" grün né ab né",), ("",), ("日本 語",)]),
    (numbers, [(["1.5", "-2.25", "10"],), (["+7.0", "0.1"],)]),
    (sorted_tuples, [([(3, "b"), (1, "z"), (3, "a")],)]),
    (refines, [([1.5, None, 2.0],), ([],)]),
]


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda c: getattr(c, "__name__", ""))
def test_native_code_gives_what_plans_give(
    function: Any, calls: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    both_ways(function, calls, monkeypatch)


def test_texts_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.1, -0.0, 1e300, 2.0**62, -5e-324, 1 / 3, 3.0, float("inf"), float("-inf")]
    monkeypatch.setenv(native.NATIVE_VARIABLE, "off")
    expected = rushlight.jit.script(shown)(values, 99)
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(shown)
    scripted._debug_flush_compilation_cache()
    assert scripted(values, 99) == expected
    assert trouble(scripted) == ""
    assert (
        expected[0] == "0.10000000000000001 0[0.10000000000000001](0, 0.10000000000000001){0: True}"
    )


def prints(values: list[int]) -> int:
    total = 0
    for value in values:
        print("at", value, [value], value / 2, None)
        total += 10 // value
    return total


def test_prints_come_once_and_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(prints)
    scripted._debug_flush_compilation_cache()
    assert scripted([1, 2]) == 15
    assert capsys.readouterr().out == "at 1 [1] 0.5 None\nat 2 [2] 1. None\n"
    assert trouble(scripted) == ""
    with pytest.raises(RuntimeError, match="division by 0"):
        scripted([5, 0, 1])
    assert capsys.readouterr().out == "at 5 [5] 2.5 None\nat 0 [0] 0. None\n"


class Closed:
    def write(self, text: str) -> int:
        raise OSError("closed")


def test_what_cannot_be_printed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(prints)
    scripted([1])
    monkeypatch.setattr("sys.stdout", Closed())
    with pytest.raises(Exception, match="closed"):
        scripted([1])


@rushlight.jit.script
class Store:
    def __init__(self, limit: int):
        nothing: str | None = None
        self.limit = limit
        self.total = 0.5
        self.name = nothing
        self.values: dict[int, list[int]] = {}

    def put(self, key: int, value: int) -> int:
        if key not in self.values:
            empty: list[int] = []
            self.values[key] = empty
        self.values[key].append(value)
        self.total += value
        if len(self.values) > self.limit:
            self.name = "full"
        return len(self.values[key])


def fills(stores: list[Store], first: Store, n: int) -> tuple[Store, int]:
    total = 0
    for i in range(n):
        total += stores[i % len(stores)].put(i % 3, i) + first.put(7, i)
    made = Store(total)
    stores.append(made)
    return made, len(first.values)


@rushlight.jit.script
class Ranked:
    def __init__(self, rank: int, name: str):
        self.rank = rank
        self.name = name

    def __lt__(self, other: Ranked) -> bool:
        return self.rank < other.rank


@rushlight.jit.script
class Wayward:
    def __init__(self, rank: int, name: str):
        self.rank = rank
        self.name = name
        self.asked = 0

    def __lt__(self, other: Wayward) -> bool:
        """Of two of one rank both come first."""
        self.asked += 1
        print(self.name, "or", other.name)
        return self.rank <= other.rank


def ranks(numbers: list[int]) -> list[str]:
    made = [Ranked(number % 5, str(number)) for number in numbers]
    wayward = [Wayward(number % 5, str(number)) for number in numbers]
    names = [each.name for each in sorted(made)] + [each.name for each in sorted(wayward)]
    made.sort(reverse=True)
    wayward.sort(reverse=True)
    names += [each.name for each in made]
    return names + [each.name + str(each.asked) for each in wayward]


@pytest.mark.parametrize("count", [0, 1, 8, 37])
def test_objects_are_ordered_by_their_own_method(
    count: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = [i * 7 % 41 for i in range(count)]
    seen = []
    for native_code in ("off", "now"):
        monkeypatch.setenv(native.NATIVE_VARIABLE, native_code)
        scripted = rushlight.jit.script(ranks)
        scripted._debug_flush_compilation_cache()
        seen.append((scripted(numbers), capsys.readouterr().out))
    assert trouble(scripted) == ""
    assert seen[0] == seen[1]
    expected = sorted(numbers, key=lambda n: n % 5)
    assert seen[0][0][:count] == list(map(str, expected))


def new_stores(n: int) -> list[Store]:
    return [Store(n), Store(n + 1)]


def code_of(function: Any) -> tuple[Code, list[Type]]:
    inner = rushlight.jit.script(function)._rushlight_function
    types = [argument.type for argument in inner.signature.arguments]
    return executable_of(inner, None).code, types


def no_calls(*_: object) -> Any:
    raise AssertionError("nothing is called")


def state(store: Any) -> Any:
    return [store.limit, store.total, store.name, store.values]


def test_objects_of_the_caller_are_written_back() -> None:
    a, b = Machine(code_of(new_stores)[0], no_calls).run([1])
    given, values = [a, b, a], b.values
    others = copy.deepcopy(given)
    code, types = code_of(fills)
    found = compile_native(write_native(code, types))(1 << 60, NEVER.ctypes.data, 0, given, a, 4)
    expected = Machine(code, no_calls).run([others, others[0], 4])
    assert state(found[0]) == state(expected[0])
    assert found[1] == expected[1]
    assert given[0] is given[2] is a
    assert given[1] is b
    assert given[3] is found[0]
    assert b.values is values
    assert [state(each) for each in given] == [state(each) for each in others]
    assert a.name == "full"


def test_objects_that_hold_something_else_are_left_as_they_are() -> None:
    a, b = Machine(code_of(new_stores)[0], no_calls).run([1])
    a.total = None
    before = state(a)
    code, types = code_of(fills)
    run = compile_native(write_native(code, types))
    assert run(1 << 60, NEVER.ctypes.data, 0, [b], a, 4) is FAILED
    assert state(a) == before
    assert state(b) == [2, 0.5, None, {}]


class Words(rushlight.nn.Module):
    counts: dict[str, int]
    order: list[str]
    last: str | None

    def __init__(self) -> None:
        super().__init__()
        self.counts = {}
        self.order = []
        self.last = None
        self.calls = 0
        self.weight = rushlight.nn.Parameter(rushlight.ones(2))

    def note(self, word: str) -> int:
        if word not in self.counts:
            self.counts[word] = 0
            self.order.append(word)
        self.counts[word] += 1
        self.last = word
        return self.counts[word]

    def forward(self, words: list[str]) -> int:
        most = 0
        self.calls += 1
        for word in words:
            most = max(most, self.note(word))
        return most


class Lines(rushlight.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Words()
        self.linear = rushlight.nn.Linear(2, 2)

    def forward(self, lines: list[str]) -> list[int]:
        return [self.inner(line.split(" ")) for line in lines]


def test_modules_with_containers_run_natively(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted, plain = rushlight.jit.script(Lines()), Lines()
    for _ in range(2):
        assert scripted(["a b a", "b"]) == plain(["a b a", "b"])
    inner, like = scripted.inner, plain.inner
    assert inner.counts == like.counts == {"a": 4, "b": 4}
    assert list(inner.order) == like.order
    assert (inner.last, inner.calls) == (like.last, like.calls) == ("b", 4)
    made = tiers_of(scripted._c.cls.method("forward")).way().executable.native
    assert made is not None
    assert made.is_ready
    assert not made._misses


def calls_python(n: int) -> int:
    total = 0
    for i in range(n):
        total += len("a\t".expandtabs(i + 1))
    return total


def over_tensors(n: int, x: rushlight.Tensor) -> int:
    return n


def test_refusals_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    code, types = code_of(calls_python)
    with pytest.raises(NotNative, match=r"`aten::expandtabs` of str, int \(line \d+\)"):
        write_native(code, types)
    assert refusals.reason_against(*code_of(over_tensors)) == "it has no loop"
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(calls_python)
    scripted._debug_flush_compilation_cache()
    assert scripted(3) == 7
    executable = tiers_of(scripted._rushlight_function).way().executable
    assert "expandtabs" in executable.refusal
    assert refusals.REFUSALS["`aten::expandtabs` of str, int"] > 0
    monkeypatch.setattr(refusals, "MOST_REASONS", 0)
    refusals.count_refusal("something else (line 3)")
    refusals.count_refusal("`aten::expandtabs` of str, int (line 7)")
    assert "something else" not in refusals.REFUSALS
    assert refusals.REFUSALS["`aten::expandtabs` of str, int"] > 1
    scripted = rushlight.jit.script(over_tensors)
    assert tiers_of(scripted._rushlight_function).way().executable.refusal == "it has no loop"


def sorted_names(names: list[str]) -> list[str]:
    return sorted(names)


def is_longer(number: int, other: int) -> bool:
    return number > other


def test_what_goes_through_a_list_is_a_loop() -> None:
    assert refusals.reason_against(*code_of(sorted_names)) == ""
    assert refusals.reason_against(*code_of(is_longer)) == "it has no loop"


@rushlight.jit.script
class Vocabulary:
    def __init__(self, words: dict[str, int], more: dict[str, int]):
        self.words = words
        self.more = more
        self.names: dict[int, str] = {}
        self.sums: dict[float, float] = {}

    def of(self, word: str) -> int:
        return self.words[word] if word in self.words else self.more.get(word, -1)


def looks_up(vocabulary: Vocabulary, text: str) -> tuple[list[int], list[str], float]:
    found: list[int] = []
    names: list[str] = []
    for word in text.split(" "):
        found.append(vocabulary.of(word))
        names.append(vocabulary.names.get(found[-1], "?"))
        vocabulary.sums[float(len(word))] = float(len(found))
    return found, names, len(vocabulary.words) + sum(list(vocabulary.sums.values()))


def makes(n: int) -> Vocabulary:
    made = Vocabulary({"a": n, "b": 2}, {"c": 3})
    made.names[2] = "two"
    return made


def test_dicts_that_are_only_read_are_taken_in_when_they_have_changed() -> None:
    machine = Machine(code_of(makes)[0], no_calls)
    code, types = code_of(looks_up)
    plan, run = Machine(code, no_calls), compile_native(write_native(code, types))
    pairs = [(machine.run([n]), machine.run([n])) for n in (1, 10)]

    def same(which: int, text: str = "a b c d e") -> None:
        one, other = pairs[which]
        found = run(1 << 60, NEVER.ctypes.data, 0, one, text)
        assert found == plan.run([other, text])
        assert one.slots == other.slots

    for _ in range(3):
        same(0)
    for each in pairs[0]:
        each.words["d"] = 4
        each.names[4] = "né"
    for _ in range(3):
        same(0)
    for which in (1, 1, 1, 0, 1, 0, 0, 0):
        same(which)
    for each in pairs[0]:
        each.words = {"e": 5}
        each.more.clear()
    for _ in range(3):
        same(0)


def changes_while_it_reads(vocabulary: Vocabulary, words: list[str]) -> list[int]:
    found: list[int] = []
    for word in words:
        found.append(vocabulary.words.get(word, -1))
        vocabulary.more[word] = len(found)
    return found


def test_a_dict_that_is_read_and_changed_under_two_names() -> None:
    code, types = code_of(changes_while_it_reads)
    plan, run = Machine(code, no_calls), compile_native(write_native(code, types))
    machine = Machine(code_of(makes)[0], no_calls)
    one, other = machine.run([1]), machine.run([1])
    one.more, other.more = one.words, other.words
    for _ in range(4):
        expected = plan.run([other, ["x", "y", "x", "a"]])
        found = run(1 << 60, NEVER.ctypes.data, 0, one, ["x", "y", "x", "a"])
        assert found in (expected, FAILED)
        if found is FAILED:
            plan.run([one, ["x", "y", "x", "a"]])
        assert one.slots == other.slots


def test_calls_look_for_tensors_where_types_say_that_there_may_be_some() -> None:
    made = Machine(code_of(makes)[0], no_calls).run([1])
    assert _reaching_slots(made.cls)[1:] == ((), (), ())
    lines = rushlight.jit.script(Lines())._c
    reached = Reached([lines])
    assert len(reached.tensors) == 3
    assert reached.holders[0] is lines
    assert len(reached.holders) == 3


def test_named_results_and_members_come_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    for function, arguments in ((tokens, ("a bcd ef",)), (modes, ("ab c", Mode.START))):
        scripted = rushlight.jit.script(function)
        scripted._debug_flush_compilation_cache()
        expected = scripted(*arguments)
        way = tiers_of(scripted._rushlight_function).way()
        found = way.run_straight(arguments)
        assert repr(found) == repr(expected)
        assert type(found[0][0]) is type(expected[0][0])
    assert way.run_straight(("ab c", Color.RED)) is FAILED


def transformed(xs: list[complex], turn: complex) -> tuple[list[complex], complex | None]:
    found: list[complex] = []
    last: complex | None = None
    for k in range(len(xs)):
        total, factor = 0j, complex(1.0, 0.0)
        for x in xs:
            total += x * factor
            factor = factor * turn / (1 + 2 * complex(0.0, float(k)))
        if total != 0j:
            last = -total
        found.append(2 - total)
    return found, last


def test_complex_numbers_are_native(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [([1 + 2j, -0.5j, 3 + 0j, complex("inf")], 0.6 + 0.8j), ([], 1j), ([0j, 0j], 1j)]
    found = []
    for mode in ("off", "now"):
        monkeypatch.setenv(native.NATIVE_VARIABLE, mode)
        scripted = rushlight.jit.script(transformed)
        scripted._debug_flush_compilation_cache()
        found.append([repr(scripted(*each)) for each in (*given, ([1, 2.5], 1))])
    assert found[0] == found[1]
    assert trouble(scripted) == ""


def reach(limits: list[Limits], far: Limits) -> float:
    found = far.low
    for each in limits:
        found = max(found, each.low * 0.5)
    return found


def test_named_arguments_come_straight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = rushlight.jit.script(reach)
    scripted._debug_flush_compilation_cache()
    limits = [Limits(float(i), "x" * i) for i in range(5)]
    plain = [tuple(each) for each in limits]
    assert scripted(limits, limits[0]) == reach(limits, limits[0])
    way = tiers_of(scripted._rushlight_function).way()
    for given in ((limits, limits[1]), (plain, limits[1]), (limits, plain[1])):
        assert way.run_straight(given) == reach(limits, limits[1])
    for given in ((limits, [1.0, 2.0]), (limits, (1.0,)), ([*limits, (1.0, "", 3.0)], limits[0])):
        assert way.run_straight(given) is FAILED


def orders(a: str, b: str, n: int) -> list[bool]:
    found: list[bool] = []
    for i in range(n):
        one = a[i]
        found.append(one < b)
        found.append(one >= b)
        words = [b, one, "z"]
        words.sort()
        found.append(words[0] == one)
        found.append(sorted(words)[1] == one)
    return found


def test_parts_of_characters_come_where_their_bytes_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch gives."""
    expected = [
        *(True, False, True, False),
        *(True, False, False, True),
        *(True, False, False, True),
    ]
    for mode in ("off", "now"):
        monkeypatch.setenv(native.NATIVE_VARIABLE, mode)
        scripted = rushlight.jit.script(orders)
        scripted._debug_flush_compilation_cache()
        assert scripted("né", "日", 3) == expected
    assert trouble(scripted) == ""

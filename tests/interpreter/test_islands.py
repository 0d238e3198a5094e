"""Loops over numbers and containers amid code over tensors, which are native by themselves."""

from __future__ import annotations

import copy
import re
import time
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running import executable
from rushlight.interpreter.running.invoking import tiers_of

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


def aliases(x: Tensor, xs: list[int], ys: list[int], d: dict[str, list[int]]):
    y = x.sum()
    out: list[int] = []
    for i in range(len(xs)):
        xs[i] += 1
        out.append(xs[i] * ys[0])
        d["a"].append(i)
    alias = xs
    n = 0
    last: int | None = None
    while n < 10:
        n += 3
        if n % 2 == 0:
            alias = out
            last = n
    print(n, last)
    alias.append(99)
    z = torch.sin(y) * n
    for v in out:
        if v > 1000:
            raise ValueError("too large")
    if last is not None:
        z = z + last
    return z, out, alias, last


def texts(x: Tensor, words: list[str]):
    counts: dict[str, int] = {}
    for word in words:
        key = word.lower()
        counts[key] = counts.get(key, 0) + 1
    total = torch.sin(x)
    pairs: list[tuple[int, str]] = []
    for key, count in counts.items():
        pairs.append((-count, key))
    pairs.sort()
    for count, _key in pairs:  # has an operator over tensors
        total = torch.sin(total) * count
    return total, pairs, counts


def nothing_behind(x: Tensor, xs: list[float], n: int):
    y = x * 2
    while n > 0:
        xs.append(float(n))
        n -= 1
    return y


def in_loops(x: Tensor, n: int):
    y = x
    found = [0]
    for i in range(n):
        total = 0
        for j in range(i):
            total += j * j
            if total > 20:
                break
        y = y + total
        for _ in range(3):
            found[0] += total
    return y, found


def unset(x: Tensor, n: int):
    y = x + 1
    found: dict[str, int] = {}
    for i in range(n):
        if i > 100:
            early = {"a": i}
            return y, early
        found["b"] = i
    return y * 2, found


class Tally:
    def __init__(self, count: int) -> None:
        self.count = count


def created(x: Tensor, n: int):
    tally = Tally(n)
    seen: list[int] = []
    for i in range(n):
        seen.append(i)
    y = x * 2
    tally.count += len(seen)
    return y, [tally]


def read(x: Tensor, y: Tensor, n: int):
    total, whole, flags = 0.0, 0, [True]
    for i in range(-n, n):
        row = x[i]
        for j in range(row.size(0)):
            total = total * 0.5 + float(row[j]) + float(x[i, j].item())
            whole += int(x[i][j].item()) + x.dim() + x.numel() + len(x)
            flags.append(bool(row[j]))
            flags += [bool(row[j] > 1), bool(row[j] == 0), bool(row[j] <= y[i, j])]
            flags.append(bool(row[j] != y[0, j]))
    return x.sum(), total, whole, flags


def read_beside_floats(x: Tensor, y: Tensor, n: int):
    found: list[int] = []
    for i in range(n):
        if x[i, 0] > 0.1:
            found.append(i)
        if y[i, 1] == 0.1:
            found.append(-i)
    return x.sum(), found


class Counting(torch.nn.Module):
    seen: list[int]

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.seen = []
        self.calls = 0

    def forward(self, x: Tensor, n: int):
        y = self.linear(x).detach()
        for i in range(n):
            self.calls += i
            self.seen.append(self.calls)
        return y * 0 + self.calls


ARGUMENTS: dict[Any, tuple[Any, ...]] = {
    aliases: (torch.ones(2), [1, 2, 3], [4, 5], {"a": [7]}),
    texts: (torch.ones(2), "the Cat and the dog and the bird".split()),
    nothing_behind: (torch.ones(2), [0.5], 4),
    in_loops: (torch.ones(2), 6),
    unset: (torch.ones(2), 6),
}


def fresh(function: Any) -> Any:
    """The same function, which nobody has scripted yet."""
    return types.FunctionType(function.__code__, function.__globals__, function.__name__)


def numbers(dtype: Any) -> Tensor:
    """Rows of numbers that may be taken for others: 0.1 is not itself in 32 bits."""
    rows = [[0.1, 0.1, 0.0], [-3.75, 1.0, 2.5], [255.0, -0.0, 1.0]]
    return torch.tensor(rows, dtype=torch.float64).to(dtype)


DTYPES = "float32 float64 int64 int32 uint8 bool float16 bfloat16 int8 complex64".split()


def outcome(function: Any, given: Any) -> str:
    """The result or error of a call, and what becomes of its arguments."""
    given = copy.deepcopy(given)
    try:
        found: Any = function(*given)
    except Exception as error:
        found = str(error)
    return f"{found} {given}"


def only_islands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have nothing become native as a whole, and islands at their first call."""
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    monkeypatch.setattr(executable, "native_of", lambda *given: None)


def assert_natively_as_by_operators(
    monkeypatch: pytest.MonkeyPatch,
    told: Callable[[Any, tuple[Any, ...]], str],
    function: Any,
    given: tuple[Any, ...],
    *,
    way: str,
) -> None:
    """Native code of the "whole" of a function, or of its "islands", does a call as operators do,
    as far as `told` says; so does Python, where nothing is raised."""
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    expected = told(torch.jit.script(fresh(function)), given)
    if "raised" not in expected:
        assert expected == told(function, given)
    if way == "whole":
        monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    else:
        only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(function))
    for _ in range(3):
        assert told(scripted, given) == expected


def space_of(scripted: Any) -> dict[str, Any]:
    """The names of a function's plan."""
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    return plan.run.__globals__


@pytest.mark.parametrize("function", list(ARGUMENTS))
def test_islands_do_what_their_lines_do(
    function: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ARGUMENTS[function]
    shared = (given[0], given[1], given[1], {"a": [1]}) if function is aliases else given
    failing = (given[0], [10**6], [7], {"b": [1]}) if function is aliases else given
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    plain = torch.jit.script(fresh(function))
    wanted = [outcome(plain, each) for each in (given, shared, failing)]
    printed = capsys.readouterr().out
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    assert [outcome(scripted, each) for each in (given, shared, failing)] == wanted
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize(("function", "calls"), [(aliases, 2), (texts, 2), (nothing_behind, 1)])
def test_loops_over_numbers_and_containers_are_islands(
    function: Any, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(function))
    scripted(*copy.deepcopy(ARGUMENTS[function]))
    space, done = space_of(scripted), list[bool]()
    names = [name for name in space if re.fullmatch(r"i\d+", name)]
    for name in names:

        def watched(*values: object, part: Any = space[name]) -> Any:
            found = part(*values)
            done.append(found is not None)
            return found

        space[name] = watched
    scripted(*copy.deepcopy(ARGUMENTS[function]))
    assert done == [True] * calls
    assert len(names) == calls


@pytest.mark.parametrize("function", [read, read_beside_floats])
@pytest.mark.parametrize("dtype", DTYPES)
def test_single_numbers_of_tensors(
    function: Any, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = numbers(getattr(torch, dtype))
    wide = torch.cat([x, x, x], 1)
    calls = [(x, x.flip(0), 3), (x.t(), x, 2), (wide[:, ::3], x, 3), (x, x.double(), 3)]
    calls += [(x, x, 4), (x[:, 0], x, 2), (x[:0], x, 1), (x[None], x, 1)]  # which fail
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    plain = torch.jit.script(fresh(function))
    wanted = [outcome(plain, each) for each in calls]
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(function))
    assert [outcome(scripted, each) for each in calls] == wanted
    part = space_of(scripted)["i0"]
    if dtype in ("float32", "float64", "int64") and (function is read or dtype != "int64"):
        assert part(*(each.numpy() for each in calls[0][:2]), 3) is not None


def test_numbers_that_are_no_whole_ones_and_large_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")

    def whole(x: Tensor, n: int):
        total = 0
        for i in range(n):
            total += int(x[i])
        return x, total

    def items(x: Tensor, n: int):
        total = 0
        for i in range(n):
            total += int(x[i].item())
        return x, total

    scripted, read_items = torch.jit.script(whole), torch.jit.script(items)
    assert scripted(torch.tensor([2.9, -2.9, 2.0**53]), 3)[1] == 2**53
    assert read_items(torch.tensor([2.9, -2.9, 2.0**31 - 200]), 3)[1] == 2**31 - 256
    with pytest.raises(RuntimeError, match="without overflow"):
        read_items(torch.tensor([2.0**31]), 1)
    for value in (float("nan"), float("inf"), -1e300):
        with pytest.raises(RuntimeError):
            scripted(torch.tensor([1.0, value], dtype=torch.float64), 2)


def test_attributes_of_modules_are_read_and_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(Counting())
    assert [scripted(torch.ones(1, 2), 4).max().item() for _ in range(2)] == [6, 12]
    assert scripted.seen == [0, 1, 3, 6, 6, 7, 9, 12]


def test_an_island_becomes_native_when_it_is_hot(monkeypatch: pytest.MonkeyPatch) -> None:
    only_islands(monkeypatch)
    monkeypatch.delenv("RUSHLIGHT_NATIVE", raising=False)

    def long(x: Tensor, n: int):
        total = 0
        for i in range(n):
            total = (total * 31 + i) % 1000003
        return x + total

    scripted = torch.jit.script(long)
    wanted = scripted(torch.zeros(1), 50_000)
    space = space_of(scripted)
    until = time.monotonic() + 60
    while space["i0"]._native.is_ready is False:
        assert time.monotonic() < until, "native code has not taken over"
        assert torch.equal(scripted(torch.zeros(1), 50_000), wanted)
    assert torch.equal(scripted(torch.zeros(1), 50_000), wanted)
    assert space["warmi0"]


class Held(NamedTuple):
    tokens: list[int]
    score: float
    state: Tensor


def of_tuples(held: Held, pair: tuple[float, Tensor], x: Tensor):
    y = torch.sin(x)
    found: list[tuple[float, int]] = []
    for k in range(x.size(0)):
        number = held.score + float(y[k]) + float(held.state[k]) * pair[0]
        found.append((number - float(pair[1][0]), held.tokens[k]))
    return y, found


def test_tuples_with_tensors_are_read_in_islands(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Held([5, 6, 7], 0.5, torch.arange(3.0)), (2.0, torch.ones(2)), torch.arange(3.0)
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "off")
    wanted = outcome(torch.jit.script(fresh(of_tuples)), given)
    only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(of_tuples))
    assert [outcome(scripted, given) for _ in range(3)] == [wanted] * 3
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    assert [each.is_native for each in plan.islands] == [True]


def test_objects_that_islands_create_are_written_behind_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(created))
    for _ in range(3):
        assert scripted(torch.ones(2), 6)[1][0].count == 12
    assert "i0" in space_of(scripted)

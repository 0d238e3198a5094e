"""Stretches of modules that keep something from call to call, and of code with dicts."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest

import rushlight as torch
from rushlight.interpreter.plans.stretches import Search, find_stretches
from rushlight.interpreter.running.invoking import code_of
from rushlight.ops.table.direct import knows_calls

from .test_replaying import Spy, random, replayed, same, space_of

nn = torch.nn
Tensor = torch.Tensor

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


class Streaming(nn.Module):
    """A detector that keeps its state and how often it was called."""

    h: Tensor
    calls: int

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 6)
        self.scale = nn.Linear(6, 6)
        self.register_buffer("h", torch.zeros(2, 1, 6))
        self.calls = 0

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        h, c = self.h[0], self.h[1]
        for t in range(x.size(0)):
            h, c = self.cell(x[t], (h, c))
        self.h = torch.stack([h, c])
        return torch.sigmoid(self.scale(h)) * self.calls


def test_modules_that_keep_a_state_have_stretches() -> None:
    torch.manual_seed(0)
    module = Streaming().eval()
    scripted = torch.jit.script(module)
    x = random(5, 1, 4)
    for _ in range(400):  # until it shows that one of its numbers never comes again
        scripted(x)
    spy = replayed(scripted, x)
    module.h, module.calls = scripted.h.clone(), scripted.calls
    for seed in range(4):
        x = random(5, 1, 4, seed=seed)
        assert same(scripted(x), module(x))
        assert same(scripted.h, module.h)
    assert spy.done
    assert all(spy.done)


def test_an_attribute_that_is_set_before_a_stretch_is_read_anew() -> None:
    class Replacing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.ones(3, 3)

        def forward(self, x: Tensor, rounds: int) -> Tensor:
            for _ in range(rounds):
                x = torch.tanh(x @ self.w) + torch.sigmoid(self.w @ x)
                self.w = self.w * 0.5 + x
            return x

    module = Replacing()
    scripted = torch.jit.script(module)
    replayed(scripted, random(3, 3), 3)
    module.w = scripted.w.clone()
    for seed in range(3):
        x = random(3, 3, seed=seed)
        assert same(scripted(x, 3), module(x, 3))
        assert same(scripted.w, module.w)


def test_an_attribute_is_read_on_the_way_that_is_gone_alone() -> None:
    @torch.jit.script
    class Box:
        def __init__(self, x: Tensor, fill: bool) -> None:
            self.held = x
            if fill:
                self.held = x * 2.0

    def used(x: Tensor, fill: bool) -> Tensor:
        box = Box(x, fill)
        for _ in range(3):
            x = torch.tanh(x + box.held) * torch.sigmoid(x)
            if fill:
                x = x + box.held
        return x

    scripted = torch.jit.script(used)
    x = random(4)
    for _ in range(80):
        for fill in (True, False):
            assert same(scripted(x, fill), used(x, fill))


def test_dicts_end_stretches_but_are_no_reason_against_those_behind() -> None:
    def attended(
        x: Tensor, w: Tensor, cache: dict[str, Tensor]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        k = x @ w
        if "k" in cache:
            k = torch.cat([cache["k"], k])
        y = torch.softmax(x @ k.t(), -1) @ k
        return torch.tanh(y @ w) + x, {"k": k}

    scripted = torch.jit.script(attended)
    w = random(4, 4)
    replayed(scripted, random(1, 4), w, {"k": random(3, 4)})
    for rows in (3, 3, 5):
        x, cache = random(1, 4, seed=rows), {"k": random(rows, 4, seed=rows)}
        (found, kept), (wanted, other) = scripted(x, w, cache), attended(x, w, cache)
        assert same([found, kept["k"]], [wanted, other["k"]])
    assert same(scripted(random(1, 4), w, {})[0], attended(random(1, 4), w, {})[0])


class Step(NamedTuple):
    token: int
    tokens: list[int]
    state: Tensor


def test_numbers_that_tensors_are_made_of_are_no_part_of_what_is_known() -> None:
    def stepped(token: int, h: Tensor, table: Tensor, w: Tensor) -> Tensor:
        x = torch.embedding(table, torch.tensor([token]))
        return torch.tanh(torch.tanh(x @ w) + h @ w)

    scripted = torch.jit.script(stepped)
    table, w = random(90, 4), random(4, 4)
    spy = replayed(scripted, 3, random(1, 4), table, w)
    for token in range(80):
        h = random(1, 4, seed=token)
        assert same(scripted(token, h, table, w), stepped(token, h, table, w))
    assert all(spy.done)
    with pytest.raises(RuntimeError, match="the table has 90 rows"):
        scripted(90, random(1, 4), table, w)


def test_parts_of_tuples_are_taken_in_front() -> None:
    def stepped(step: Step, table: Tensor, w: Tensor) -> tuple[Tensor, list[int]]:
        tokens = step.tokens[1:]
        x = torch.embedding(table, torch.tensor([step.tokens[-1]]))
        return torch.tanh(torch.tanh(x @ w) + step.state @ w), tokens

    scripted = torch.jit.script(stepped)
    table, w = random(9, 4), random(4, 4)
    spy = replayed(scripted, Step(1, [2, 3], random(1, 4)), table, w)
    for count in range(1, 9):
        step = Step(count, list(range(count)), random(1, 4, seed=count))
        (found, tokens), (wanted, others) = scripted(step, table, w), stepped(step, table, w)
        assert same(found, wanted)
        assert tokens == others
    assert all(spy.done)
    with pytest.raises(RuntimeError, match="out of range"):
        scripted(Step(1, [], random(1, 4)), table, w)


def test_numbers_of_lists_that_change_on_the_way() -> None:
    def grown(x: Tensor, rounds: int) -> tuple[Tensor, list[int]]:
        seen = [7]
        for _ in range(rounds):
            y = torch.tanh(x) @ x
            seen.append(y.size(0) + len(seen))
            y = torch.tanh(y @ y) + seen[-1]
            x = torch.softmax(torch.tanh(y) @ y, 0)
        return x, seen

    scripted = torch.jit.script(grown)
    x = random(4, 4)
    for _ in range(60):
        (found, seen), (wanted, others) = scripted(x, 4), grown(x, 4)
        assert same(found, wanted)
        assert seen == others


def test_ways_may_give_views_and_new_tensors() -> None:
    def cached(x: Tensor, w: Tensor, cache: dict[str, Tensor]) -> tuple[Tensor, dict[str, Tensor]]:
        q, k = (x @ w).chunk(2, 1)
        if "k" in cache:
            k = torch.cat([cache["k"], k])
        return torch.tanh(torch.softmax(q @ k.t(), -1) @ k), {"k": k}

    def written(x: Tensor, w: Tensor, rounds: int) -> list[Tensor]:
        cache: dict[str, Tensor] = {}
        found: list[Tensor] = []
        for _ in range(rounds):
            y, cache = cached(x, w, cache)
            found.append(y)
        return found

    scripted = torch.jit.script(written)
    w = random(4, 8)
    for _ in range(200):
        scripted(random(1, 4), w, 5)
    space = space_of(scripted)
    spy = space["ds0"] = Spy(space["ds0"])
    until = time.monotonic() + 60
    while spy.done[-5:] != 5 * [True]:
        assert time.monotonic() < until, "native code has not taken over"
        scripted(random(1, 4), w, 5)
    for seed in range(3):
        x = random(1, 4, seed=seed)
        assert same(scripted(x, w, 5), written(x, w, 5))


def test_lists_that_loops_go_through_are_given_tensor_by_tensor() -> None:
    def summed(xs: list[Tensor]) -> Tensor:
        total = torch.zeros_like(xs[0])
        for x in xs:
            total = total * 0.5 + x
        return total

    scripted = torch.jit.script(summed)
    xs = [random(5, seed=seed) for seed in range(6)]
    spy = replayed(scripted, xs)
    assert same(scripted(xs), summed(xs))
    xs[2] = xs[4] = xs[0]
    assert same(scripted(xs), summed(xs))
    xs[1] = random(10, seed=8)[::2]
    assert same(scripted(xs), summed(xs))
    assert spy.done == [True, True, False]
    for count in (1, 3, 8):
        xs = [random(5, seed=seed) for seed in range(count)]
        assert same(scripted(xs), summed(xs))
    with pytest.raises(RuntimeError):
        scripted([])


def test_lists_that_loops_change_are_not_given() -> None:
    def grown(xs: list[Tensor], rounds: int) -> Tensor:
        for i in range(rounds):
            xs.append(torch.tanh(xs[i] * 2.0) + xs[0])
        total = xs[0]
        for x in xs:
            total = total * 0.5 + x
        return total

    scripted = torch.jit.script(grown)
    for _ in range(80):
        assert same(scripted([random(5)], 4), grown([random(5)], 4))


class Window(nn.Module):
    """The mean of the last few, which are kept in a list."""

    past: list[Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.past = []

    def forward(self, x: Tensor) -> Tensor:
        self.past.append(x)
        if len(self.past) > 3:
            self.past.pop(0)
        return torch.stack(self.past).mean(dim=0)


@pytest.mark.filterwarnings("ignore:.*captured-mutation")
def test_what_changes_a_modules_list_is_in_no_stretch() -> None:
    scripted = torch.jit.script(Window())
    code = code_of(scripted._c._get_method("forward")._rushlight_function)
    found = [each for begun in find_stretches(code).values() for each in begun.values()]
    kinds = {node.kind for each in found for node in each.stretch.code.nodes}
    assert "aten::pop" not in kinds
    given = [random(4, seed=seed) for seed in range(40)]
    for number, x in enumerate(given):
        assert same(scripted(x), torch.stack(given[max(0, number - 2) : number + 1]).mean(0))
    assert Search(code).has_large == (found != [])


def test_large_stretches_are_told_from_small_ones() -> None:
    @torch.jit.script
    def small(x: Tensor) -> Tensor:
        return (x @ x).reshape(-1) @ x.reshape(-1)

    @torch.jit.script
    def large(x: Tensor, times: int) -> Tensor:
        for _ in range(times):
            x = torch.tanh(x @ x) @ x + x
        return x

    small_code, large_code = (code_of(each._rushlight_function) for each in (small, large))
    assert not Search(small_code).has_large
    search = Search(large_code)
    assert search.has_large
    found = search.taken()
    assert found
    assert found is not search.taken()  # each is taken once

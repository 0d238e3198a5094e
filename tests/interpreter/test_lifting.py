"""Stretches whose tensors are parts that a number chooses, lie in each other, or end at a mask."""

from __future__ import annotations

import time
import weakref
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.table.direct import is_compiling, knows_calls
from tests.interpreter.test_replaying import Spy, random, replayed, same, space_of

Tensor = torch.Tensor

pytestmark = [
    pytest.mark.skipif(not knows_calls(), reason="there is no native code here"),
    pytest.mark.usefixtures("without_gradients"),
]


@pytest.fixture
def without_gradients():
    with torch.no_grad():
        yield


def learned(scripted: Any) -> int:
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    return max(each.learned for each in plan.replays)


def walk(table: Tensor, weights: Tensor, n: int) -> list[int]:
    """A step depends on which number is the largest."""
    place, found = 0, [0]
    for i in range(n):
        row = torch.tanh(table[place + 1] @ weights + table[2 * i] * 0.5)
        place = int(row.argmax())
        found.append(place)
    return found


def test_rows_that_numbers_choose_are_one_call_whatever_the_numbers_are() -> None:
    scripted = torch.jit.script(walk)
    weights = random(6, 6)
    spy = replayed(scripted, random(20, 6, seed=1), weights, 9)
    for seed in range(30):
        table = random(20, 6, seed=seed)
        assert scripted(table, weights, 9) == walk(table, weights, 9)
    assert all(spy.done)
    assert learned(scripted) == 1


def test_a_number_outside_is_told_at_its_line() -> None:
    scripted = torch.jit.script(walk)
    weights = random(6, 6)
    replayed(scripted, random(20, 6, seed=1), weights, 9)
    with pytest.raises(RuntimeError, match=r"(?s) ~{12} <--- HERE.*index 20 out of range"):
        scripted(random(20, 6, seed=1), weights, 11)


def earlier_fault(x: Tensor, y: Tensor, i: int) -> Tensor:
    z = torch.tanh(x @ y) * 0.5
    return z + y[i]


def test_what_fails_first_is_told_first() -> None:
    scripted = torch.jit.script(earlier_fault)
    replayed(scripted, random(3, 4), random(4, 4), 1)
    with pytest.raises(RuntimeError, match=r"(?s)x @ y"):
        scripted(random(3, 5), random(4, 4), 9)


def test_parts_are_not_kept() -> None:
    scripted = torch.jit.script(walk)
    weights = random(6, 6)
    replayed(scripted, random(20, 6, seed=1), weights, 9)
    table = random(20, 6, seed=2)
    array = weakref.ref(table._array)
    scripted(table, weights, 9)
    del table
    assert array() is None


# ----------------------------------------------------------------------- parts of one another


def rotated(x: Tensor, cos: Tensor, first: Tensor, second: Tensor) -> Tensor:
    y = torch.cat([-second, first], -1)
    return torch.tanh(x * cos + y * cos) * 2.0 - x


def test_operands_may_lie_in_each_other() -> None:
    scripted = torch.jit.script(rotated)

    def arguments(seed: int) -> tuple[Tensor, ...]:
        x = random(3, 8, seed=seed)
        return x, random(3, 8, seed=seed + 1), x[:, :4], x[:, 4:]

    spy = replayed(scripted, *arguments(0))
    for seed in range(20):
        given = arguments(seed)
        assert same(scripted(*given), rotated(*given))
        apart = tuple(each.clone() for each in given)
        assert same(scripted(*apart), rotated(*apart))
        x, cos, *_ = given
        crossed = x, cos, x[:, 2:6], x[:, 1:5]
        assert same(scripted(*crossed), rotated(*crossed))
    assert any(spy.done)


# ------------------------------------------------------------------------------------- masks


def suppressed(boxes: Tensor, scores: Tensor, limit: float) -> Tensor:
    """The best boxes that overlap no better one, of lower and upper ends."""
    sizes = boxes[:, 1] - boxes[:, 0]
    order = scores.argsort(descending=True)
    kept: list[int] = []
    while order.numel() > 0:
        best = int(order[0])
        kept.append(best)
        rest = order[1:]
        low = torch.max(boxes[rest, 0], boxes[best, 0])
        high = torch.min(boxes[rest, 1], boxes[best, 1])
        both = (high - low).clamp(min=0.0)
        order = rest[both / (sizes[rest] + sizes[best] - both) <= limit]
    return torch.tensor(kept)


def boxes_of(count: int, seed: int) -> tuple[Tensor, Tensor]:
    ends = random(count, 2, seed=seed).sort(1)[0]
    return ends, random(count, seed=seed + 1)


def test_loops_over_what_masks_choose_know_more_than_a_few_sizes() -> None:
    scripted = torch.jit.script(suppressed)
    boxes, scores = boxes_of(60, 0)
    wanted = suppressed(boxes, scores, 0.9)
    assert len(wanted) > 20
    for _ in range(400):
        assert same(scripted(boxes, scores, 0.9), wanted)
    assert learned(scripted) > 20
    space = space_of(scripted)
    spy = space["ds0"] = Spy(space["ds0"])
    for seed in range(8):
        given = *boxes_of(60, seed), 0.9
        assert same(scripted(*given), suppressed(*given))
    assert any(spy.done)


def counted(frames: list[Tensor], weights: Tensor) -> tuple[Tensor, list[int]]:
    """The register of the round's number holds other things later in the round."""
    state, found = weights[0], [0]
    for i in range(len(frames)):
        frame = frames[i]
        state = torch.tanh((frame @ weights).prod(1) * 0.5 + state).sort()[0]
        order = state.argsort(descending=True)
        found.append(int(order[0]) + int((state > 0.0).sum()))
    return state, found


def test_rounds_whose_number_is_not_kept_have_stretches() -> None:
    scripted = torch.jit.script(counted)
    frames, weights = [random(4, 4, seed=n) for n in range(5)], random(4, 4, seed=9)
    spy = replayed(scripted, frames, weights)
    for seed in range(10):
        given = [random(4, 4, seed=seed + n) for n in range(5)], weights
        assert same(scripted(*given), counted(*given))
    assert all(spy.done)


def through_layers(x: Tensor, weights: list[Tensor], order: Tensor) -> Tensor:
    """Whose tensors stand in a list, in an order that is in a tensor."""
    for i in range(order.size(0)):
        k = int(order[i])
        x = torch.tanh(x @ weights[k] + x) * 0.5 - weights[k][i]
    return x


def test_tensors_of_a_list_are_taken_in_front() -> None:
    scripted = torch.jit.script(through_layers)
    weights = [random(6, 6, seed=seed) for seed in range(4)]
    spy = replayed(scripted, random(3, 6), weights, torch.tensor([2, 0, 3, 1, 1]))
    for seed in range(10):
        x, order = random(3, 6, seed=seed), torch.randint(-4, 4, (5,))
        assert same(scripted(x, weights, order), through_layers(x, weights, order))
    assert all(spy.done)
    assert learned(scripted) == 1
    with pytest.raises(RuntimeError, match="list index out of range"):
        scripted(random(3, 6), weights, torch.tensor([1, 4]))


def with_marks(x: Tensor, marks: Tensor, steps: int) -> Tensor:
    """Whose first writes are to what comes from outside, and the last to what is its own."""
    for i in range(steps):
        k = int(x.argmax())
        marks[k] = i
        y = torch.exp(-x) * 0.5 + x[k] - 0.25
        y = y / y.abs().sum() * 3.0
        y[k] = -9.0
        x = y
    return x


def test_writes_to_what_is_outside_end_stretches_and_those_to_their_own_do_not() -> None:
    scripted = torch.jit.script(with_marks)
    spy = replayed(scripted, random(12), torch.zeros(12), 8)
    for seed in range(20):
        ours, theirs, x = torch.zeros(12), torch.zeros(12), random(12, seed=seed)
        assert same(scripted(x, ours, 8), with_marks(x, theirs, 8))
        assert same(ours, theirs)
    assert any(spy.done)


def grid(base: list[float], rows: int, columns: int) -> Tensor:
    """What a loop over numbers gives is a tensor in front; a grid's vectors are views of one."""
    cells: list[list[float]] = []
    for each in base:
        cells.append([-each, each])
    shape = torch.tensor(cells)
    y, x = torch.meshgrid(torch.arange(rows) * 2, torch.arange(columns) * 2, indexing="ij")
    z, _ = torch.broadcast_tensors(y, x)
    found = torch.stack([x + z, y], dim=-1).view(-1, 1, 2) + shape
    return torch.tanh(found * 0.1)


def test_grids_are_one_call_behind_the_loop_that_makes_their_tensor() -> None:
    scripted = torch.jit.script(grid)
    spy = replayed(scripted, [0.5, 1.5, 2.0], 3, 4)
    for seed in range(10):
        base = random(3, seed=seed).tolist()
        assert same(scripted(base, 3, 4), grid(base, 3, 4))
    assert all(spy.done)
    assert learned(scripted) == 1
    plan = tiers_of(scripted._rushlight_function).way(False).plan
    assert plan is not None
    assert any(
        entry is not None and entry.name == "aten::tensor"
        for island in plan.islands
        for entry in island.code.operators
    )


class Layer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.keys, self.values = torch.nn.Linear(6, 6), torch.nn.Linear(6, 6)

    def forward(
        self, x: Tensor, cache: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        k, v = self.keys(x), self.values(x)
        if cache is not None:
            k, v = torch.cat([cache[0], k]), torch.cat([cache[1], v])
        return torch.softmax(x @ k.t(), 1) @ v, (k, v)


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(), Layer()])

    def forward(self, x: Tensor, steps: int) -> list[int]:
        caches: list[tuple[Tensor, Tensor] | None] = [None, None]
        found: list[int] = []
        for _ in range(steps):
            now: list[tuple[Tensor, Tensor] | None] = []
            for i, layer in enumerate(self.layers):
                y, cache = layer(x, caches[i])
                x = x + y
                now.append(cache)
            caches = now
            found.append(int(x.argmax()))
        return found


def test_pairs_of_tensors_in_lists_are_given_to_one_call() -> None:
    module = Decoder().eval().requires_grad_(False)
    scripted = torch.jit.script(module)
    method = scripted._c._get_method("forward")
    for seed in range(90):
        while seed % 30 == 0 and is_compiling():
            time.sleep(0.01)
        x = random(1, 6, seed=seed)
        assert scripted(x, 5) == module(x, 5)
    plan = tiers_of(method._rushlight_function).way(False).plan
    assert plan is not None
    assert [each.learned > 1 for each in plan.replays] == [True]
    assert plan.text.count(".append(") == 3

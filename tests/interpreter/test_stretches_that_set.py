"""Stretches that set attributes, and that give parts of tensors."""

from __future__ import annotations

import pytest

import rushlight as torch
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.ops.table.direct import knows_calls

from .test_replaying import Spy, random, replayed, same, space_of

nn = torch.nn
Tensor = torch.Tensor

pytestmark = pytest.mark.skipif(not knows_calls(), reason="there is no native code here")


@pytest.fixture(autouse=True)
def without_gradients():
    with torch.no_grad():
        yield


class Window(nn.Module):
    """What came last, as a part of what it is computed from."""

    kept: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Linear(4, 4)
        self.register_buffer("kept", torch.zeros(3, 4))
        self.rows = 0

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        whole = torch.cat([self.kept, x])
        self.kept = whole[whole.size(0) - 3 :]
        self.rows += 1
        return torch.tanh(self.w(self.kept)) + 1, whole


def test_parts_that_are_kept_lie_in_what_is_given() -> None:
    torch.manual_seed(0)
    module = Window()
    scripted = torch.jit.script(module)
    spy = replayed(scripted, random(2, 4))
    module.kept, module.rows = scripted.kept.clone(), scripted.rows
    for seed in range(5):
        x = random(2, 4, seed=seed)
        (found, whole), (wanted, other) = scripted(x), module(x)
        assert same([found, whole, scripted.kept], [wanted, other, module.kept])
        whole[-1], other[-1] = 7.0, 7.0
        assert same(scripted.kept, module.kept)
        assert scripted.kept.storage_offset() == module.kept.storage_offset()
        assert scripted.rows == module.rows
    assert len(spy.done) == 5
    assert all(spy.done)


class Cell(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.h = torch.zeros(1, 4)
        self.w = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        self.h = torch.tanh(self.w(x) + self.h)
        return self.h * 2


class Cells(nn.Module):
    def __init__(self, first: Cell, second: Cell) -> None:
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x: Tensor) -> Tensor:
        return self.second(self.first(x)) + self.first.h


def test_modules_that_are_one_are_told_from_others() -> None:
    torch.manual_seed(0)
    first, second = Cell(), Cell()
    scripted = torch.jit.script(Cells(first, second))
    spy = replayed(scripted, random(1, 4))
    other = scripted.second
    for is_shared in (False, True, False):
        scripted.second = scripted.first if is_shared else other
        module = Cells(first, first if is_shared else second)
        first.h, second.h = scripted.first.h.clone(), other.h.clone()
        spy.done.clear()
        for seed in range(4):
            x = random(1, 4, seed=seed)
            assert same(scripted(x), module(x))
            assert same([scripted.first.h, scripted.second.h], [module.first.h, module.second.h])
        assert all(spy.done)
        assert len(spy.done) == (0 if is_shared else 4)


def test_attributes_that_a_way_leaves_alone_are_the_tensors_they_were() -> None:
    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.h = torch.zeros(4)

        def forward(self, x: Tensor, replaces: bool) -> Tensor:
            y = torch.tanh(x) * 2 + self.h
            if replaces:
                self.h = torch.sigmoid(y) + x
            return torch.exp(y + self.h)

    module = Gated()
    scripted = torch.jit.script(module)
    replayed(scripted, random(4), True)
    spy = replayed(scripted, random(4), False)
    module.h = scripted.h.clone()
    for seed, replaces in enumerate((False, True, False, False)):
        x, before = random(4, seed=seed), scripted.h
        assert same(scripted(x, replaces), module(x, replaces))
        assert same(scripted.h, module.h)
        assert (scripted.h is before) is not replaces
    assert all(spy.done)


def test_attributes_may_be_set_to_what_is_given() -> None:
    class Shifted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last = torch.zeros(4)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            before = self.last
            self.last = x
            y = torch.tanh(x - before)
            return torch.exp(y) * y, before, before[1:]

    scripted = torch.jit.script(Shifted())
    module = Shifted()
    for seed in range(80):
        scripted(random(4, seed=seed))
    spy = space_of(scripted)["ds0"] = Spy(space_of(scripted)["ds0"])
    module.last = scripted.last.clone()
    for seed in range(4):
        x = random(4, seed=seed)
        found, wanted = scripted(x), module(x)
        assert same(found, wanted)
        assert found[2].data_ptr() == found[1].data_ptr() + 4
        x[3] = 5.0
        assert same(scripted.last, module.last)
        assert scripted.last.data_ptr() == x.data_ptr()
    assert all(spy.done)


def test_numbers_that_are_set_are_no_part_of_what_is_known() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.at = 0
            self.is_odd = False
            self.rate = 1.0
            self.table = random(90, 4)

        def forward(self, x: Tensor) -> Tensor:
            x = torch.tanh(x + self.table[self.at])
            self.at = (self.at + 1) % 90
            self.is_odd = not self.is_odd
            x = torch.sigmoid(x * 2)
            self.rate = self.rate * 0.5
            return torch.tanh(x * self.table[self.at])

    module = Counting()
    scripted = torch.jit.script(module)
    spy = replayed(scripted, random(4))
    for name in ("at", "is_odd", "rate"):
        setattr(module, name, getattr(scripted, name))
    for seed in range(100):
        x = random(4, seed=seed)
        assert same(scripted(x), module(x))
        assert (scripted.at, scripted.is_odd) == (module.at, module.is_odd)
        assert scripted.rate == module.rate
    assert all(spy.done)


def test_attributes_are_set_up_to_what_fails() -> None:
    class Looking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.h = torch.zeros(1, 4)
            self.late = torch.zeros(1, 4)
            self.table = random(5, 4)

        def forward(self, x: Tensor, places: Tensor) -> Tensor:
            self.h = torch.tanh(x) + self.h
            y = torch.embedding(self.table, places) * self.h
            self.late = torch.exp(y)
            return self.late + x

    scripted = torch.jit.script(Looking())
    module = Looking()
    spy = replayed(scripted, random(1, 4), torch.tensor([2]))
    module.h = scripted.h.clone()
    late = scripted.late.clone()
    with pytest.raises(RuntimeError, match="the table has 5 rows"):
        scripted(random(1, 4), torch.tensor([9]))
    assert spy.done == [False]
    module.h = torch.tanh(random(1, 4)) + module.h
    assert same([scripted.h, scripted.late], [module.h, late])


def test_loops_set_attributes_in_each_round() -> None:
    class Rolling(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.h = torch.zeros(4)

        def forward(self, xs: Tensor) -> Tensor:
            total = torch.zeros(4)
            for i in range(xs.size(0)):
                before = self.h
                self.h = torch.tanh(xs[i] + before)
                total = total + self.h * before
            return total

    module = Rolling()
    scripted = torch.jit.script(module)
    spy = replayed(scripted, random(5, 4))
    module.h = scripted.h.clone()
    for rows in (5, 5, 3, 1):
        xs = random(rows, 4, seed=rows)
        assert same(scripted(xs), module(xs))
        assert same(scripted.h, module.h)
    assert spy.done[:2] == [True, True]


def test_results_may_be_parts_of_one_tensor() -> None:
    def parted(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = torch.tanh(x @ w) + 1
        a, b = torch.exp(y).chunk(2, 1)
        return a, b.t(), x[:, 1:]

    scripted = torch.jit.script(parted)
    w = random(4, 6)
    spy = replayed(scripted, random(3, 4), w)
    for seed in range(3):
        x = random(3, 4, seed=seed)
        found, wanted = scripted(x, w), parted(x, w)
        assert same(found, wanted)
        assert found[0].untyped_storage().data_ptr() == found[1].untyped_storage().data_ptr()
        for results in (found, wanted):
            torch.as_strided(results[0], (3, 6), (6, 1), 0).mul_(2)
        assert same(found, wanted)
        x[0, 1] = 3.0
        assert found[2][0, 0] == 3.0
    assert all(spy.done)


def test_loops_with_few_operators_are_left_to_native_code() -> None:
    def together(samples: list[tuple[Tensor, int]], rows: int) -> tuple[Tensor, list[int]]:
        found: list[Tensor] = []
        labels: list[int] = []
        for x, label in samples:
            found.append(torch.cat([x, torch.zeros(rows - x.size(0), x.size(1))]))
            labels.append(label)
        return torch.stack(found), labels

    scripted = torch.jit.script(together)
    assert tiers_of(scripted._rushlight_function).way(False).executable.refusal == ""

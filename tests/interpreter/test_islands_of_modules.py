"""Islands that read and write tensors of modules, which they are given."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor
nn = torch.nn


class Store(nn.Module):
    data: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("data", torch.zeros(8))


class Ring(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.pos = 0

    def forward(self, x: Tensor) -> Tensor:
        for i in range(x.size(0)):
            end = self.pos + x.size(1)
            if end <= 8:
                self.store.data[self.pos : end] = x[i]
            else:
                k = 8 - self.pos
                self.store.data[self.pos :] = x[i, :k]
                self.store.data[: end - 8] = x[i, k:]
            self.pos = end % 8
        return torch.cat([self.store.data[self.pos :], self.store.data[: self.pos]])


class Moments(nn.Module):
    moments: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("moments", torch.zeros(2))

    def forward(self, numbers: list[float]) -> float:
        count, mean = float(self.moments[0]), float(self.moments[1])
        for number in numbers:
            count += 1.0
            mean += (number - mean) / count
        self.moments[0] = count
        self.moments[1] = mean
        return mean


class Exchanging(nn.Module):
    held: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.zeros(4))

    def forward(self, x: Tensor) -> tuple[float, Tensor]:
        total = 0.0
        for i in range(x.size(0)):
            self.held = self.held + x
            for j in range(4):
                total += float(self.held[j]) * i
        return total, self.held


def islands_of(scripted: Any) -> list[Any]:
    plan = tiers_of(scripted._c._get_method("forward")._rushlight_function).way(False).plan
    return [] if plan is None else list(plan.islands)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")


def test_buffers_are_written_in_islands() -> None:
    model, scripted = Ring(), torch.jit.script(Ring())
    data = scripted.store.data
    for step in range(5):
        x = torch.arange(6.0).view(2, 3) + step
        assert torch.equal(scripted(x), model(x))
        assert scripted.store.data is data
        assert torch.equal(data, model.store.data)
    assert [each.is_native for each in islands_of(scripted)] == [True]
    version = data._version
    scripted(torch.ones(1, 3))
    assert data._version == version + 1


def test_what_is_written_may_be_what_is_given() -> None:
    model, scripted = Ring(), torch.jit.script(Ring())
    for each in (model, scripted):
        each.store.data.copy_(torch.arange(8.0))
        each(each.store.data.view(4, 2))
    assert torch.equal(scripted.store.data, model.store.data)


def test_writes_behind_a_loop_belong_to_its_island() -> None:
    model, scripted = Moments(), torch.jit.script(Moments())
    for step in range(4):
        numbers = [float(step), 2.5, -1.0]
        assert scripted(numbers) == model(numbers)
        assert torch.equal(scripted.moments, model.moments)
    assert [each.is_native for each in islands_of(scripted)] == [True]
    scripted.moments = torch.ones(2, dtype=torch.float64)
    assert scripted([3.0]) == 2.0
    assert scripted.moments.tolist() == [2.0, 2.0]


def test_tensors_that_are_exchanged_are_read_where_they_are_used() -> None:
    model, scripted = Exchanging(), torch.jit.script(Exchanging())
    for _ in range(4):
        (wanted, held), (found, other) = model(torch.ones(4)), scripted(torch.ones(4))
        assert found == wanted
        assert torch.equal(other, held)


class Phase(Enum):
    QUIET = 0
    LOUD = 1


class Machine(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.phase = Phase.QUIET
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> list[int]:
        energy = self.linear(x).abs().mean(1)
        out: list[int] = []
        for i in range(energy.size(0)):
            if self.phase == Phase.QUIET:
                if float(energy[i]) > 0.5:
                    self.phase = Phase.LOUD
            else:
                out.append(i)
                if float(energy[i]) <= 0.5:
                    self.phase = Phase.QUIET
        return out


def test_an_island_takes_and_sets_members_of_enumerations(monkeypatch: Any) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    module = Machine().eval().requires_grad_(False)
    scripted, x = torch.jit.script(module), torch.randn(9, 4)
    want = [module(x) for _ in range(5)]
    assert [scripted(x) for _ in range(5)] == want
    assert [each.is_native for each in islands_of(scripted)] == [True]
    assert [each.why_not for each in islands_of(scripted)] == [""]
    assert scripted.phase == module.phase


class Embedded(nn.Module):
    """What an island in front of a layer is given and gives."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Embedding(9, 3)
        self.count = 0

    def forward(self, words: list[str]) -> Tensor:
        ids: list[int] = []
        for word in words:
            ids.append(len(word) % 9)
            self.count += 1
        return self.layer(torch.tensor(ids))


def test_objects_are_there_behind_islands_that_read_nothing_of_them() -> None:
    scripted = torch.jit.script(Embedded())
    with torch.no_grad():
        for words in (["a", "bb"], ["", "ccc", "a"]):
            found = scripted(words)
            assert torch.equal(found, scripted.layer.weight[[len(word) for word in words]])
    assert [each.is_native for each in islands_of(scripted)] == [True]
    assert scripted.count == 5


class Hashed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(16, 3)

    def forward(self, rows: list[list[str]]) -> Tensor:
        ids: list[int] = []
        offsets: list[int] = []
        for row in rows:
            offsets.append(len(ids))
            for word in row:
                ids.append(len(word))
        return self.bag(torch.tensor(ids), torch.tensor(offsets))


def test_what_is_idle_in_front_is_no_part_of_an_island() -> None:
    model = Hashed()
    scripted = torch.jit.script(model)
    rows = [["a", "bb"], ["ccc"]]
    with torch.no_grad():
        for _ in range(3):
            assert torch.equal(scripted(rows), model(rows))
    assert [len(each.code.body) > 5 for each in islands_of(scripted)] == [True]

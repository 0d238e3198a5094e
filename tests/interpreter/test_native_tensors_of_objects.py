"""Objects that hold tensors, by themselves and in containers, natively: as plans do it."""

from __future__ import annotations

import io
from typing import Any

import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import fresh, only_islands

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

nn = torch.nn


class Track:
    def __init__(self, number: int, box: Tensor) -> None:
        self.number = number
        self.box = box
        self.age = 0

    def update(self, box: Tensor) -> None:
        self.box = self.box * 0.5 + box * 0.5
        self.age = 0


class Hypothesis:
    def __init__(self, state: tuple[Tensor, Tensor], seen: list[Tensor]) -> None:
        self.state = state
        self.seen = seen
        self.last = torch.jit.annotate(Tensor | None, None)
        self.named = torch.jit.annotate(dict[str, Tensor], {})


def followed(frames: list[Tensor], limit: float) -> dict[int, Tensor]:
    tracks: list[Track] = []
    count = 0
    for boxes in frames:
        used = [False for _ in range(boxes.size(0))]
        for track in tracks:
            track.age += 1
            for j in range(boxes.size(0)):
                if not used[j] and abs(float(track.box[0] - boxes[j, 0])) < limit:
                    used[j] = True
                    track.update(boxes[j])
                    break
        for j in range(boxes.size(0)):
            if not used[j]:
                tracks.append(Track(count, boxes[j]))
                count += 1
        alive: list[Track] = []
        for track in tracks:
            if track.age < 2:
                alive.append(track)
        tracks = alive
    found: dict[int, Tensor] = {}
    for track in tracks:
        found[track.number] = track.box
    return found


def searched(xs: list[Tensor], rounds: int) -> tuple[list[Tensor], Tensor, int]:
    best = Hypothesis((xs[0], xs[1]), [])
    others: list[Hypothesis] = []
    missing = 0
    for i in range(rounds):
        h, c = best.state
        made = Hypothesis((c + xs[i % len(xs)], h), best.seen[:])
        made.seen.append(h)
        last = best.last
        if last is not None:
            made.named["last"] = last
        if "last" in best.named:
            made.seen.append(best.named["last"])
        else:
            missing += 1
        made.last = xs[i % len(xs)] if i % 2 == 0 else None
        others.append(best)
        best = made
    others[0].seen.append(xs[0])
    return best.seen, best.state[0], missing + len(others[0].seen)


def moved(tracks: list[Track], boxes: Tensor) -> float:
    """Objects that come from outside: of some the tensors are exchanged."""
    total = 0.0
    for i in range(len(tracks)):
        track = tracks[i]
        total += float(track.box.sum())
        if i % 2 == 0:
            track.box = boxes[i]
        if i == 3:
            track.box = tracks[0].box
    return total


def boxes(n: int) -> list[Tensor]:
    return [torch.arange(8.0).reshape(2, 4) * 3 + i for i in range(n)]


CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (followed, (boxes(5), 2.0)),
    (followed, ([boxes(1)[0][:, ::2], boxes(1)[0][:1].double()[:, :2]], 1.0)),
    (followed, ([torch.zeros(0, 4), *boxes(3)], 0.5)),
    (followed, ([torch.zeros(2)], 0.5)),
    (searched, ([torch.ones(2), torch.arange(2.0)], 5)),
    (searched, ([torch.ones(2), torch.arange(2.0), torch.ones(1)], 4)),
    (searched, ([torch.ones(2)], 4)),
    (searched, ([torch.ones(2), torch.ones(2, dtype=torch.bfloat16)], 3)),
]


def told(function: Any, given: tuple[Any, ...]) -> str:
    try:
        return str(function(*given))
    except Exception as error:
        return type(error).__name__


@pytest.mark.parametrize(("function", "given"), CALLS)
@pytest.mark.parametrize("whole", [True, False])
def test_natively_as_eager(
    monkeypatch: pytest.MonkeyPatch, function: Any, given: tuple[Any, ...], whole: bool
) -> None:
    if whole:
        monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    else:
        only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(function))
    saved = io.BytesIO()
    torch.jit.save(scripted, saved)
    saved.seek(0)
    wanted = told(function, given)
    for each in (scripted, scripted, torch.jit.load(saved)):
        found = told(each, given)
        assert (found == wanted) or (wanted == found.replace("RuntimeError", wanted))


def test_they_are_native_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    for function, given in (CALLS[0], CALLS[4]):
        scripted = torch.jit.script(fresh(function))
        way = tiers_of(scripted._rushlight_function).way(False)
        assert way.run_straight(given).__class__ in (dict, tuple), way.why_not_native


class Cache(nn.Module):
    """What is kept from call to call: tensors by themselves, in a dict and in a tuple."""

    held: Tensor
    found: dict[str, Tensor]
    pair: tuple[Tensor, Tensor]
    maybe: Tensor | None

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("held", torch.zeros(3))
        self.weight = nn.Parameter(torch.ones(3))
        self.found = {}
        self.pair = (torch.zeros(1), torch.ones(1))
        self.maybe = None

    def forward(self, x: Tensor, names: list[str]) -> tuple[list[Tensor], Tensor]:
        out: list[Tensor] = []
        for name in names:
            maybe = self.maybe
            if maybe is not None:
                self.held = self.held + maybe
            if name in self.found:
                out.append(self.found[name])
            else:
                self.found[name] = x * len(self.found)
            first, second = self.pair
            self.pair = (second, first + 1.0)
            self.maybe = x
        return out, self.held


def state_of(module: Any) -> str:
    return f"{module.held} {module.found} {module.pair} {module.maybe}"


@pytest.mark.parametrize("way", ["whole", "islands"])
@pytest.mark.parametrize("grad", [True, False])
def test_a_module_keeps_tensors(monkeypatch: pytest.MonkeyPatch, way: str, grad: bool) -> None:
    if way == "whole":
        monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    else:
        only_islands(monkeypatch)
    model, scripted = Cache(), torch.jit.script(Cache())
    for step in range(4):
        x = torch.arange(3.0) + step
        names = ["a", "b", "a", "c", "b"][step:]
        with torch.set_grad_enabled(grad):
            assert str(scripted(x, names)) == str(model(x, names))
            assert state_of(scripted) == state_of(model)
    saved = io.BytesIO()
    torch.jit.save(scripted, saved)
    saved.seek(0)
    again = torch.jit.load(saved)
    assert str(again(torch.ones(3), ["a", "d"])) == str(model(torch.ones(3), ["a", "d"]))
    assert state_of(again) == state_of(model)


class Reading(nn.Module):
    """What is read and given back is the very tensor."""

    weight: Tensor

    def __init__(self, wants: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(3.0), requires_grad=wants)
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x: Tensor, n: int) -> tuple[Tensor, Tensor, float]:
        total = 0.0
        for i in range(n):
            total += float(self.weight[i % 3])
            self.state = x
        return self.weight, self.state, total


@pytest.mark.parametrize("wants", [True, False])
@pytest.mark.parametrize("grad", [True, False])
def test_what_is_read_is_the_very_tensor(
    monkeypatch: pytest.MonkeyPatch, wants: bool, grad: bool
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(Reading(wants))
    for _ in range(12):
        x = torch.ones(3)
        with torch.set_grad_enabled(grad):
            weight, state, total = scripted(x, 4)
        assert weight is scripted.weight
        assert weight.requires_grad is wants
        assert total == 3.0
        assert state.data_ptr() == x.data_ptr() == scripted.state.data_ptr()
        x[0] = 5.0
        assert float(scripted.state[0]) == 5.0


class Growing(nn.Module):
    """A state whose history goes on where gradients are wanted."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((2,), 2.0))
        self.pair = (torch.ones(2), torch.ones(2))
        self.register_buffer("state", torch.ones(2))

    def forward(self, x: Tensor, n: int) -> Tensor:
        for _ in range(n):
            first, second = self.pair
            self.pair = (second + x, first)
            self.state = self.state * self.scale
        return self.state + self.pair[0]

    @torch.jit.export
    def look(self, n: int) -> Tensor:
        total = self.state
        for _ in range(n):
            total = total + self.pair[0]
        return total


def test_histories_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    model, scripted = Growing(), torch.jit.script(Growing())
    for each in (model, scripted):
        x = torch.ones(2, requires_grad=True)
        each(x, 2)
        found = each.look(3)
        found.sum().backward()
        assert x.grad is not None
        assert torch.equal(x.grad, torch.full((2,), 3.0))
        assert torch.equal(each.scale.grad, torch.full((2,), 4.0))
        with torch.no_grad():
            assert not each.look(3).requires_grad
            assert torch.equal(each.look(3), found)


def tracks_of(boxes: Tensor) -> list[Track]:
    first = Track(0, boxes[0])
    return [first, Track(1, boxes[1]), first, Track(3, boxes[2])]


def rewritten(boxes: Tensor, new: Tensor) -> tuple[list[Tensor], float]:
    tracks = tracks_of(boxes)
    total = moved(tracks, new)
    return [each.box for each in tracks], total


class Tracking(nn.Module):
    def __init__(self, boxes: Tensor) -> None:
        super().__init__()
        self.first = Track(0, boxes[0])

    def forward(self, boxes: Tensor) -> Tensor:
        for i in range(boxes.size(0)):
            self.first.update(boxes[i])
        return self.first.box


def test_objects_that_a_module_holds_are_written_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    old, new = torch.arange(9.0).view(3, 3), torch.arange(12.0).view(4, 3)
    scripted = torch.jit.script(fresh(rewritten))
    model, module = Tracking(old), torch.jit.script(Tracking(old))
    for _ in range(3):
        assert str(scripted(old, new)) == str(rewritten(old, new))
        assert torch.equal(module(new), model(new))
        assert torch.equal(module.first.box, model.first.box)


class Pointing:
    def __init__(self, track: Track) -> None:
        self.track = track


def exchanged(boxes: Tensor, n: int) -> Tensor:
    """What is read belongs to an object that is exchanged on the way."""
    first, second = Track(0, boxes[0]), Track(1, boxes[1])
    at = Pointing(first)
    total = 0.0
    for i in range(n):
        total += float(at.track.box[0]) * (i + 1)
        at.track = second if i % 2 == 0 else first
    return boxes + total


class Exchanging(nn.Module):
    def __init__(self, held: list[Tensor]) -> None:
        super().__init__()
        self.first, self.second = Track(0, held[0]), Track(1, held[1])
        self.now = self.first

    def forward(self, x: Tensor, n: int) -> Tensor:
        total = 0.0
        for i in range(n):
            total += float(self.now.box[0]) * (i + 1)
            self.now = self.second if i % 2 == 0 else self.first
        return torch.erfc(x) + total


@pytest.mark.parametrize("islands", [True, False])
def test_owners_that_are_exchanged(monkeypatch: pytest.MonkeyPatch, islands: bool) -> None:
    if islands:
        only_islands(monkeypatch)
    else:
        monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    given = torch.arange(6.0).view(2, 3) + 1
    scripted = torch.jit.script(fresh(exchanged))
    assert str(scripted(given, 5)) == str(exchanged(given, 5))
    model = Exchanging([given[0], given[1]])
    module = torch.jit.script(Exchanging([given[0], given[1]]))
    for n in (3, 4, 3):
        assert str(module(given, n)) == str(model(given, n))


class Written(nn.Module):
    """A tensor is written that an attribute shares memory with."""

    def __init__(self, held: Tensor) -> None:
        super().__init__()
        self.held = held

    def forward(self, x: Tensor, n: int) -> float:
        total = 0.0
        for i in range(n):
            x[i] = float(i)
            self.held = self.held[:]
            total += float(self.held[i])
        return total


def test_what_an_object_holds_may_be_what_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    x = torch.ones(4)
    scripted = torch.jit.script(Written(x))
    scripted.held = x
    for _ in range(3):
        assert scripted(x, 4) == 6.0
        x.fill_(9.0)

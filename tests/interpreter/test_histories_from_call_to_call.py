"""What scripted code keeps between calls keeps its history, too: gradients go through all calls."""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.gradients.calls.record import _MOST_WAITING, Record
from rushlight.utils.checkpoint import checkpoint


class KeepsList(torch.nn.Module):
    kept: list[torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0, 0.5]))
        self.kept = [torch.zeros(2)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh((x + self.kept[-1]) * self.w)
        self.kept.append(h)
        return h * 2


class KeepsDict(torch.nn.Module):
    kept: dict[str, torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0, 0.5]))
        self.kept = {"h": torch.zeros(2)}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh((x + self.kept["h"]) * self.w)
        self.kept["h"] = h
        return h * 2


class KeepsTuple(torch.nn.Module):
    kept: tuple[torch.Tensor, int]

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0, 0.5]))
        self.kept = (torch.zeros(2), 0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh((x + self.kept[0]) * self.w)
        self.kept = (h, self.kept[1] + 1)
        return h * 2


class KeepsDeeper(torch.nn.Module):
    kept: list[dict[str, list[torch.Tensor]]]

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([2.0, 0.5]))
        self.kept = [{"h": [torch.zeros(2)]}]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh((x + self.kept[0]["h"][0]) * self.w)
        self.kept[0]["h"][0] = h
        return h * 2


KINDS: list[Callable[[], Any]] = [KeepsList, KeepsDict, KeepsTuple, KeepsDeeper]

pytestmark = pytest.mark.filterwarnings("ignore:.*captured-mutation")


def _gradients(module: Any, calls: int) -> tuple[list[float], list[float]]:
    x = torch.tensor([1.0, 0.5], requires_grad=True)
    for _ in range(calls):
        y = module(x)
    y.sum().backward()
    return x.grad.tolist(), module.w.grad.tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("calls", [2, 3, 40])
def test_gradients_go_through_containers(kind: Callable[[], Any], calls: int) -> None:
    module = kind()
    scripted = torch.jit.script(kind())
    for one, other in zip(_gradients(scripted, calls), _gradients(module, calls), strict=True):
        assert one == pytest.approx(other, rel=1e-5)


def test_what_python_reads_has_its_history() -> None:
    module = torch.jit.script(KeepsList())
    module(torch.ones(2))
    inside = module.kept[-1]
    assert inside.requires_grad
    assert not inside.is_leaf
    inside.sum().backward()
    assert module.w.grad is not None
    assert not module.kept[0].requires_grad


def test_leaves_that_python_puts_in() -> None:
    original, leaf = KeepsList(), torch.ones(2, requires_grad=True)
    original.kept = [leaf]
    for module in (torch.jit.script(original), torch.jit.script(KeepsList())):
        leaf.grad = None
        module.kept = [leaf]
        assert module.kept[0] is leaf
        module(torch.zeros(2)).sum().backward()
        assert leaf.grad is not None
        assert leaf.grad.abs().sum() > 0


def test_quick_calls_see_that_there_is_a_history() -> None:
    module = torch.jit.script(KeepsTuple())
    module.w.requires_grad_(False)
    for _ in range(60):
        assert not module(torch.ones(2)).requires_grad
    leaf = torch.ones(2, requires_grad=True)
    module.kept = (leaf, 0)
    assert module(torch.ones(2)).requires_grad
    module.kept = (torch.ones(2), 0)
    assert not module(torch.ones(2)).requires_grad


class Store(torch.nn.Module):
    kept: list[torch.Tensor]

    def __init__(self) -> None:
        super().__init__()
        self.kept = [torch.zeros(2)]

    def forward(self, place: int) -> torch.Tensor:
        return self.kept[place]

    @torch.jit.export
    def put(self, x: torch.Tensor) -> None:
        self.kept = [x, x * 2]


def test_what_comes_out_is_what_was_put_in() -> None:
    module = torch.jit.script(Store())
    x = torch.ones(2, requires_grad=True)
    module.put(x)
    assert module(0) is x
    with torch.no_grad():
        for _ in range(40):
            assert module(0) is x
            assert module(1).requires_grad
    module.put(x.detach())
    assert not module(1).requires_grad


def test_copies_keep_leaves() -> None:
    module = torch.jit.script(Store())
    module.put(torch.ones(2, requires_grad=True))
    module.kept = [torch.ones(2, requires_grad=True)]
    copied = copy.deepcopy(module)
    assert copied.kept[0].requires_grad
    assert copied.kept[0] is not module.kept[0]


@torch.jit.script
class Box:
    def __init__(self, x: torch.Tensor) -> None:
        self.items = [x]
        self.one = x

    def add(self, x: torch.Tensor) -> None:
        self.items.append(x * self.items[-1])
        self.one = x * self.one

    def total(self) -> torch.Tensor:
        total = self.one
        for each in self.items:
            total = total + each
        return total


def _boxed(x: torch.Tensor) -> Box:
    box = Box(x * 2)
    box.add(x)
    return box


def _total(box: Box) -> torch.Tensor:
    return box.total()


def test_objects_that_come_out_and_go_in_again() -> None:
    boxed, total = torch.jit.script(_boxed), torch.jit.script(_total)
    x = torch.ones(2, requires_grad=True)
    box = boxed(x)
    assert box.one.requires_grad
    assert all(each.requires_grad for each in box.items)
    total(box).sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    box.one = box.items[0].detach()
    box.items = [torch.ones(2, requires_grad=True)]
    assert total(box).requires_grad


def _step(x: torch.Tensor, h: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x * w + h)


def test_long_series_of_calls() -> None:
    step = torch.jit.script(_step)
    grads = []
    for run in (step, _step):
        w, h = torch.full((2,), 0.3, requires_grad=True), torch.zeros(2)
        for number in range(1200):
            h = run(torch.full((2,), (-1.0) ** number), h, w)
        h.sum().backward()
        grads.append(w.grad.tolist())
    assert grads[0] == pytest.approx(grads[1], rel=1e-5)


class Detaches(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("h", torch.zeros(2))
        self.kept: list[torch.Tensor] = [torch.zeros(2)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.tanh((x + self.h + self.kept[0]) * self.w)
        self.h = y.detach() * 0.5
        self.kept[0] = y.detach() * 0.25
        return y


def test_states_without_a_history_do_not_keep_earlier_calls() -> None:
    module = torch.jit.script(Detaches())
    for _ in range(3 * _MOST_WAITING):
        y = module(torch.ones(2))
    gc.collect()
    waiting = [each for each in gc.get_objects() if type(each) is Record and each._pending]
    assert len(waiting) <= _MOST_WAITING + 2
    y.sum().backward()
    assert not module.h.requires_grad
    assert not module.kept[0].requires_grad


def test_calls_are_not_recorded_for_what_has_no_history_after_all() -> None:
    module = torch.jit.script(Detaches())
    module.w.requires_grad_(False)
    x = torch.ones(2, requires_grad=True)
    assert module(x).requires_grad
    y = module(torch.ones(2))
    assert y._requires_grad is False


def test_hooks_of_what_is_saved_hear_of_calls_within_them() -> None:
    step, module = torch.jit.script(_step), torch.jit.script(Detaches())
    w, h, packed = torch.ones(2, requires_grad=True), torch.zeros(2), [0]

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        packed[0] += 1
        return tensor * 2

    for _ in range(4):
        packed[0] = 0
        before = step(torch.ones(2), h, w)
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor / 2):
            y = step(torch.ones(2), h, w)
            assert packed[0] == 2  # the result of tanh, and what w is multiplied by
            assert before.requires_grad
            module(torch.ones(2))
            count = packed[0]
            assert count > 2
        found = torch.autograd.grad(y.sum(), w)[0], torch.autograd.grad(before.sum(), w)[0]
        assert torch.equal(*found)
        assert packed[0] == count


def test_checkpoints_of_scripted_code() -> None:
    step = torch.jit.script(_step)
    grads = []
    for run in (step, partial(checkpoint, step, use_reentrant=False)):
        w, h = torch.full((2,), 0.3, requires_grad=True), torch.zeros(2)
        for number in range(3 * _MOST_WAITING):
            h = run(torch.full((2,), (-1.0) ** number), h, w)
        h.sum().backward()
        grads.append(w.grad)
    assert torch.equal(*grads)

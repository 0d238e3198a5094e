"""Loops over lists of tensors, and tensors of zeros that are filled part by part, natively: as
plans do it."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.interpreter.native import native
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import fresh, only_islands


def collated(items: list[tuple[Tensor, int]]) -> tuple[Tensor, Tensor, Tensor]:
    lengths: list[int] = []
    for x, _ in items:
        lengths.append(x.size(0))
    out = torch.zeros(len(items), max(lengths), items[0][0].size(1))
    labels: list[int] = []
    for i in range(len(items)):
        x, label = items[i]
        out[i, : x.size(0)] = x
        labels.append(label)
    return out, torch.tensor(lengths), torch.tensor(labels)


def parts(x: Tensor, n: int) -> Tensor:
    out = torch.zeros(n, 4)
    for i in range(n):
        if i % 3 == 0:
            out[i, 1:3] = x[i, :2]
        elif i % 3 == 1:
            out[i, -2:] = x[i, 1::2]
        else:
            out[:, 0][i] = x[-1, 3]
    return out


def columns(x: Tensor, n: int) -> Tensor:
    out = torch.zeros(3, n)
    for i in range(n):
        out[:, i] = x[i, :3]
    return out


def counted(sizes: list[int]) -> Tensor:
    out = torch.zeros(8, dtype=torch.long)
    for size in sizes:
        out[size] = size * 2
    return out


def sums(xs: list[Tensor]) -> list[float]:
    found: list[float] = []
    for x in xs:
        total = 0.0
        for i in range(x.size(0)):
            total += float(x[i])
        found.append(total)
    return found


def nested(xs: list[list[Tensor]]) -> int:
    found = 0
    for row in xs:
        for x in row:
            found = found * 10 + x.size(0) + len(row)
    return found


def overlapping(n: int) -> Tensor:
    out = torch.zeros(n + 2)
    for i in range(n):
        out[i] = i + 1
        out[1 : n + 1] = out[:n]
    return out


def broad(n: int) -> Tensor:
    out = torch.zeros(n, 3)
    one = torch.tensor([1.0, 2.0, 3.0])
    for i in range(n - 1):
        out[i : i + 2] = one
    return out


def copied(x: Tensor) -> Tensor:
    out = torch.zeros(4)
    for i in range(4):
        out[i] = x[i]
    return out * 2


def unread(xs: list[int], n: int) -> tuple[Tensor, int]:
    out = torch.zeros(n)
    total = 0
    for x in xs:
        total += x
    return out, total


def row(*sizes: int) -> Tensor:
    return torch.arange(float(np.prod(sizes))).reshape(*sizes) + 1


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (collated, ([(row(3, 2), 7), (row(1, 2), 8), (row(2, 5)[:, ::2][:, :2], 9)],)),
    (collated, ([(row(3, 2), 7), (row(0, 2), 8)],)),
    (collated, ([(row(3, 2), 7), (row(1, 2).double(), 8)],)),
    (collated, ([(row(3, 2), 7), (row(1, 1), 8)],)),
    (parts, (row(6, 4), 6)),
    (columns, (row(5, 4), 5)),
    (columns, (row(4, 5).T, 5)),
    (counted, ([1, 2, -1, 5],)),
    (sums, ([row(3), row(1), row(0), row(4)[::2]],)),
    (sums, ([],)),
    (nested, ([[row(1), row(2)], [], [row(3)]],)),
    (broad, (4,)),
    (unread, ([1, 2, 3], 300_000)),
]


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    if not isinstance(wanted, Tensor):
        return bool(found == wanted and type(found) is type(wanted))
    assert (found.dtype, found.shape, found.stride()) == (
        wanted.dtype,
        wanted.shape,
        wanted.stride(),
    )
    return np.array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize(("function", "given"), CASES)
def test_results_are_those_of_plans(
    function: FunctionType, given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "off")
    again = FunctionType(function.__code__, function.__globals__, function.__name__)
    again.__annotations__ = function.__annotations__
    wanted = torch.jit.script(again)(*given)
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(function)
    for _ in range(3):
        assert same(scripted(*given), wanted)


@pytest.mark.parametrize(("function", "given"), [CASES[0], CASES[8], CASES[10]])
def test_loops_over_lists_of_tensors_are_islands(
    function: FunctionType, given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    only_islands(monkeypatch)
    scripted = torch.jit.script(fresh(function))
    for _ in range(3):
        scripted(*given)
    plan = tiers_of(scripted._rushlight_function).way().plan
    assert plan is not None
    (island,) = plan.islands
    assert (island.is_native, island.why_not) == (True, "")


def test_faults_are_said_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(collated)
    assert scripted([(row(2, 3), 1)])[0].shape == (1, 2, 3)
    with pytest.raises(RuntimeError, match=r"\(3\) must match the size of tensor b \(2\)"):
        scripted([(row(2, 3), 1), (row(2, 2), 1)])
    with pytest.raises(RuntimeError, match="Dimension specified as 0 but tensor has no dim"):
        scripted([(row(2, 3), 1), (row(1, 3)[0, 0], 1)])
    overlaps = torch.jit.script(overlapping)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            overlaps(4)


def test_tensors_that_want_gradients_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted = torch.jit.script(collated)
    items = [(row(2, 3), 1), (row(1, 3), 2)]
    for _ in range(40):
        assert not scripted(items)[0].requires_grad
    items[1][0].requires_grad_(True)
    out = scripted(items)[0]
    out.sum().backward()
    assert items[1][0].grad.tolist() == [[1.0, 1.0, 1.0]]


@pytest.mark.parametrize("begins_with", [True, False])
def test_numbers_that_are_copied_keep_their_gradients(
    begins_with: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    scripted, x = torch.jit.script(copied), row(4)
    x.requires_grad_(begins_with)
    for _ in range(3):
        scripted(x)
    x.requires_grad_(True)
    for _ in range(3):
        x.grad = None
        scripted(x).sum().backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0, 2.0, 2.0, 2.0]

"""Tensors that native code makes of lists, and lists that it makes of tensors: as plans do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.interpreter.native import native
from rushlight.interpreter.native.program import FAILED
from rushlight.interpreter.running.invoking import tiers_of
from rushlight.utils._python_dispatch import TorchDispatchMode
from tests.interpreter.test_islands import fresh


def padded(rows: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    longest = 0
    for row in rows:
        longest = max(longest, len(row))
    found: list[list[int]] = []
    mask: list[list[bool]] = []
    for row in rows:
        rest = longest - len(row)
        found.append(row + [pad] * rest)
        mask.append([True] * len(row) + [False] * rest)
    return torch.tensor(found), torch.tensor(mask)


def squares(n: int) -> Tensor:
    found: list[float] = []
    for i in range(n):
        found.append(i * i / 3)
    return torch.tensor(found)


def wide(n: int) -> Tensor:
    found: list[float] = []
    for i in range(n):
        found.append(i / 3)
    return torch.tensor(found, dtype=torch.float64)


def whole_as_float(n: int) -> Tensor:
    found: list[int] = []
    for i in range(n):
        found.append(i * 100000007)
    return torch.tensor(found, dtype=torch.float32)


def cut(n: int) -> Tensor:
    found: list[float] = []
    for i in range(n):
        found.append(i / 3)
    return torch.tensor(found, dtype=torch.long)


def truths(n: int) -> Tensor:
    found: list[list[list[bool]]] = []
    for i in range(n):
        found.append([[i % 2 == 0, True], [False, i > 2]])
    return torch.tensor(found)


def uneven(rows: list[list[float]]) -> Tensor:
    found: list[list[float]] = []
    for row in rows:
        found.append(row)
    return torch.tensor(found)


def large(n: int) -> Tensor:
    found: list[float] = []
    for i in range(n):
        found.append(10.0 ** (i * 13))
    return torch.tensor(found)


def scaled(rows: list[dict[str, float]], keys: list[str]) -> Tensor:
    found: list[list[float]] = []
    for row in rows:
        line: list[float] = []
        for key in keys:
            line.append(row.get(key, 0.0))
        found.append(line)
    x = torch.tensor(found)
    return x - x.mean(0)


def chosen(boxes: Tensor, scores: Tensor, least: float) -> list[tuple[float, list[float]]]:
    found: list[tuple[float, list[float]]] = []
    for i in range(boxes.size(0)):
        score = float(scores[i])
        if score >= least:
            row: list[float] = boxes[i].tolist()
            found.append((score, row))
    return found


def listed(x: Tensor) -> int:
    rows: list[list[int]] = x.tolist()
    total = 0
    for row in rows:
        for number in row:
            total = total * 3 + number
    return total


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (padded, ([[1, 2, 3], [4], [], [5, 6]], -1)),
    (squares, (7,)),
    (squares, (0,)),
    (wide, (5,)),
    (whole_as_float, (9,)),
    (cut, (5,)),
    (truths, (4,)),
    (uneven, ([[1.5, 2.5], [3.5, float("nan")]],)),
    (uneven, ([],)),
    (uneven, ([[], []],)),
    (large, (5,)),
    (scaled, ([{"a": 1.0}, {"b": 2.0, "a": 3.0}], ["a", "b"])),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(native.NATIVE_VARIABLE, "now")
    yield
    torch.set_default_dtype(torch.float32)


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    assert type(found) is Tensor
    assert not found.requires_grad
    assert (found.dtype, found.stride()) == (wanted.dtype, wanted.stride())
    return np.array_equal(found.numpy(), wanted.numpy(), equal_nan=found.is_floating_point())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
@pytest.mark.parametrize(("function", "given"), CASES)
def test_tensors_are_those_of_the_operator(
    function: FunctionType, given: tuple[Any, ...], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_default_dtype(dtype)
    with monkeypatch.context() as patch:
        patch.setenv(native.NATIVE_VARIABLE, "off")
        again = FunctionType(function.__code__, function.__globals__, function.__name__)
        again.__annotations__ = function.__annotations__
        wanted = torch.jit.script(again)(*given)
    scripted = torch.jit.script(function)
    with np.errstate(over="ignore"):
        for _ in range(3):
            assert same(scripted(*given), wanted)


def test_functions_that_give_tensors_are_native_as_a_whole() -> None:
    scripted = torch.jit.script(padded)
    way = tiers_of(scripted._rushlight_function).way()
    first, mask = way.run_straight(([[1], [2, 3]], 0))
    assert same(first, torch.tensor([[1, 0], [2, 3]]))
    assert same(mask, torch.tensor([[True, False], [True, True]]))
    first[0, 0] = 7  # nobody else has it
    assert same(way.run_straight(([[1], [2, 3]], 0))[0], torch.tensor([[1, 0], [2, 3]]))


def test_lists_of_different_lengths_are_refused_as_always() -> None:
    scripted = torch.jit.script(uneven)
    assert scripted([[1.0]]).shape == (1, 1)
    with pytest.raises(RuntimeError, match=r"Expected sequence of length 2 at dim 1 \(got 1\)"):
        scripted([[1.0, 2.0], [3.0]])


@pytest.mark.usefixtures("no_operators_called")
def test_loops_around_tensors_of_lists_are_islands() -> None:
    scripted = torch.jit.script(fresh(scaled))
    given = [{"a": 1.0}, {"b": 2.0}], ["a", "b"]
    wanted = torch.tensor([[0.5, -1.0], [-0.5, 1.0]])
    assert same(scripted(*given), wanted)
    assert same(scripted(*given), wanted)
    way = tiers_of(scripted._rushlight_function).way()
    assert way.plan is not None
    (island,) = way.plan.islands
    assert island.is_native
    assert island.why_not == ""


def test_rows_of_tensors_become_lists() -> None:
    scripted = torch.jit.script(chosen)
    boxes = torch.arange(12.0).reshape(3, 4)
    scores = torch.tensor([0.5, 0.25, 0.75])
    for _ in range(3):
        assert scripted(boxes, scores, 0.5) == [(0.5, [0, 1, 2, 3]), (0.75, [8, 9, 10, 11])]
        assert scripted(boxes.double(), scores, 0.9) == []
    with pytest.raises(RuntimeError, match="must match for tolist"):
        scripted(boxes.int(), scores, 0.5)
    with pytest.raises(RuntimeError, match="list dimension and runtime tensor dimension"):
        scripted(boxes[None].expand(3, 3, 4), scores, 0.5)


def test_whole_tensors_become_lists_in_lists() -> None:
    scripted = torch.jit.script(listed)
    x = torch.arange(6).reshape(2, 3)
    assert scripted(x) == scripted(x.T.contiguous().T) == 0 + 1 * 81 + 2 * 27 + 3 * 9 + 4 * 3 + 5
    assert scripted(x[:, ::2]) == 2 * 9 + 3 * 3 + 5
    with pytest.raises(RuntimeError, match="must match for tolist"):
        scripted(x.float())


class Heard(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_modes_that_listen_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = torch.jit.script(squares)
    assert scripted(3).shape == (3,)
    way = tiers_of(scripted._rushlight_function).way()
    assert way.run_straight((3,)) is not FAILED
    with Heard() as heard:
        scripted(3)
    monkeypatch.setattr(type(way), "run_straight", lambda self, given: FAILED)
    with Heard() as wanted:
        scripted(3)
    assert heard.names == wanted.names

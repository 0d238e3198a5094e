"""Islands that fill lists with tensors: parts of tensors they are given, these themselves, and such
as they make."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import fresh

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


@pytest.fixture(autouse=True)
def _natively(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")


def segments(x: Tensor, limit: float) -> tuple[list[Tensor], list[int], Tensor]:
    loud = torch.sin(x).abs()
    found: list[Tensor] = []
    starts: list[int] = []
    start = -1
    for i in range(x.size(0)):
        if float(loud[i]) > limit:
            if start < 0:
                start = i
        elif start >= 0:
            found.append(x[start:i])
            starts.append(start)
            start = -1
    found.append(x)
    return found, starts, torch.cos(loud)


def corners(x: Tensor, stride: float) -> Tensor:
    places = torch.sin(x).argmax(1)
    rows: list[Tensor] = []
    for i in range(x.size(0)):
        at = int(places[i])
        rows.append(torch.tensor([at * stride, i * stride]))
    return torch.stack(rows) + 1


def either(x: Tensor, is_new: bool) -> tuple[list[Tensor], list[Tensor]]:
    y = torch.sin(x)
    into, others = [x], [y]
    for _ in range(2):
        z = torch.cos(y)  # which ends an island in front of it
        kept: list[Tensor] = []
        if not is_new:
            kept = others
        for i in range(x.size(0)):
            if float(z[i]) > 0.7:
                kept.append(x[i])
                into.append(y[i])
    return into, others


def islands_of(scripted: Any, *, records: bool = False) -> list[Any]:
    return tiers_of(scripted._rushlight_function).way(records).plan.islands


X = torch.tensor([0.1, 0.9, 1.2, 0.0, 0.7, 0.2, 1.5, 0.1])


@pytest.mark.usefixtures("no_operators_called")
def test_parts_of_what_is_given_share_its_memory() -> None:
    scripted = torch.jit.script(fresh(segments))
    for _ in range(3):
        x = X.clone()
        found, starts, _ = scripted(x, 0.5)
        want, want_starts, _ = segments(x, 0.5)
        assert ([each.tolist() for each in found], starts) == (
            [each.tolist() for each in want],
            want_starts,
        )
        assert found[-1] is x
        found[0][0] += 1
        assert x[1] == found[0][0]
    assert [each.is_native for each in islands_of(scripted)] == [True]


@pytest.mark.usefixtures("no_operators_called")
def test_what_is_made_for_a_list_goes_on_into_operators() -> None:
    scripted, x = torch.jit.script(fresh(corners)), torch.randn(5, 7)
    for _ in range(3):
        assert torch.equal(scripted(x, 0.5), corners(x, 0.5))
    assert [each.is_native for each in islands_of(scripted)] == [True]


def test_who_records_hears_of_parts() -> None:
    scripted, x = torch.jit.script(fresh(segments)), X.clone().requires_grad_()
    for _ in range(3):
        x.grad = None
        found, _, _ = scripted(x, 0.5)
        (found[0].sum() * 2 + found[-1].sum()).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [1.0, 3.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_lists_that_others_have_are_changed_by_lines() -> None:
    scripted = torch.jit.script(fresh(either))
    for is_new in (True, False, False):
        for made, want in zip(scripted(X, is_new), either(X, is_new), strict=True):
            assert [each.tolist() for each in made] == [each.tolist() for each in want]


def largest(x: Tensor, n: int) -> Tensor:
    y = torch.relu(x)
    most, _ = y.max(0)
    count, limit = 0, float(most)
    for i in range(n):
        if float(y[i]) > 0.5 * limit:
            count += i
    return most * count


def test_who_records_hears_of_what_is_made_of_few_numbers() -> None:
    scripted, x = torch.jit.script(fresh(largest)), X.clone().requires_grad_()
    for _ in range(3):
        x.grad = None
        scripted(x, 8).backward()
        assert x.grad is not None
        assert x.grad.tolist() == [0.0] * 6 + [9.0, 0.0]


def grown(x: Tensor, n: int) -> tuple[list[Tensor], list[float]]:
    states: list[Tensor] = []
    found: list[float] = []
    for k in range(n):
        x = torch.sin(x)
        states.append(x)
        for i in range(x.size(0)):
            found.append(float(x[i]) * k)
    return states, found


@pytest.mark.usefixtures("no_operators_called")
def test_a_loop_behind_what_fills_a_list_of_others_is_an_island() -> None:
    scripted = torch.jit.script(fresh(grown))
    for _ in range(3):
        (made, numbers), (want, others) = scripted(X, 3), grown(X, 3)
        assert [each.tolist() for each in made] == [each.tolist() for each in want]
        assert numbers == others
    assert [each.is_native for each in islands_of(scripted)] == [True]

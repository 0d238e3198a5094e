"""Comparisons that give tensors, and places that tensors of one number tell, natively; islands of
codes that are not native as a whole."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.native.native import is_native_possible
from rushlight.interpreter.running.invoking import tiers_of
from tests.interpreter.test_islands import assert_natively_as_by_operators, fresh, only_islands

pytestmark = pytest.mark.skipif(not is_native_possible(), reason="there is no native code here")

Tensor = torch.Tensor


def padded(rows: list[list[int]], pad: int) -> dict[str, Tensor]:
    longest = 0
    for row in rows:
        longest = max(longest, len(row))
    ids: list[list[int]] = []
    for row in rows:
        ids.append(row + [pad] * (longest - len(row)))
    found = torch.tensor(ids)
    return {"ids": found, "mask": found != pad, "above": found > 2, "below": found <= found[:, :1]}


def signs(xs: list[Tensor], limit: float) -> tuple[list[Tensor], int]:
    found: list[Tensor] = []
    count = 0
    for x in xs:
        found.append(x > limit)
        found.append(x[0] == x)
        found.append(x.t() >= x)
        found.append((x < 0.1) == (x < limit) if x.dim() == 0 else x != x)
        if bool(x[0, 0] > limit):
            count += 1
        asked = x[0, -1] <= limit
        if bool(asked):
            count += 10
        found.append(asked)
    return found, count


def confused(told: Tensor, meant: Tensor, n: int) -> Tensor:
    counts = torch.zeros(n, n, dtype=torch.long)
    for i in range(told.size(0)):
        counts[meant[i], told[i]] += 1
    return counts


def placed(x: Tensor, k: Tensor) -> tuple[Tensor, float]:
    made = torch.zeros(4, 3)
    total = 0.0
    for i in range(k.size(0)):
        made[k[i]] = x[i]
        made[k[i], k[0]] = x[i, 0] * 2
        total += float(made[k[i], k[1]]) + float(x[i][k[1]])
    return made, total


X = torch.tensor([[0.5, -1.0, 3.0], [float("nan"), -0.0, 2.0], [1.0, 0.1, 7.0]])
CALLS: list[tuple[Any, tuple[Any, ...]]] = [
    (padded, ([[1, 2], [3, 4, 5], [0]], 0)),
    (padded, ([[2]], 2)),
    (signs, ([X, X.double(), X[:2, :2]], 0.1)),
    (signs, ([(X[::2] * 2).long()[:, :2]], 0.5)),
    (signs, ([X.half()], 0.5)),
    (confused, (torch.tensor([0, 1, 2, 2, 0]), torch.tensor([1, 1, 0, -1, 0]), 3)),
    (confused, (torch.tensor([0, 1]), torch.tensor([1, 1], dtype=torch.int32), 3)),
    (confused, (torch.tensor([0, 3]), torch.tensor([1, 1]), 3)),
    (placed, (X, torch.tensor([2, 0, 2]))),
    (placed, (X.double(), torch.tensor([2, 0, 2]))),
    (placed, (X, torch.tensor([2, 0, -5]))),
    (placed, (X, torch.tensor([True, False, True]))),
]


def told(function: Any, given: tuple[Any, ...]) -> str:
    try:
        return str(function(*given))
    except Exception as error:
        return f"raised {str(error).partition('error[')[2]}"[:40]


@pytest.mark.parametrize("number", range(len(CALLS)))
@pytest.mark.parametrize("way", ["whole", "islands"])
def test_natively_as_by_operators(monkeypatch: pytest.MonkeyPatch, number: int, way: str) -> None:
    assert_natively_as_by_operators(monkeypatch, told, *CALLS[number], way=way)


def test_comparisons_of_made_tensors_are_native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    scripted = torch.jit.script(fresh(padded))
    assert tiers_of(scripted._rushlight_function).way(False).run_straight(CALLS[0][1]).keys()


def test_counts_by_places_are_islands(monkeypatch: pytest.MonkeyPatch) -> None:
    only_islands(monkeypatch)
    monkeypatch.setenv("RUSHLIGHT_PLAN", "now")
    scripted = torch.jit.script(fresh(confused))
    given = CALLS[6][1]
    way = tiers_of(scripted._rushlight_function).way(False)
    for _ in range(40_000):  # until the stretch is given up
        found = scripted(*given)
        if [each.is_native for each in way.plan.islands] == [True]:
            break
    assert [each.is_native for each in way.plan.islands] == [True]
    assert torch.equal(scripted(*given), found)


def gathered(rows: list[list[int]], limit: int) -> Tensor:
    flat: list[int] = []
    for row in rows:
        for number in row:
            if number < limit:
                flat.append(number * 2)
    return torch.erfc(torch.tensor(flat).float())


def with_refusal(rows: list[list[int]]) -> Tensor:
    """Which nothing but writing it out tells is not native."""
    flat: list[int] = []
    for row in rows:
        for number in row:
            flat.append(number * 2)
    return torch.arange(float(len(flat))) * torch.tensor(flat)


@pytest.mark.usefixtures("no_operators_called")
@pytest.mark.parametrize("function", [gathered, with_refusal])
def test_what_is_not_native_as_a_whole_has_islands(
    monkeypatch: pytest.MonkeyPatch, function: Any
) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")
    given: tuple[Any, ...] = ([[1, 2], [3]], 3)[: function.__code__.co_argcount]
    scripted = torch.jit.script(fresh(function))
    for _ in range(3):
        assert str(scripted(*given)) == str(function(*given))
    way = tiers_of(scripted._rushlight_function).way(False)
    assert [each.is_native for each in way.plan.islands] == [True]


def test_plans_have_islands_when_native_code_is_given_up() -> None:
    scripted = torch.jit.script(fresh(padded))
    given = CALLS[0][1]
    way = tiers_of(scripted._rushlight_function).way(False)
    expected = str(scripted(*given))
    native = way.executable.native
    assert native is not None
    assert not way.plan.islands
    native._give_up("of a test")
    assert len(way.plan.islands) == 1
    assert str(scripted(*given)) == expected

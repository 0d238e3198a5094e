"""Gradients of operators that others compute, from the third time on by what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.gradients.calls import composed
from rushlight.ops.gradients.nodes.bound import bound_row
from rushlight.ops.table.table import TABLE

F = torch.nn.functional
TIMES = 6


def tensors(seed: int, *sizes: tuple[int, ...]) -> list[Any]:
    torch.manual_seed(seed)
    return [torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes]


CASES: dict[str, tuple[str, Callable[..., Any], list[tuple[int, ...]]]] = {
    "slopes": ("aten::prelu", F.prelu, [(4, 3, 2), (3,)]),
    "triplets": ("aten::triplet_margin_loss", F.triplet_margin_loss, [(4, 3), (4, 3), (4, 3)]),
    "edges": ("aten::pad", lambda x: F.pad(x, (2, 1), "reflect"), [(1, 2, 6)]),
    "distances": ("aten::pairwise_distance", F.pairwise_distance, [(4, 3), (4, 3)]),
}


def known_of(name: str) -> dict[object, Any]:
    entry = TABLE.operator(name)
    assert entry is not None
    return bound_row(entry).composed


def ways(name: str) -> list[Any]:
    return list(known_of(name).values())


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    for name in (*(name for name, _, _ in CASES.values()), "aten::scaled_dot_product_attention"):
        known_of(name).clear()


@pytest.mark.parametrize("case", CASES)
def test_gradients_are_those_of_the_operators(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, function, sizes = CASES[case]

    def gradients() -> list[Any]:
        found = []
        for seed in range(TIMES):
            given = tensors(seed, *sizes)
            made = function(*given)
            found += torch.autograd.grad((made * made.detach().cos()).sum(), given)
        return found

    found = gradients()
    assert [each.is_proved for each in ways(name)] == [True]
    monkeypatch.setattr(composed, "BEFORE", TIMES)
    known_of(name).clear()
    for one, other in zip(found, gradients(), strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_of_some_arguments_and_of_other_sizes() -> None:
    for rows in (4, 5):
        for which in (0, 1, 2):
            for seed in range(TIMES):
                given = tensors(seed, *[(rows, 3)] * 3)
                (found,) = torch.autograd.grad(F.triplet_margin_loss(*given), given[which])
                again = tensors(seed, *[(rows, 3)] * 3)
                loss = F.triplet_margin_loss(*again)
                (wanted,) = torch.autograd.grad(loss, again[which], create_graph=True)
                torch.testing.assert_close(found, wanted)
    assert len(ways("aten::triplet_margin_loss")) == 6


def test_what_draws_or_looks_at_elements_goes_by_operators() -> None:
    x = torch.tensor([2.0, 0.0, 3.0], requires_grad=True)
    y = torch.tensor([2.0, 1.0, 3.0], requires_grad=True)
    for _ in range(TIMES):
        for each in (x, y):
            (found,) = torch.autograd.grad(each.prod(), each)
            assert torch.autograd.gradcheck(torch.prod, (each.detach().double().requires_grad_(),))
            assert found.shape == (3,)


def test_what_differs_from_the_operators_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any) -> Any:
        return lambda given, grads: [None if g is None else g * 2 for g in grads]

    monkeypatch.setattr(composed, "_written", wrong)
    for seed in range(TIMES):
        x, weight = tensors(seed, (4, 6), (1,))
        (found,) = torch.autograd.grad(F.prelu(x, weight).sum(), x)
        slopes = torch.where(x > 0, torch.ones_like(x), weight).detach()
        torch.testing.assert_close(found, slopes)
    assert [(each.way, each.is_refused) for each in ways("aten::prelu")] == [(None, True)]


def test_what_an_attention_drops_is_never_written_down() -> None:
    query, key, mask = tensors(0, (2, 5, 4), (2, 5, 4), (5, 5))
    for seed in range(TIMES):
        gradients = []
        for create in (False, True):
            torch.manual_seed(seed)
            made = F.scaled_dot_product_attention(query, key, key, mask, 0.4)
            gradients += torch.autograd.grad(made.sum(), mask, create_graph=create)
        torch.testing.assert_close(*gradients)
    name = "aten::scaled_dot_product_attention"
    assert [(each.way, each.is_refused) for each in ways(name)] == [(None, True)]

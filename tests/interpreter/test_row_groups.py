"""Folds of rows and what is computed of them: one kernel, with the bits of the operators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import rushlight as torch
from rushlight.interpreter.plans.row_groups import RowGroup
from rushlight.ops import kernels
from rushlight.ops.kernels import threads

Tensor = torch.Tensor
pytestmark = pytest.mark.skipif(
    kernels.family("rows.expressions") is None, reason="no native code here"
)


def rms_norm(x: Tensor, w: Tensor) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w


def between(x: Tensor, w: Tensor) -> Tensor:
    low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return (x - low) / (high - low)


def softmax(x: Tensor, w: Tensor) -> Tensor:
    powers = torch.exp(x - x.amax(-1, keepdim=True))
    return powers / powers.sum(-1, keepdim=True)


def weighted(x: Tensor, w: Tensor) -> Tensor:
    return (x * x * w).sum(-1)


def standard(x: Tensor, w: Tensor) -> Tensor:
    apart = x - x.mean(-1, keepdim=True)
    return apart / torch.sqrt((apart * apart).mean(-1, keepdim=True) + 1e-5) * w


def several(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    total = (x * w).sum(-1)
    above = x > total.unsqueeze(-1)
    return above, total, torch.where(above, x, w).amax(-1)


def masked(x: Tensor, w: Tensor) -> Tensor:
    far = torch.exp(x) > 1.5
    kept = torch.where(far, x, 0.0 * w)
    return kept.sum(-1, keepdim=True) / (x.amax(-1, keepdim=True) + 2) * torch.exp(x) + far


def unit(x: Tensor, w: Tensor) -> Tensor:
    return torch.nn.functional.normalize(x * w, dim=-1)


def lengths(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    other = torch.linalg.vector_norm(x, 2.0, [-1])
    return x.norm(2, -1, keepdim=True) * 0.5, other + 1.0


PROGRAMS = [unit, lengths, rms_norm, between, softmax, weighted, standard, several, masked]
SIZES = [(512, 40), (33, 517), (5, 17, 300), (2, 9000), (130, 130), (19, 1024)]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHLIGHT_NATIVE", "now")


@pytest.fixture(params=[1, 2, 3])
def crew(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads.get_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


def anew(function: Callable[..., Any]) -> Any:
    """The function scripted, with plans of its own: it is kept from test to test."""
    scripted = torch.jit.script(function)
    scripted._rushlight_function.tiers = None
    return scripted


def groups(scripted: Any) -> list[RowGroup]:
    plan = scripted._quick.function.tiers.way().plan
    return [each for each in plan.run.__globals__.values() if type(each) is RowGroup]


def bits(found: Any) -> list[tuple[Any, ...]]:
    several = found if isinstance(found, tuple) else (found,)
    numbers = (each.float() if each.dtype == torch.bfloat16 else each for each in several)
    return [
        (each.dtype, each.shape, each.stride(), number.numpy().tobytes())
        for each, number in zip(several, numbers, strict=True)
    ]


def random(*sizes: int, seed: int = 0) -> Tensor:
    torch.manual_seed(seed)
    return torch.randn(*sizes)


@pytest.mark.parametrize("function", PROGRAMS)
def test_bits_are_those_of_operators_one_by_one(function: Callable[..., Any], crew: int) -> None:
    scripted = anew(function)
    for sizes in SIZES:
        for seed in range(4):
            x, w = random(*sizes, seed=seed), random(sizes[-1], seed=9)
            assert bits(scripted(x, w)) == bits(function(x, w))
    (group,) = groups(scripted)
    assert all(way._is_checked for way in group._ways.values())
    assert len(group._ways) == len(SIZES)


@pytest.mark.parametrize("function", PROGRAMS)
def test_numbers_that_are_none_and_signed_zeros(function: Callable[..., Any]) -> None:
    scripted = anew(function)
    odd = torch.tensor([math.nan, math.inf, -math.inf, -0.0, 0.0, 1e-45, 3e38])
    for seed in range(3):
        x, w = random(70, 301, seed=seed), random(301, seed=9)
        x.view(-1)[:: 97 + seed] = odd.repeat(218)[: len(x.view(-1)[:: 97 + seed])]
        x[3] = -0.0
        assert bits(scripted(x, w)) == bits(function(x, w))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.double(),
        lambda x: x.bfloat16(),
        lambda x: x.t().contiguous().t(),
        lambda x: x[:, ::2],
        lambda x: x[:1].repeat(1, 60),
        lambda x: x[:, :10].repeat(9, 1),
        lambda x: x.view(-1)[:20_000],
        lambda x: x[:3].repeat(1, 120),
    ],
)
def test_what_is_no_such_program_is_done_as_before(change: Callable[[Tensor], Tensor]) -> None:
    for function in (rms_norm, softmax, weighted):
        scripted = anew(function)
        for seed in range(5):
            x = change(random(300, 300, seed=seed))
            w = random(x.shape[-1], seed=9).to(x.dtype)
            assert bits(scripted(x, w)) == bits(function(x, w))
        (group,) = groups(scripted)
        assert not any(way._is_checked for way in group._ways.values())


def over(x: Tensor, dim: int) -> Tensor:
    return x / (x * x).sum(dim, keepdim=True)


def over_list(x: Tensor, dims: list[int]) -> Tensor:
    return x / (x * x).sum(dims, keepdim=True)


def test_the_dimensions_may_change() -> None:
    first, second = torch.jit.script(over), torch.jit.script(over_list)
    x = random(150, 150)
    for dim in (1, 0, -1, 1, -2, 1):
        assert bits(first(x, dim)) == bits(over(x, dim))
        assert bits(second(x, [dim])) == bits(over(x, dim))
    assert bits(second(x, [0, 1])) == bits(over_list(x, [0, 1]))
    assert bits(second(x, [])) == bits(over_list(x, []))
    with pytest.raises(RuntimeError, match="Dimension out of range"):
        first(x, 2)


def flat(x: Tensor) -> Tensor:
    return x * (x + 1.0).sum(-1)


def test_numbers_of_rows_without_their_dimension_are_columns() -> None:
    scripted, x = torch.jit.script(flat), random(150, 150)
    for _ in range(4):
        assert bits(scripted(x)) == bits(flat(x))


def test_where_bits_differ_the_operators_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = kernels.family("rows.expressions")
    monkeypatch.setattr(rows, "run", lambda *given: given[-1].fill(7))
    scripted, x, w = anew(weighted), random(199, 101), random(101)
    for _ in range(4):
        assert bits(scripted(x, w)) == bits(weighted(x, w))


def test_operands_that_do_not_fit_are_refused_at_their_place() -> None:
    scripted, x = anew(rms_norm), random(199, 101)
    for _ in range(3):
        scripted(x, random(101))
    with pytest.raises(RuntimeError, match="must match"):
        scripted(x, random(100))
    scripted(x, random(101))

"""16-bit floats: what is rounded once at the end, and what at every step, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

F: Any = torch.nn.functional
HALVES = [torch.bfloat16, torch.float16]


def _numbers(*shapes: tuple[int, ...], dtype: Any) -> list[Any]:
    torch.manual_seed(3)
    return [torch.randn(*shape).to(dtype) for shape in shapes]


ONCE: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "linear": (F.linear, [(20, 30), (12, 30), (12,)]),
    "addmm": (lambda *t: torch.addmm(*t, beta=0.3, alpha=0.7), [(9, 8), (9, 30), (30, 8)]),
    "baddbmm": (torch.baddbmm, [(3, 4, 5), (3, 4, 30), (3, 30, 5)]),
    "glu": (F.glu, [(30, 20)]),
    "scatter_add": (
        lambda x, y: x.scatter_add(0, torch.zeros(9, 8, dtype=torch.int64), y),
        [(9, 8), (9, 8)],
    ),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=1), [(1, 4, 6, 6), (5, 4, 3, 3)]),
}


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", ONCE)
def test_rounded_once(name: str, dtype: Any) -> None:
    function, shapes = ONCE[name]
    given = _numbers(*shapes, dtype=dtype)
    found = function(*given)
    wide = function(*(each.float() for each in given))
    assert torch.equal(found, wide.to(dtype))
    assert not torch.equal(found.float(), wide)


@pytest.mark.parametrize("dtype", HALVES)
def test_batches_are_added_one_by_one(dtype: Any) -> None:
    total, a, b = _numbers((4, 5), (6, 4, 30), (6, 30, 5), dtype=dtype)
    wanted = total
    for one, other in zip(a, b, strict=True):
        wanted = (wanted.float() + one.float() @ other.float()).to(dtype)
    assert torch.equal(torch.addbmm(total, a, b), wanted)


@pytest.mark.parametrize("dtype", HALVES)
def test_rounded_at_every_step(dtype: Any) -> None:
    x, y = _numbers((20, 30), (20, 30), dtype=dtype)

    def step(value: Any) -> Any:
        return value.to(dtype).float()

    apart = step(x.float() - y.float())
    assert torch.equal(F.mse_loss(x, y, reduction="none"), (apart * apart).to(dtype))
    top = x.float().amax(1, True)
    logs = step(step((x.float() - top).exp().sum(1, True)).log())
    assert torch.equal(torch.log_softmax(x, 1), (x.float() - logs - top).to(dtype))
    grown = step(step(x.float() - top).exp())
    total = step(step(grown.sum(1, True)).log()) + top
    assert torch.equal(torch.logsumexp(x, 1, True), total.to(dtype))
    logarithm = step(y.float().abs().log())
    assert torch.equal(torch.xlogy(x, y.abs()), (x.float() * logarithm).to(dtype))


def test_means_of_likelihoods_are_added_up_as_by_torch() -> None:
    scores = (torch.arange(300).reshape(100, 3) / 7).sin().bfloat16()
    found = F.nll_loss(scores, torch.arange(100) % 3)
    assert found.item() == -0.0140380859375
    half = (torch.arange(300).reshape(100, 3) / 7).sin().half()
    assert F.nll_loss(half, torch.arange(100) % 3).item() == -0.01343536376953125


@pytest.mark.parametrize("dtype", HALVES)
def test_a_second_number_of_a_product_counts_unrounded(dtype: Any) -> None:
    (x,) = _numbers((50,), dtype=dtype)
    exact, rounded = torch.tensor(0.1), torch.tensor(0.1).to(dtype).float()
    for factor in (0.1, exact, exact.double()):
        assert torch.equal(x * factor, (x.float() * exact).to(dtype))
        assert torch.equal(x / factor, (x.float() / exact).to(dtype))
        assert torch.equal(x + factor, (x.float() + rounded).to(dtype))

"""A sample of `tools/check_gradients.py`: gradients of both orders at random shapes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from check_gradients import drawn, fault_of, operators

F = torch.nn.functional
aten = torch.ops.aten
ENTRIES = list(operators())


def test_all_operators_with_gradients_are_among_the_choices() -> None:
    assert len(ENTRIES) > 850


@settings(max_examples=120, deadline=None, derandomize=True, database=None)
@given(entry=st.sampled_from(ENTRIES), seed=st.integers(0, 1 << 30))
def test_gradients_are_differences_of_values(entry: Any, seed: int) -> None:
    call = drawn(entry, str(seed), 25)
    assume(call is not None)
    assert call is not None
    try:
        assert fault_of(call) == "", call.values
    except NotImplementedError:  # of what has no gradient
        assume(False)


def pushed(x: Any) -> Any:
    x = x.clone()
    x.unsqueeze_(0).transpose_(1, 2).mul_(2)
    return x.squeeze_(0) ** 2


def viewed(x: Any) -> Any:
    whole = x.clone()
    part = whole[:, 1:]
    part.transpose_(0, 1)
    part.mul_(torch.arange(4, dtype=x.dtype).reshape(2, 2))
    return whole, part**2


def strided(x: Any) -> Any:
    return x.clone().as_strided_([2, 2], [1, 1]) ** 2


IN_PLACE = [pushed, viewed, strided]


@pytest.mark.parametrize("function", IN_PLACE, ids=lambda each: each.__name__)
def test_views_in_place(function: Callable[..., Any]) -> None:
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(function, (x,))
    assert gradgradcheck(function, (x,))


def test_views_in_place_in_scripts() -> None:
    @torch.jit.script
    def turned(x: torch.Tensor):
        y = x * 2
        y.unsqueeze_(0)
        y.transpose_(1, 2)
        return y.exp()

    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    for _ in range(5):
        assert gradcheck(turned, (x,))


def _positive(*shape: int) -> Any:
    return (torch.rand(shape, dtype=torch.float64) + 0.3).requires_grad_()


MENDED: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "pow_": (lambda x: x.clone().pow_(-0.5), [_positive(3)]),
    "copy_": (lambda x, y: aten.copy_.Tensor(x.clone(), y), [_positive(3), _positive(3)]),
    "svd": (lambda x: torch.svd(x, True, False)[1], [_positive(2, 3)]),
    "dropout": (lambda x: aten.native_dropout(x, 0.5, False)[0], [_positive(3)]),
    "no dropout": (lambda x: aten.native_dropout(x, 0.0, True)[0], [_positive(3)]),
    "two places": (
        lambda x, at: torch.gradient(x, spacing=(at,))[0],
        [_positive(2), torch.tensor([0.5, 1.25], dtype=torch.float64, requires_grad=True)],
    ),
    "one row": (
        lambda x: F.nll_loss(x, torch.tensor([0]), reduction="none"),
        [_positive(1)],
    ),
    "no dimensions": (torch.linalg.vecdot, [_positive(), _positive()]),
    "a sum of one": (lambda x: x.sum(0), [_positive()]),
    "a mean of one": (lambda x: x.mean([-1], True), [_positive()]),
    "a variance of one": (lambda x: x.var(0, correction=0), [_positive()]),
    "cross": (torch.cross, [_positive(1, 3), _positive(3, 3)]),
    "from behind": (lambda v: aten.norm_except_dim(v, 1, -3), [_positive(2, 3, 2)]),
    "mT": (aten.mT.a, [_positive()]),
    "pixels": (
        lambda x, w: aten.instance_norm(x, w, None, None, None, True, 0.1, 1e-5, False),
        [_positive(2, 1), _positive(1)],
    ),
    "slopes": (lambda x, w: aten._prelu_kernel(x - 1, w), [_positive(2, 2, 2), _positive(2)]),
}


@pytest.mark.parametrize("name", MENDED)
def test_what_was_wrong(name: str) -> None:
    function, given_values = MENDED[name]
    assert gradcheck(function, given_values)


def test_results_in_out_have_no_gradients() -> None:
    x, out = torch.ones(2, requires_grad=True), torch.zeros(2)
    with pytest.raises(RuntimeError, match="arguments don't support automatic differentiation"):
        aten.div.out_mode(x, x, rounding_mode="trunc", out=out)
    with torch.no_grad():
        assert not aten.div.out_mode(x, x, rounding_mode="trunc", out=out).requires_grad


REFUSED: dict[str, Callable[[], Any]] = {
    "only p == 1 and p == 2 supported": lambda: aten.multi_margin_loss(
        torch.ones(2, 2), torch.tensor([1, 0]), -0.5
    ),
    r"size mismatch \(got input: \[2, 3\], target: \[1\]\)": lambda: aten.nll_loss(
        torch.ones(2, 3), torch.tensor([0])
    ),
    "A must be batches of square matrices, but they are 3 by 1": lambda: torch.triangular_solve(
        torch.ones(3, 2), torch.ones(3, 1)
    ),
    "expected output_size equals to 2, but got size 3": lambda: aten.upsample_nearest2d.vec(
        torch.ones(2, 4, 4, 2, 4), None, [1.0, 1.0, 2.0]
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_is_refused(sentence: str) -> None:
    with pytest.raises(RuntimeError, match=sentence):
        REFUSED[sentence]()

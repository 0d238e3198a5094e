"""vmap over convolutions, pools and losses: one call for all slices gives what a loop gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.func import grad, vmap
from rushlight.nn import functional as F
from rushlight.ops.batching import batched
from rushlight.ops.batching.families import family_of

torch.manual_seed(0)
R = torch.randn
X, W, B = R(4, 2, 3, 8, 8), R(5, 3, 3, 3), R(5)
T = R(4, 2, 3, 8, 8)
OWN, ITS = R(4, 5, 3, 3, 3), R(4, 5)

AT_ONCE: list[tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = [
    (lambda a: F.conv2d(a, W, B, padding=1), (X,)),
    (lambda a: F.conv2d(a, W, B, stride=2), (X[:, 0],)),
    (lambda a, v: F.conv2d(a, v, padding=1), (X, OWN)),
    (lambda a, v, c: F.conv2d(a, v, c), (X, OWN, ITS)),
    (lambda v: F.conv2d(X[0], v), (OWN,)),
    (lambda c: F.conv2d(X[0], W, c), (ITS,)),
    (lambda a, v: F.conv2d(a, v), (X[:, 0], OWN)),
    (lambda a, v: F.conv2d(a, v, groups=3), (X, R(4, 6, 1, 3, 3))),
    (lambda a, v: F.conv_transpose2d(a, v, stride=2, output_padding=1), (X, R(4, 3, 5, 3, 3))),
    (lambda a, v: F.conv_transpose2d(a, v, groups=3), (X, R(4, 3, 2, 3, 3))),
    (lambda a: F.max_pool2d(a, 2), (X,)),
    (lambda a: F.max_pool2d(a, 2), (X[:, 0],)),
    (lambda a: F.max_pool2d(a, 2, return_indices=True), (X,)),
    (lambda a: F.avg_pool2d(a, 2, ceil_mode=True), (X,)),
    (lambda a: F.adaptive_avg_pool2d(a, 3), (X,)),
    (lambda a: F.adaptive_max_pool2d(a, (2, 3)), (X,)),
    (lambda a: F.max_pool1d(a, 2), (R(4, 3, 8),)),
    (lambda a: F.avg_pool1d(a, 2), (R(4, 2, 3, 8),)),
    (lambda a: F.max_pool3d(a, 2), (R(2, 2, 3, 4, 4, 4),)),
    *(
        (lambda a, c, f=f, r=r: f(a, c, reduction=r), (X, T))
        for f in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss)
        for r in ("mean", "sum", "none")
    ),
    (lambda a: F.mse_loss(a, T[0]), (X,)),
    (lambda a, c: F.kl_div(a, c, reduction="batchmean", log_target=True), (X, T)),
    (lambda a, c: F.binary_cross_entropy_with_logits(a, c.sigmoid()), (X, T)),
    (lambda a, c: F.binary_cross_entropy(a.sigmoid(), c.sigmoid(), reduction="sum"), (X, T)),
]
WHOLE: list[Callable[[torch.Tensor], torch.Tensor]] = [
    *(
        lambda a, name=name: getattr(a, name)()
        for name in "sum mean std var norm amax amin".split()
    ),
    *(lambda a, name=name: (a > -1).any() if name else (a > -1).all() for name in (True, False)),
    *(lambda a: a.sum(dtype=torch.float64), lambda a: a.var(unbiased=False), lambda a: a.norm(1)),
    *(lambda a: torch.linalg.vector_norm(a), lambda a: a.amax(keepdim=True), lambda a: a.nansum()),
    lambda a: torch.var(a, correction=0),
]
ELEMENTS = "sin cos exp log tanh sqrt neg isnan floor sign".split()
PAIRS = "mul add sub div pow remainder atan2 fmod lt".split()
ONE_BY_ONE: list[tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = [
    (lambda a, v: F.conv1d(a, v, padding="same"), (R(4, 2, 3, 8), R(4, 5, 3, 3))),
    (lambda a, c: F.binary_cross_entropy_with_logits(a, c.sigmoid(), pos_weight=B[:1]), (X, T)),
    (lambda a: F.cross_entropy(a, torch.tensor([1, 0])), (R(4, 2, 3),)),
]


def _agrees(function: Callable[..., Any], given: tuple[torch.Tensor, ...]) -> None:
    found = vmap(function)(*given)
    expected = [function(*row) for row in zip(*given, strict=True)]
    if not isinstance(found, tuple):
        found, expected = (found,), [(each,) for each in expected]
    for one, others in zip(found, zip(*expected, strict=True), strict=True):
        torch.testing.assert_close(one, torch.stack(others), rtol=1e-4, atol=1e-5)


def _refuse(monkeypatch: pytest.MonkeyPatch, *families: str) -> None:
    """Fail where an operator of one of these runs slice by slice."""

    def refuse(level: object, func: object, *rest: Any) -> Any:
        if family_of(getattr(func, "operator_name", "")) in families:
            raise AssertionError(f"{func} runs slice by slice")
        return one_by_one(level, func, *rest)

    one_by_one = batched._one_by_one
    monkeypatch.setattr(batched, "_one_by_one", refuse)


@pytest.mark.parametrize("number", range(len(AT_ONCE)))
def test_all_slices_at_once(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    function, given = AT_ONCE[number]

    _refuse(monkeypatch, "convolutions", "samples", "losses")
    _agrees(function, given)


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_whole_slices_are_folded_at_once(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse(monkeypatch, "folds", "elements")
    _agrees(WHOLE[number], (X,))
    _agrees(lambda a: vmap(WHOLE[number])(a), (X,))


def test_no_dimensions_that_are_named_are_not_all() -> None:
    _agrees(lambda a: torch.any(a > 0, dim=()), (X,))
    _agrees(lambda a: a.max() + a.prod() + a.median(), (X,))
    _agrees(lambda a: a.sum(dim=(), keepdim=True), (X,))
    _agrees(lambda a: a[0, 0, 0, 0].sum(), (X,))


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the operator has for numbers of Python."""
    assert family_of(f"aten::{name}") == "elements"
    _refuse(monkeypatch, "elements")
    _agrees(lambda a: getattr(torch, name)(a.abs() + 0.5), (X,))


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_elements_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert family_of(f"aten::{name}") == "elements"
    _refuse(monkeypatch, "elements")
    _agrees(lambda a, b: getattr(torch, name)(a.abs() + 0.5, b), (X, T))
    if name != "atan2":
        _agrees(lambda a: getattr(torch, name)(a.abs() + 0.5, 2), (X,))
    _agrees(lambda a, b: getattr(torch, name)(a.abs() + 0.5, b[0, 0]), (X, T))


@pytest.mark.parametrize("number", range(len(ONE_BY_ONE)))
def test_others_run_slice_by_slice(number: int) -> None:
    _agrees(*ONE_BY_ONE[number])


def test_slices_of_slices_and_along_other_dimensions() -> None:
    many = R(2, 3, 2, 3, 8, 8)
    found = vmap(vmap(lambda a: F.conv2d(a, W)))(many)
    expected = F.conv2d(many.flatten(0, 2), W).reshape(found.shape)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    found = vmap(lambda a: F.max_pool2d(a, 2), in_dims=1, out_dims=1)(X)
    assert torch.equal(found, F.max_pool2d(X.flatten(0, 1), 2).reshape(found.shape))


def test_gradients_of_each_sample() -> None:
    weights = {"w": W, "b": B}
    images, wanted = R(6, 3, 8, 8), R(6, 1, 5, 4, 4)

    def loss(weights: dict[str, torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        made = F.conv2d(x.unsqueeze(0), weights["w"], weights["b"], padding=1)
        return F.mse_loss(F.max_pool2d(made.relu(), 2), y)

    found = vmap(grad(loss), in_dims=(None, 0, 0))(weights, images, wanted)
    for place in range(6):
        expected = grad(loss)(weights, images[place], wanted[place])
        for name in weights:
            torch.testing.assert_close(found[name][place], expected[name], rtol=1e-4, atol=1e-5)


def test_families_follow_from_records() -> None:
    names = "conv1d conv_transpose3d", "max_pool2d adaptive_max_pool1d", "mse_loss kl_div"
    families = "convolutions", "samples", "losses"
    for each, family in zip(names, families, strict=True):
        assert {family_of(f"aten::{name}") for name in each.split()} == {family}
    assert family_of("aten::ctc_loss") == ""

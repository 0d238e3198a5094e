"""Losses of class numbers, rows with a one for each, and how often each occurs: the first call, and
later ones, which native code may know."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rushlight as torch
import rushlight.nn.functional as F
from rushlight.ops.losses import class_losses

CALLS = 60


def losses(scores: Any, target: Any, ignored: int) -> tuple[Any, int]:
    """Minus the scores of the classes, by loops; how many count."""
    wide = scores.astype(np.float64)
    made, count = np.zeros(target.shape), 0
    for place in np.ndindex(*target.shape):
        if target[place] != ignored:
            count += 1
            made[place] = -wide[(place[0], target[place], *place[1:])]
    return made, count


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 70), (2, 4, 3), (2, 5, 3, 7), (3, 2, 1)])
@pytest.mark.parametrize("ignored", [-100, 0])
def test_scores_of_classes(shape: tuple[int, ...], ignored: int) -> None:
    random = np.random.default_rng(0)
    for call in range(CALLS):
        scores = random.standard_normal(shape).astype(np.float32)
        target = random.integers(0, shape[1], (shape[0], *shape[2:]))
        if call % 3 == 0:
            target.flat[call % target.size] = ignored
        want, count = losses(scores, target, ignored)
        x, t = torch.from_numpy(scores), torch.from_numpy(target)
        for reduction, known in (("none", want), ("sum", want.sum()), ("mean", None)):
            made = F.nll_loss(x, t, ignore_index=ignored, reduction=reduction)
            if known is None:
                known = want.sum() / count if count else math.nan
            assert np.allclose(made.numpy(), known, rtol=1e-6, atol=1e-7, equal_nan=True)
            assert made.shape == np.shape(known)
            log = torch.log_softmax(x, 1)
            crossed = F.cross_entropy(x, t, ignore_index=ignored, reduction=reduction)
            picked = F.nll_loss(log, t, ignore_index=ignored, reduction=reduction)
            assert crossed.numpy().tobytes() == picked.numpy().tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_classes_with_weights(dtype: Any, turned: bool) -> None:
    random = np.random.default_rng(2)
    for call in range(CALLS):
        scores = random.standard_normal((7, 5)[::-1] if turned else (7, 5)).astype(dtype)
        scores = scores.T if turned else scores
        target, weight = random.integers(0, 5, 7), random.random(5).astype(dtype)
        target[call % 7] = -100
        want, _ = losses(scores, target, -100)
        shares = np.where(target < 0, 0, weight.astype(np.float64)[np.maximum(target, 0)])
        x, t, w = map(torch.from_numpy, (scores, target, weight))
        sums = {"none": want * shares, "sum": (want * shares).sum()}
        sums["mean"] = sums["sum"] / shares.sum()
        for reduction, known in sums.items():
            made = F.nll_loss(x, t, w, reduction=reduction)
            assert made.numpy().dtype == dtype
            assert np.allclose(made.numpy(), known, rtol=1e-5 if dtype is np.float32 else 1e-13)
    with pytest.raises(IndexError, match="Target 9 is out of bounds"):
        F.nll_loss(x, t * 0 + 9, w)
    assert math.isnan(F.nll_loss(x, t * 0 - 100, w).item())


def test_scores_that_are_no_numbers() -> None:
    x = torch.tensor([[math.inf, -math.inf], [math.nan, 1.0], [2.0, -0.0]])
    t = torch.tensor([0, 0, 1])
    for _ in range(CALLS):
        made = F.nll_loss(x, t, reduction="none")
        assert np.array_equal(made.numpy(), [-math.inf, math.nan, 0.0], equal_nan=True)
        assert math.isnan(F.nll_loss(x, t).item())
        assert F.nll_loss(x[2:], t[2:], reduction="sum").item() == 0.0


def test_targets_of_other_dtypes_and_layouts() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    t = torch.tensor([1, 0, 5, 2])
    want = F.nll_loss(x, t).item()
    assert F.nll_loss(x, t.to(torch.uint8)).item() == want
    assert F.nll_loss(x.double(), t).item() == want
    assert F.nll_loss(x.t().contiguous().t(), t).item() == want
    assert F.nll_loss(x, torch.stack([t, t], 1)[:, 0]).item() == want
    assert math.isnan(F.nll_loss(x[:0], t[:0]).item())


def test_a_class_that_is_not_there_is_told_in_every_call() -> None:
    x, good = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
    for _ in range(CALLS):
        F.cross_entropy(x, good)
        assert F.one_hot(good, 3).sum() == 4
    for number in (3, -1, 1 << 40):
        bad = torch.tensor([0, 1, number, 0])
        with pytest.raises(IndexError, match=f"Target {number} is out of bounds."):
            F.cross_entropy(x, bad)
        with pytest.raises(RuntimeError, match="Class values must be"):
            F.one_hot(bad, 3)
    assert F.cross_entropy(x, good).item() == F.cross_entropy(x, good).item()


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 1, 4)])
@pytest.mark.parametrize("classes", [1, 3, 16, 37, 70])
def test_rows_with_a_one(shape: tuple[int, ...], classes: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(CALLS):
        index = np.asarray(random.integers(0, classes, shape))
        made = F.one_hot(torch.from_numpy(index), classes).numpy()
        assert np.array_equal(made, index[..., None] == np.arange(classes))
        assert made.dtype == np.int64
    strided = torch.from_numpy(np.asarray(random.integers(0, classes, (6, 4)))).t()
    want = strided.numpy()[..., None] == np.arange(classes)
    assert np.array_equal(F.one_hot(strided, classes).numpy(), want)


@pytest.mark.parametrize("size", [1, 5, 1000, 1024, 1025])
def test_how_often_numbers_occur(size: int) -> None:
    random = np.random.default_rng(2)
    for most in (0, 1, 7, 1023, 1024, 5000):
        for least in (0, 3, 1023, 1024, 1025, 2000):
            for _ in range(4):
                x = random.integers(0, most + 1, size)
                made = torch.bincount(torch.from_numpy(x), minlength=least).numpy()
                assert np.array_equal(made, np.bincount(x, minlength=least))
    for _ in range(CALLS):
        torch.bincount(torch.from_numpy(x % 7))
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.bincount(torch.from_numpy(-1 - x % 7))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("shape", [(1, 3), (16, 5), (17, 5), (5000, 7), (40, 4, 3)])
def test_sums_of_halves_are_rounded_as_by_numpy(
    dtype: Any, reduction: str, shape: tuple[int, ...], monkeypatch: Any
) -> None:
    torch.manual_seed(1)
    scores = torch.randn(shape).to(dtype)
    target = torch.randint(0, shape[1], (shape[0], *shape[2:]))
    target[-1:] = -100
    found = F.nll_loss(scores, target, reduction=reduction)
    monkeypatch.setattr(class_losses, "_natively", lambda *_: None)
    wanted = F.nll_loss(scores, target, reduction=reduction)
    assert found.dtype == wanted.dtype == dtype
    assert torch.allclose(found.float(), wanted.float(), rtol=0, atol=0, equal_nan=True)

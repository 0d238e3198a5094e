"""What is done to tensors that lie in unusual ways, or are of unusual dtypes, without copies."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional
from rushlight.ops import kernels
from rushlight.ops.losses import losses
from rushlight.ops.pooling import max_pool
from rushlight.ops.reductions import folding, reduce
from rushlight.ops.selection import sorting
from rushlight.ops.shapes import pad

native = pytest.mark.skipif(kernels.family("elementwise.arrays") is None, reason="no native code")


def refused(*_: Any, **__: Any) -> Any:
    raise AssertionError


DTYPES = "float32 float64 bfloat16 int64 int32 bool".split()


@pytest.mark.parametrize("name", DTYPES)
def test_folds_of_what_is_repeated(name: str) -> None:
    torch.manual_seed(0)
    once = (torch.randn(5, 1, 7) * 3).to(getattr(torch, name))
    x, whole = once.expand(5, 6, 7), once.expand(5, 6, 7).contiguous()
    tolerance = 1e-2 if name == "bfloat16" else 1e-5
    for dims in [each for count in (1, 2, 3) for each in combinations(range(3), count)]:
        for keepdim in (False, True):
            for fold in ("sum", "mean", "amax", "amin"):
                if fold == "mean" and not x.dtype.is_floating_point:
                    continue
                made, wanted = (getattr(each, fold)(dims, keepdim) for each in (x, whole))
                assert (made.dtype, made.shape) == (wanted.dtype, wanted.shape)
                assert torch.allclose(made.double(), wanted.double(), tolerance, 1e-5)


@native
def test_what_is_repeated_is_neither_copied_nor_gone_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folding, "in_order", refused)
    monkeypatch.setattr(reduce, "_add_over", refused)
    once = torch.arange(30.0).view(30, 1)
    assert once.expand(30, 1 << 40).sum().item() == 435.0 * (1 << 40)
    assert once.expand(30, 1 << 40).amax().item() == 29.0
    assert torch.ones(()).expand(1 << 20, 1 << 20).sum().item() == float(1 << 40)


@native
def test_complex_sums_are_those_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    monkeypatch.setattr(reduce, "_add_over", refused)
    x = random.standard_normal((6, 5, 7)) + 1j * random.standard_normal((6, 5, 7))
    for each in (x, x.transpose(2, 0, 1), x[::2]):
        for dtype in ("c8", "c16"):
            array = each.astype(dtype)
            for axes in [(0,), (2,), (0, 1), (0, 2), (0, 1, 2)]:
                made = torch.from_numpy(array).sum(axes).numpy()
                assert made.dtype == array.dtype
                assert np.allclose(made, array.astype("c16").sum(axes), 1e-5, 1e-5)


@native
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_losses_of_what_lies_differently(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    loss = getattr(functional, name)
    one, other = torch.randn(30, 70), torch.randn(70, 30).t()
    for reduction in ("none", "sum", "mean"):
        wanted = loss(one, other.contiguous(), reduction=reduction)
        with monkeypatch.context() as patch:
            patch.setattr(losses, "binary", refused)
            made = loss(one, other, reduction=reduction)
            assert torch.equal(made, wanted)
            back = loss(other, one, reduction=reduction)
        assert torch.allclose(back, loss(other.contiguous(), one, reduction=reduction))
        if reduction == "none":
            assert made.stride() == one.stride()
            assert back.stride() == other.stride()


@native
@pytest.mark.parametrize("dtype", "f4 f8 i4 i8 u1 f2".split())
def test_medians_of_whole_tensors(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    monkeypatch.setattr(np, "partition", refused)
    for size in (65, 100, 4096, 10_001):
        for factor in (1e-3, 1.0, 50.0, 0.0):
            x = (random.standard_normal(size) * factor).round(4).clip(0 if dtype == "u1" else -99)
            x = x.astype(dtype)
            if dtype[0] == "f" and factor:
                x[3:6] = np.inf, -np.inf, -0.0
            wanted = np.sort(x)[(size - 1) // 2]
            assert torch.from_numpy(x.copy()).median().item() == wanted
            assert torch.from_numpy(x.copy()).nanmedian().item() == wanted
            if dtype[0] == "f":
                x[9] = np.nan
                assert torch.from_numpy(x.copy()).median().isnan()
                assert torch.from_numpy(x).nanmedian().item() == np.sort(x)[(size - 2) // 2]


@native
@pytest.mark.parametrize("dtype", "i4 i2 u1 i1".split())
def test_short_whole_numbers_are_counted(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_in_runs", refused)
    x = np.random.default_rng(0).integers(3, 100, 5000).astype(dtype)
    made = torch.from_numpy(x).unique(return_inverse=True, return_counts=True)
    wanted = np.unique(x, return_inverse=True, return_counts=True)
    for one, other in zip(made, wanted, strict=True):
        assert np.array_equal(one.numpy(), other.ravel())
    assert made[0].numpy().dtype == x.dtype
    for least in (0, 50, 2000):
        made_of = torch.from_numpy(x[:900]).bincount(minlength=least)
        assert np.array_equal(made_of.numpy(), np.bincount(x[:900], minlength=least))


@pytest.mark.parametrize("size", [64, 65, 100, 513])
def test_maxima_of_long_windows(size: int) -> None:
    x = np.random.default_rng(size).integers(0, 20, (4, 5, size)).astype(np.float32)
    x[0, 0, [7, 60]], x[1, 1] = np.nan, -np.inf
    for count in (1, 2, 3):
        values, places = functional.adaptive_max_pool1d(torch.from_numpy(x), count, True)
        for window in range(count):
            begin, end = window * size // count, -(-(window + 1) * size // count)
            for row in np.ndindex(4, 5):
                seen, place = x[row][begin:end], int(places[row][window]) - begin
                nans = np.flatnonzero(np.isnan(seen))
                assert place == (nans[-1] if nans.size else seen.argmax())
                assert np.array_equal(values[row][window].item(), seen[place], equal_nan=True)


@native
@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_edges_of_channels_that_lie_last(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pad, "in_order", lambda x: x if x.flags.c_contiguous else refused())
    for shape, amounts in (((2, 5, 6, 7), (1, 2, 3, 0)), ((2, 3, 4, 5, 6), (1, 2, 0, 1, 3, 2))):
        x = torch.arange(float(np.prod(shape))).view(shape)
        format = torch.channels_last if x.dim() == 4 else torch.channels_last_3d
        made = functional.pad(x.contiguous(memory_format=format), amounts, mode)
        assert torch.equal(made, functional.pad(x, amounts, mode))
        assert made.is_contiguous(memory_format=format)


def test_bounds_and_new_tensors_of_any_size() -> None:
    torch.manual_seed(0)
    x, low = torch.randn(100, 90), torch.randn(90, 100).t()
    wanted = np.maximum(x.numpy(), low.numpy())
    for _ in range(3):
        assert np.array_equal(torch.clamp(x, min=low).numpy(), wanted)
        assert np.array_equal(torch.clamp(low, max=x).numpy(), np.minimum(x, low).numpy())
        assert (torch.full((100, 90), 3.5) == 3.5).all()
        assert torch.ones(9000, dtype=torch.int32).sum().item() == 9000


@native
@pytest.mark.parametrize(
    ("shape", "settings"),
    [
        ((2, 3, 6, 7, 8), (2, 2, 0, 1)),
        ((1, 2, 7, 9, 8), (3, 2, 1, 1)),
        ((2, 3, 6, 7, 9), ((2, 3, 1), (1, 2, 2), (1, 1, 0), (1, 1, 2))),
        ((3, 5, 5, 5), (2, 1, 0, 2)),
    ],
)
def test_places_of_maxima_of_volumes(
    shape: tuple[int, ...], settings: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(0)
    for has_nan in (False, True):
        x = random.integers(0, 4, shape).astype(np.float32)
        if has_nan:
            x.reshape(-1)[::37], x.reshape(-1)[5::91] = np.nan, -np.inf
        given = torch.from_numpy(x), *settings
        with monkeypatch.context() as patch:
            patch.setattr(max_pool, "_natively", lambda *_: None)
            wanted = functional.max_pool3d(*given, return_indices=True)
            patch.undo()
            patch.setattr(max_pool, "_with_places", refused)
            made = functional.max_pool3d(*given, return_indices=True)
        for one, other in zip(made, wanted, strict=True):
            assert np.array_equal(one.numpy(), other.numpy(), equal_nan=True)


def test_gradients_of_copies_of_elements_are_added() -> None:
    x = torch.arange(12.0, dtype=torch.float64).view(3, 4).requires_grad_()
    repeats = torch.tensor([1, 0, 3])
    for function in (
        lambda: x.repeat_interleave(2),
        lambda: x.repeat_interleave(3, 0),
        lambda: x.repeat_interleave(2, -1),
        lambda: x.repeat_interleave(0, 1),
        lambda: x.t().repeat_interleave(2, 0),
        lambda: x.repeat_interleave(repeats, 0),
        lambda: x.repeat_interleave(torch.tensor([2]), 1),
    ):
        made = function()
        weights = torch.arange(float(made.numel()), dtype=torch.float64).view(made.shape)
        (grad,) = torch.autograd.grad(made, x, weights)
        assert grad.shape == x.shape
        for value, slope in zip(x.detach().view(-1), grad.reshape(-1), strict=True):
            assert slope == weights[made.detach() == value].sum()

"""Sums of float32: in short runs, whose sums are added up in float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import rushlight as torch
from rushlight import Tensor
from rushlight.ops.kernels import threads

SIZES = (17, 64, 513, 1000, 4096, 33_000, 100_000)
EPSILON = 2.0**-24
FORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "flat": lambda x: x.sum(),
    "row": lambda x: x.repeat(2, 1).sum(1)[1],
    "columns": lambda x: x.reshape(-1, 1).repeat(1, 40).sum(0)[33],
    "few columns": lambda x: x.reshape(-1, 1).repeat(1, 3).sum(0)[1],
    "apart": lambda x: torch.stack([x, x], 1)[:, 0].sum(),
    "present": lambda x: torch.cat([x, torch.tensor([math.nan])]).nansum(),
    "product": lambda x: torch.dot(x, torch.ones(x.numel())),
}


def numbers(kind: str, size: int) -> np.ndarray:
    """Numbers whose sum is hard to find."""
    rng, places = np.random.default_rng(size), np.arange(size)
    if kind == "large first":
        return np.where(places == 0, 1e8, 1.0)
    if kind == "large last":
        return np.where(places == size - 1, 1e8, 1.0)
    if kind == "cancelled":
        return np.where(places % 2 == 1, -1.0, 1.0) * (1e4 + rng.random(size))
    if kind == "tiny":
        return rng.integers(1, 1000, size) * 1e-45
    return np.exp(5 * rng.standard_normal(size))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["large first", "large last", "cancelled", "tiny", "wide"])
def test_errors_are_of_short_runs(form: str, kind: str) -> None:
    """Not of as many roundings as there are elements."""
    for size in SIZES:
        x = numbers(kind, size).astype(np.float32)
        wanted, together = math.fsum(x.tolist()), math.fsum(np.abs(x).tolist())
        found = float(FORMS[form](torch.from_numpy(x)))
        assert abs(found - wanted) <= 19 * EPSILON * together + 1e-45


@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_finite_comes_through(form: str) -> None:
    for size in (40, 700, 40_000):
        x = torch.ones(size)
        x[size // 2] = math.inf
        assert float(FORMS[form](x)) == math.inf
        x[size // 3] = -math.inf
        assert math.isnan(float(FORMS[form](x)))


def test_parts_have_the_bits_of_what_lies_in_one_piece() -> None:
    x = torch.randn(6, 50, 41)
    for y in (x[:, 1:, ::2], x[:, :, 3:], x[::5]):
        for dim in range(y.dim()):
            for fold in (torch.sum, torch.mean, torch.amax, torch.nansum):
                made, wanted = fold(y, dim), fold(y.contiguous(), dim)
                assert made.is_contiguous()
                assert torch.equal(made, wanted)


def test_what_lies_in_no_order_is_folded_by_its_lines() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.uint8):
        x = (torch.randn(4, 6, 50, 41) * 9).to(dtype)
        for y in (x[:, 1:, 2:, 3:], x[:, :, :, 5:], x[:, ::2], x[::2, :, ::3], x[:, :, 7]):
            for dims in ((-1,), (-2, -1), (0, -1), (1,), (-1, 0, 1), tuple(range(y.dim()))):
                z = y.contiguous()
                for name in ("sum", "mean", "amax", "nansum", "count_nonzero", "norm"):
                    if name in ("mean", "norm") and not dtype.is_floating_point:
                        continue
                    more = {"dim": dims} if name != "norm" else {"dim": dims, "p": 2.0}
                    made, wanted = getattr(y, name)(**more), getattr(z, name)(**more)
                    assert made.dtype == wanted.dtype
                    near = 2e-2 if dtype == torch.bfloat16 else 2e-3
                    assert torch.allclose(made, wanted, near, near)
                assert torch.equal(y.amax(dims, True), z.amax(dims, True))


def test_turned_tensors_are_folded_as_they_lie() -> None:
    x = torch.randn(6, 50, 41)
    for y in (x.permute(1, 0, 2), x.permute(2, 1, 0), x.permute(2, 0, 1)):
        for dim in range(y.dim()):
            for fold in (torch.sum, torch.mean, torch.amax, torch.nansum):
                made, wanted = fold(y, dim), fold(y.contiguous(), dim)
                assert made.is_contiguous()
                assert torch.allclose(made, wanted, 1e-5, 3e-5)


def test_fused_sums_have_the_bits_of_eager_ones() -> None:
    def around(x: Tensor) -> Tensor:
        y = torch.exp(x) * 0.5
        return (y - y.mean(-1, keepdim=True)) / y.sum(-1, keepdim=True) * y.amax(-1, keepdim=True)

    scripted = torch.jit.script(around)
    before = threads.get_threads()
    for size in (17, 512, 513, 3000, 40_000):
        x = torch.randn(70, size)
        wanted = around(x).numpy().tobytes()
        for count in (1, 3):
            threads.set_threads(count)
            for _ in range(6):
                assert scripted(x).numpy().tobytes() == wanted
    threads.set_threads(before)


def test_products_of_vectors() -> None:
    for size in (1, 5, 16, 17, 1000, 70_001):
        for dtype in (torch.float32, torch.float64):
            x, y = torch.randn(2 * size, dtype=dtype), torch.randn(size, dtype=dtype)
            for each in (x[:size], x[::2]):
                wanted = math.fsum((each.double() * y.double()).tolist())
                assert abs(float(torch.dot(each, y)) - wanted) < 1e-6 * size**0.5 + 1e-6
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        torch.dot(torch.ones(3), torch.ones(4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_means_of_what_is_no_nan(dtype: torch.dtype) -> None:
    near = {torch.float32: 1e-5, torch.float64: 1e-12, torch.bfloat16: 2e-2}[dtype]
    x = (torch.randn(3, 50, 60) + 2).to(dtype)
    x.view(-1)[::7] = math.nan
    for y in (x, x.transpose(0, 1), x[:, 1:], x[0, 0]):
        for dim in (None, 0, -1):
            made, wanted = y.nanmean(dim), np.nanmean(y.double().numpy(), dim)
            assert made.dtype == dtype
            np.testing.assert_allclose(made.double().numpy(), wanted, near, near)
    assert torch.full((3, 4), math.nan, dtype=dtype).nanmean(1).isnan().all()
    assert torch.zeros(0, dtype=dtype).nanmean().isnan()

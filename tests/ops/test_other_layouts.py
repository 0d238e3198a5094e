"""What lies otherwise than by rows, and what is of few bits, gives what its copy in order does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.memory.order import order_of

F = torch.nn.functional
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.bfloat16)
HALVES = (torch.float16, torch.bfloat16)


def numbers(dtype: Any, *shape: int) -> Any:
    return (torch.rand(*shape, dtype=torch.float64) * 100 - 20).to(dtype)


def layouts(dtype: Any) -> list[Any]:
    base = numbers(dtype, 60, 40)
    return [base.t(), base[::2], base[:, 1::3], numbers(dtype, 6, 5, 40).permute(2, 0, 1)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scans_orders_and_places_of_what_lies_otherwise(dtype: Any) -> None:
    torch.manual_seed(3)
    for x in layouts(dtype):
        same = x.clone(memory_format=torch.contiguous_format)
        for dim in (0, -1):
            places = torch.randint(x.size(dim), x.shape)
            for found, wanted in (
                (x.cumsum(dim), same.cumsum(dim)),
                (x.cumprod(dim), same.cumprod(dim)),
                (x.sort(dim).indices, torch.sort(same, dim=dim, stable=True).indices),
                (x.topk(3, dim).values, same.topk(3, dim).values),
                (x.gather(dim, places), same.gather(dim, places)),
                (x.gather(dim, places.mT.contiguous().mT), same.gather(dim, places)),
                (x.nonzero(), same.nonzero()),
            ):
                assert (
                    found.numpy().tobytes() == wanted.numpy().tobytes()
                    if (dtype is not torch.bfloat16)
                    else torch.equal(found, wanted)
                )


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_halves_are_true_by_their_bits(dtype: Any) -> None:
    x = torch.tensor([[0.0, -0.0, 1.0], [float("nan"), -float("inf"), 2.0**-24]]).to(dtype)
    wanted = [[False, False, True], [True, True, bool(x[1, 2].float() != 0)]]
    assert x.bool().tolist() == wanted
    assert x.any(1).tolist() == [True, True]
    assert x.all(1).tolist() == [False, all(wanted[1])]
    assert x.count_nonzero().item() == sum(map(sum, wanted))
    assert x.nonzero().tolist() == np.argwhere(np.array(wanted)).tolist()
    large = torch.zeros(2000, dtype=dtype)
    large[::3] = -1
    assert large.count_nonzero().item() == len(large.nonzero()) == 667
    assert (-torch.zeros(3, dtype=dtype)).any().item() is False


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.int32], ids=str)
def test_the_median_of_all(dtype: Any) -> None:
    x = numbers(dtype, 999)
    middle = x.sort().values[499]
    assert x.median().dtype is dtype
    assert x.median() == middle
    if dtype.is_floating_point:
        x[5] = float("nan")
        assert x.median().isnan()
        assert not x.nanmedian().isnan()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16], ids=str)
def test_small_whole_numbers_are_added_round_and_round(dtype: Any) -> None:
    torch.manual_seed(5)
    x, more = (torch.randint(-100, 100, (50, 40)).to(dtype) for _ in range(2))
    rows = torch.randint(40, (50, 40))
    wanted = x.numpy().copy()
    np.add.at(wanted, (np.arange(50)[:, None], rows.numpy()), more.numpy())
    assert (x.scatter_add(1, rows, more).numpy() == wanted).all()
    wanted = x.numpy().copy()
    np.add.at(wanted, rows[0].numpy(), more[:40].numpy())
    assert (x.index_add(0, rows[0], more[:40]).numpy() == wanted).all()
    with pytest.raises((IndexError, RuntimeError)):
        x.scatter_add(1, rows + 40, more)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_losses_of_what_lies_in_another_order(dtype: Any) -> None:
    x, y = (numbers(torch.float64, 30, 50).mul(0.1).to(dtype) for _ in range(2))
    turned = F.mse_loss(x.t(), y.t(), reduction="none")
    assert torch.equal(turned, F.mse_loss(x, y, reduction="none").t())
    assert turned.stride() == x.t().stride()
    for reduction in ("mean", "sum"):
        found = F.mse_loss(x.t(), y.t(), reduction=reduction)
        assert torch.equal(found, F.mse_loss(x, y, reduction=reduction))


def test_the_order_of_dimensions() -> None:
    array = np.zeros((2, 3, 4))
    assert order_of(array) == (0, 1, 2)
    assert order_of(array.transpose(2, 0, 1)) == (1, 2, 0)
    assert order_of(array[:, ::2]) is None


def test_whole_numbers_equal_themselves() -> None:
    x = torch.arange(6)
    assert torch.equal(x, x)
    assert torch.equal(x, x.view(6))
    assert not torch.equal(x, x.flip(0))
    nan = torch.tensor([float("nan")])
    assert not torch.equal(nan, nan)


@pytest.mark.parametrize("dtype", [*HALVES, torch.float32, torch.float64], ids=str)
def test_softmax_and_logsumexp_of_what_lies_otherwise(dtype: Any) -> None:
    for x in layouts(dtype):
        same = x.clone(memory_format=torch.contiguous_format)
        for dim in (0, -1):
            found, wanted = x.logsumexp(dim), same.logsumexp(dim)
            assert found.stride() == wanted.stride()
            assert torch.allclose(found.double(), wanted.double(), rtol=1e-2 * dtype.itemsize**-4)
        columns = x.softmax(0)
        for _ in range(120):
            assert torch.equal(x.softmax(0), columns)
        sums = columns.double().sum(0)
        assert torch.allclose(sums, torch.ones_like(sums), atol=2e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_weights_of_one_pixel_with_channels_last_lay_out_results(dtype: Any) -> None:
    x = torch.randn(2, 8, 6, 6, dtype=dtype)
    for weight, convolve in (
        (torch.randn(8, 8, 1, 1, dtype=dtype), F.conv2d),
        (torch.randn(8, 4, 1, 1, dtype=dtype), F.conv_transpose2d),
    ):
        turned = weight.to(memory_format=torch.channels_last)
        for _ in range(3):
            made, usual = convolve(x, turned), convolve(x, weight)
            assert made.is_contiguous(memory_format=torch.channels_last)
            assert usual.is_contiguous()
            assert torch.allclose(made, usual)


def test_batch_norm_keeps_channels_last_that_sizes_of_1_hide() -> None:
    norm = torch.nn.BatchNorm2d(3)
    x = torch.randn(1, 4, 3, 1).permute(0, 2, 1, 3)
    for training in (True, False):
        made = norm.train(training)(x)
        assert made.is_contiguous(memory_format=torch.channels_last)
        assert norm(x.clone(memory_format=torch.contiguous_format)).is_contiguous()

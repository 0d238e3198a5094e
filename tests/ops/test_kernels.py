"""Native kernels against NumPy's way, on inputs large enough for them."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels import threads
from rushlight.ops.signals import fourier

pytestmark = pytest.mark.skipif(kernels.family("rows.rows") is None, reason="no native code here")

F = torch.nn.functional


class _Nothing(dict[str, Any]):
    """No native family at all."""

    def __missing__(self, name: str) -> None:
        return None


@pytest.fixture
def by_numpy(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    def run(compute: Callable[[], Any]) -> Any:
        known = [*kernels.family("calls.prepared")._EVERY]
        before = [each._known.copy() for each in known]
        with monkeypatch.context() as patch:
            patch.setattr(kernels, "_FAMILIES", _Nothing())
            for each in known:  # nothing is known, and nothing learned, whatever slot it is of
                each._known[0] = 0
                each.waits.wait_all(1 << 40)
            try:
                return compute()
            finally:
                for each, words in zip(known, before, strict=True):
                    each._known[:] = words

    return run


@pytest.fixture(params=[1, 3])
def crew(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads.get_threads()
    threads.set_threads(request.param)
    yield request.param
    threads.set_threads(before)


def special(*shape: int) -> Any:
    """Random numbers with a few infinities, NaN and zeros of both signs among them."""
    rng = np.random.default_rng(sum(shape))
    made = rng.standard_normal(shape, np.float32) * 4
    flat = made.reshape(-1)
    for place, value in zip(
        rng.integers(0, flat.size, 7),
        (np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30, -1e-40),
        strict=True,
    ):
        flat[place] = value
    return torch.from_numpy(made)


def plain(*shape: int) -> Any:
    rng = np.random.default_rng(len(shape))
    return torch.from_numpy(rng.standard_normal(shape, np.float32))


def same(one: Any, other: Any, rtol: float = 2e-6, atol: float = 2e-6) -> None:
    if isinstance(one, (tuple, list)):
        for a, b in zip(one, other, strict=True):
            same(a, b, rtol, atol)
        return
    assert one.dtype is other.dtype
    assert one.shape == other.shape
    assert one.stride() == other.stride()
    np.testing.assert_allclose(one.numpy(), other.numpy(), rtol, atol)


POINTWISE: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: torch.exp(x.clamp(-200, 20)),
    "exp_overflow": lambda x: torch.exp(x * 40),
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "mish": F.mish,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "leaky_relu_steep": lambda x: F.leaky_relu(x, -2.0),
    "clamp": lambda x: x.clamp(-1, 2.5),
    "clamp_crossed": lambda x: x.clamp(1.0, -1.0),
    "hardtanh": F.hardtanh,
    "lerp_near": lambda x: torch.lerp(x, x * 2 + 1, 0.3),
    "lerp_far": lambda x: torch.lerp(x, x * 2 + 1, 0.7),
    "addcmul": lambda x: torch.addcmul(x, x + 1, x - 1),
    "where": lambda x: torch.where(x > 0.5, x, x * 2),
    "where_number": lambda x: torch.where(x > 0.5, x, -0.0),
    "number_where": lambda x: torch.where(x > 0.5, 3.0, x),
    "where_broadcast": lambda x: torch.where(x > 0.5, x, x[:1]),
    "masked_fill": lambda x: x.masked_fill(x < 0, float("-inf")),
}


@pytest.mark.parametrize("name", list(POINTWISE))
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "sliced"])
def test_pointwise(name: str, layout: str, crew: int, by_numpy: Any) -> None:
    x = special(300, 701)
    x = {"contiguous": x, "transposed": x.t(), "sliced": x[:, 1:]}[layout]
    same(POINTWISE[name](x), by_numpy(lambda: POINTWISE[name](x)), rtol=4e-6)


ROWS: dict[str, Callable[[Any], Any]] = {
    "softmax": lambda x: torch.softmax(x, -1),
    "log_softmax": lambda x: torch.log_softmax(x, -1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "logsumexp_keep": lambda x: torch.logsumexp(x, -1, True),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "layer_norm_affine": lambda x: F.layer_norm(x, x.shape[-1:], x[0, 0].sigmoid(), x[0, 1]),
    "native_layer_norm": lambda x: torch.native_layer_norm(x, x.shape[1:], None, None, 1e-3),
    "sum": lambda x: x.sum(),
    "sum_last": lambda x: x.sum(-1, keepdim=True),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:], x[0, 0]),
    "rms_norm_plain": lambda x: F.rms_norm(x, x.shape[1:]),
    "group_norm": lambda x: F.group_norm(x.transpose(0, 1)[:96].transpose(0, 1), 4),
    "sum_first": lambda x: x.sum(0),
    "sum_middle": lambda x: x.sum(1),
    "sum_outer": lambda x: x.sum((0, 1)),
    "mean": lambda x: x.mean((1, 2)),
    "var": lambda x: x.var(),
    "std_mean": lambda x: torch.std_mean(x, correction=0, keepdim=True),
}


PLACES: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum_last": lambda x, index: x.cumsum(-1),
    "cumsum_first": lambda x, index: x.cumsum(0),
    "cumsum_middle": lambda x, index: x.cumsum(1),
    "gather": lambda x, index: x.gather(-1, index),
    "gather_short": lambda x, index: x.gather(-1, index[..., :100].contiguous()),
    "gather_middle": lambda x, index: x.gather(1, index % 97),
    "scatter_add": lambda x, index: x.scatter_add(-1, index, x),
    "scatter_add_middle": lambda x, index: x.scatter_add(1, index % 97, x),
    "amax": lambda x, index: x.amax(-1),
    "amin": lambda x, index: x.amin(-1, keepdim=True),
    "norm": lambda x, index: torch.norm(x),
    "prod": lambda x, index: (x * 0.01 + 1).prod(),
}


@pytest.mark.parametrize("name", list(PLACES))
def test_places(name: str, crew: int, by_numpy: Any) -> None:
    x = plain(4, 97, 320)
    rng = np.random.default_rng(5)
    index = torch.from_numpy(rng.integers(0, 320, (4, 97, 320)))
    same(PLACES[name](x, index), by_numpy(lambda: PLACES[name](x, index)), 1e-4, 2e-5)


@pytest.mark.parametrize("low", [math.nan, -math.inf, -0.0, 1.5, 6.0])
@pytest.mark.parametrize("high", [math.nan, math.inf, 0.0, -2.5, 6.0])
def test_bounds_that_are_no_numbers_are_results(low: float, high: float) -> None:
    x = torch.tensor([math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0, -7.0, 9.0] * 4000)
    array = x.numpy()
    wanted = np.minimum(np.float32(high), np.maximum(np.float32(low), array))
    bounds = torch.full_like(x, low), torch.full_like(x, high)
    for found in (x.clamp(low, high), x.clamp(*bounds), x[:8].clamp(low, high)):
        np.testing.assert_array_equal(found.numpy(), wanted[: len(found)])


def test_extremes_keep_nan() -> None:
    x = special(40, 300)
    np.testing.assert_array_equal(x.amax(-1).numpy(), np.max(x.numpy(), -1))
    np.testing.assert_array_equal(x.amin(-1).numpy(), np.min(x.numpy(), -1))


@pytest.mark.parametrize("wrong", [-1, 320])
def test_places_that_are_not_there_are_refused(wrong: int) -> None:
    x, index = plain(97, 320), torch.zeros(97, 320, dtype=torch.int64)
    index[50, 7] = wrong
    with pytest.raises((RuntimeError, IndexError), match=f"index {wrong} is out of bounds"):
        x.gather(1, index)
    with pytest.raises((RuntimeError, IndexError), match=f"index {wrong} is out of bounds"):
        x.scatter_add(1, index, x)


@pytest.mark.parametrize("name", list(ROWS))
@pytest.mark.parametrize("make", [plain, special])
def test_rows(name: str, make: Any, crew: int, by_numpy: Any) -> None:
    x = make(4, 97, 320)
    with np.errstate(all="ignore"):
        same(ROWS[name](x), by_numpy(lambda: ROWS[name](x)), 1e-5, 5e-5)


def test_long_sums_are_exact_enough() -> None:
    x = torch.full((3_000_001,), 0.1)
    assert abs(x.sum().item() - 300000.1) < 0.1
    assert abs(x.mean().item() - 0.1) < 1e-7
    assert x.var().item() < 1e-12


def test_the_number_of_threads_changes_no_bit() -> None:
    x, found = plain(7, 33, 1001), []
    before = threads.get_threads()
    for count in (1, 2, 5):
        threads.set_threads(count)
        found.append([ROWS[name](x) for name in ("softmax", "layer_norm", "sum", "sum_middle")])
    threads.set_threads(before)
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert a.numpy().tobytes() == b.numpy().tobytes()


def test_user_threads_may_call_at_once() -> None:
    x = plain(64, 2048)
    wanted = torch.softmax(x, -1).numpy().tobytes()
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(20):
            if torch.softmax(x, -1).numpy().tobytes() != wanted:
                wrong.append(number)

    running = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert not wrong


def test_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kernels.KERNELS_VARIABLE, "numpy")
    monkeypatch.setattr(kernels, "_FAMILIES", {})
    assert kernels.family("rows.rows") is None
    x = plain(100, 100)
    assert torch.softmax(x, 1).sum().item() == pytest.approx(100.0)


CONVOLUTIONS = [
    ((1, 64, 30, 30), (40, 64, 3, 3), {"padding": 1}),
    ((2, 16, 40, 41), (27, 16, 3, 3), {"padding": 1, "stride": 2}),
    ((1, 96, 40, 40), (96, 1, 3, 3), {"padding": 1, "groups": 96}),
    ((1, 96, 61, 60), (192, 1, 5, 3), {"padding": (2, 0), "stride": (2, 1), "groups": 96}),
    ((2, 48, 33, 28), (36, 16, 3, 2), {"dilation": (2, 3), "stride": (3, 2), "groups": 3}),
    ((1, 256, 14, 14), (130, 256, 1, 1), {}),
    ((2, 3, 64, 64), (64, 3, 16, 16), {"stride": 16}),
    ((3, 512, 7, 7), (65, 512, 3, 3), {"padding": 1}),
    ((1, 3, 80, 80), (32, 3, 7, 7), {"padding": 3, "stride": 2}),
    ((1, 64, 400), (64, 64, 5), {"padding": 2}),
    ((2, 40, 300), (64, 40, 3), {"stride": 2, "padding": "valid"}),
]


@pytest.mark.parametrize(("shape", "weights", "settings"), CONVOLUTIONS)
@pytest.mark.parametrize("layout", ["contiguous", "channels_last", "expanded"])
def test_convolutions(
    shape: Any, weights: Any, settings: Any, layout: str, crew: int, by_numpy: Any
) -> None:
    x, w, b = plain(*shape), plain(*weights) * 0.1, plain(weights[0])
    if layout == "channels_last" and x.ndim == 4:
        x = x.to(memory_format=torch.channels_last)
    if layout == "expanded":
        x = x[:1].expand(*shape)
    function = F.conv2d if x.ndim == 4 else F.conv1d
    same(
        function(x, w, b, **settings),
        by_numpy(lambda: function(x, w, b, **settings)),
        1e-4,
        2e-4,
    )


def test_a_convolution_keeps_nan_where_it_is() -> None:
    x = plain(1, 64, 40, 40)
    x[0, 3, 20, 20] = float("nan")
    made = F.conv2d(x, plain(64, 64, 3, 3), padding=1)
    assert int(made.isnan().sum()) == 64 * 9
    assert not bool(made[..., :19, :].isnan().any())


def tied(*shape: int) -> Any:
    """Few different numbers, with NaN, infinities and zeros of both signs."""
    rng = np.random.default_rng(9)
    choice = np.array([0.0, -0.0, 1, 1, 2, -3, np.inf, -np.inf, np.nan], np.float32)
    return torch.from_numpy(choice[rng.integers(0, choice.size, shape)])


INDEXED: dict[str, Callable[[Any], Any]] = {
    "cummax": lambda x: torch.cummax(x, 1),
    "cummax_last": lambda x: torch.cummax(x, -1),
    "cummin": lambda x: torch.cummin(x, 0),
    "topk": lambda x: torch.topk(x, 5),
    "topk_smallest": lambda x: torch.topk(x, 17, largest=False),
    "topk_all": lambda x: torch.topk(x[..., :20].contiguous(), 20),
}


@pytest.mark.parametrize("name", list(INDEXED))
@pytest.mark.parametrize("make", [plain, special, tied])
def test_values_with_places(name: str, make: Any, crew: int, by_numpy: Any) -> None:
    x = make(6, 71, 96)
    same(tuple(INDEXED[name](x)), tuple(by_numpy(lambda: INDEXED[name](x))), 0, 0)


def _ids(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng(3).integers(0, 300, shape))


TABLES: dict[str, Callable[[Any], Any]] = {
    "index_add": lambda x: torch.zeros_like(x).index_add_(0, _ids(400), x[_ids(400)]),
    "index_add_alpha": lambda x: x.index_add(0, _ids(400), x[_ids(400)], alpha=0.5),
    "bag_mean": lambda x: F.embedding_bag(_ids(40, 9), x),
    "bag_sum": lambda x: F.embedding_bag(
        _ids(200), x, torch.tensor([0, 0, 17, 100, 200]), mode="sum"
    ),
    "bag_shared": lambda x: F.embedding_bag(
        *(_ids(200), x, torch.tensor([0, 0, 17, 100, 200])),
        mode="sum",
        per_sample_weights=x.reshape(-1)[:200] / 16,
    ),
    "bag_shared_back": lambda x: torch.autograd.grad(
        F.embedding_bag(_ids(40, 9), x, mode="sum", per_sample_weights=x.detach()[:40, :9]).sum(),
        x,
    )[0],
    "bilinear": lambda x: F.interpolate(x.view(2, 2, 75, 64), scale_factor=1.7, mode="bilinear"),
    "bicubic": lambda x: F.interpolate(x.view(2, 2, 75, 64), size=(40, 90), mode="bicubic"),
    "linear": lambda x: F.interpolate(x.view(2, 150, 64), size=101, mode="linear"),
}


@pytest.mark.parametrize("name", [name for name in TABLES if name.startswith("bag")])
def test_bags_of_float64(name: str, crew: int, by_numpy: Any) -> None:
    x = plain(300, 64).double().requires_grad_("back" in name)
    same(TABLES[name](x), by_numpy(lambda: TABLES[name](x)), 1e-14, 1e-14)


@pytest.mark.parametrize("name", list(TABLES))
def test_tables(name: str, crew: int, by_numpy: Any) -> None:
    x = plain(300, 64).requires_grad_("back" in name)
    same(TABLES[name](x), by_numpy(lambda: TABLES[name](x)), 1e-6, 2e-6)


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: torch.logsumexp(x, 0),
        lambda x: torch.logsumexp(x, 0, True),
        lambda x: torch.softmax(x, 0),
        lambda x: x.sum(),
        lambda x: x.sum(0, keepdim=True),
        lambda x: x.mean(),
        lambda x: x.std(0),
        lambda x: tuple(torch.topk(x, 4)),
        lambda x: tuple(torch.cummax(x, 0)),
        lambda x: F.layer_norm(x, x.shape),
        lambda x: F.gelu(x),
    ],
)
def test_one_dimension(compute: Any, by_numpy: Any) -> None:
    x = plain(20011)
    same(compute(x), by_numpy(lambda: compute(x)), 1e-5, 1e-5)


def test_the_number_of_threads_can_be_set() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    assert torch.get_num_threads() == 3
    torch.set_num_threads(before)
    for wrong in (0, -1, "2", 1.5):
        with pytest.raises(RuntimeError, match="set_num_threads expects"):
            torch.set_num_threads(wrong)


@pytest.mark.parametrize("shape", [(2, 8, 40, 40), (3, 16, 301)])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(shape: Any, training: bool, crew: int, by_numpy: Any) -> None:
    x, channels = special(*shape) if not training else plain(*shape), shape[1]

    def compute() -> Any:
        mean, var = plain(channels), plain(channels).abs()
        return F.batch_norm(x, mean, var, plain(channels), plain(channels), training, 0.1, 1e-5)

    same(compute(), by_numpy(compute), 1e-5, 1e-5)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("call", [torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.irfft])
def test_threads_change_no_transform(call: Any, dim: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fourier, "_PER_THREAD", 1)
    x = special(5, 14, 9).nan_to_num(1.0, 2.0, 3.0)
    before, made = threads.get_threads(), []
    for count in (1, 3):
        threads.set_threads(count)
        made.append(call(x, dim=dim, norm="ortho").resolve_conj().numpy())
    threads.set_threads(before)
    assert made[0].tobytes() == made[1].tobytes()
    assert made[0].strides == made[1].strides


def test_threads_of_matrix_products_follow() -> None:
    def of_blas() -> list[int]:
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before, blas = torch.get_num_threads(), of_blas()
    try:
        torch.set_num_threads(1)
        assert of_blas() == [1] * len(blas)
    finally:
        torch.set_num_threads(before)
        if blas:
            threadpool_limits(limits=max(blas), user_api="blas")


@pytest.mark.parametrize("alpha", [math.nan, math.inf])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [1, 10000])
def test_elu_leaves_what_is_not_negative_to_any_alpha(
    alpha: float, dtype: torch.dtype, count: int
) -> None:
    x = torch.tensor([0.0, 2.0] * count, dtype=dtype)
    assert torch.nn.functional.elu(x, alpha).tolist() == x.tolist()


@pytest.mark.parametrize("size", [1, 3, 40, 1000])
def test_rows_of_float64_are_right(size: int) -> None:
    x = torch.randn(7, size, dtype=torch.float64) * 30
    weight, bias = torch.rand(2, size, dtype=torch.float64)
    wide = x.numpy().astype(np.longdouble)
    apart = wide - wide.max(1, keepdims=True)
    total = np.exp(apart).sum(1, keepdims=True)
    centred = wide - wide.mean(1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    root = 1 / np.sqrt((wide**2).mean(1, keepdims=True) + 1e-6)
    pairs = {
        "softmax": (torch.softmax(x, 1), np.exp(apart) / total),
        "log_softmax": (torch.log_softmax(x, 1), apart - np.log(total)),
        "logsumexp": (x.logsumexp(1, True), np.log(total) + wide.max(1, keepdims=True)),
        "layer_norm": (
            torch.nn.functional.layer_norm(x, [size], weight, bias),
            centred * scale * weight.numpy() + bias.numpy(),
        ),
        "rms_norm": (
            torch.nn.functional.rms_norm(x, [size], weight, 1e-6),
            wide * root * weight.numpy(),
        ),
        "var": (x.var(1, correction=0), (centred**2).mean(1)),
    }
    for name, (made, want) in pairs.items():
        assert made.dtype is torch.float64
        np.testing.assert_allclose(made.numpy(), want.astype(float), 3e-15, 3e-14, err_msg=name)


@pytest.mark.parametrize("shape", [(1,), (15,), (4, 16 - 1), (9, 7), (64, 1), (2, 3, 5)])
def test_softmax_of_short_rows_adds_the_nearest_powers_one_by_one(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(len(shape)).normal(0, 9, shape).astype(np.float32)
    rows = x.reshape(-1, shape[-1])
    rows[0, -1] = {1: np.nan, 15: np.inf, 7: -np.inf}.get(shape[-1], rows[0, -1])
    with np.errstate(invalid="ignore"):
        below = x - x.max(-1, keepdims=True)
        powers = np.exp(below.astype(np.float64)).astype(np.float32)
        wanted = powers * np.reciprocal(np.add.accumulate(powers, -1)[..., -1:])
    assert np.array_equal(torch.softmax(torch.from_numpy(x), -1).numpy(), wanted, equal_nan=True)
    turned = torch.from_numpy(np.ascontiguousarray(x.T)).permute(*range(x.ndim)[::-1])
    assert np.array_equal(torch.softmax(turned, -1).numpy(), wanted, equal_nan=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("right", [False, True])
def test_places_in_rows(by_numpy: Any, dtype: Any, right: bool) -> None:
    """Also in rows that are not sorted, and beside what is no number."""
    rng = np.random.default_rng(3)
    rows = np.sort(rng.integers(-20, 20, (7, 33)), -1).astype(dtype)
    rows[3] = rows[3, ::-1]
    sought = rng.integers(-25, 25, (7, 50)).astype(dtype)
    if dtype is not np.int64:
        rows[4, 30:], rows[5, 3], sought[:, 4] = np.nan, np.nan, np.nan
    pairs = [(rows, sought), (rows[0], sought), (rows[4], sought[0]), (rows[:, :0], sought)]
    for sequence, values in pairs:
        given = torch.from_numpy(sequence.copy()), torch.from_numpy(values.copy())
        found = torch.searchsorted(*given, right=right)
        expected = by_numpy(lambda given=given: torch.searchsorted(*given, right=right))
        assert torch.equal(found, expected)


@pytest.mark.parametrize("count", [0, 1, 5, 70, 40_000])
@pytest.mark.parametrize("width", [3, 50, 10**12])
def test_unique_numbers(count: int, width: int) -> None:
    """Counted through where they lie near each other, else sorted."""
    rng = np.random.default_rng(count)
    whole = rng.integers(-width, width, count)
    real = np.where(rng.random(count) < 0.1, np.nan, whole * 0.5) * rng.choice([-0.0, 1.0], count)
    for given in (whole, whole.astype(np.int32), real, real.astype(np.float32)):
        found = torch.unique(torch.from_numpy(given), return_inverse=True, return_counts=True)
        values, places, counts = (each.numpy() for each in found)
        wanted, _, sizes = np.unique(given, False, True, True, equal_nan=False)
        np.testing.assert_array_equal(values, wanted)
        np.testing.assert_array_equal(counts, sizes)
        np.testing.assert_array_equal(values[places], given)
        np.testing.assert_array_equal(np.bincount(places, minlength=counts.size), counts)
        alone = torch.unique(torch.from_numpy(given))
        assert alone.numpy().tobytes() == values.tobytes()

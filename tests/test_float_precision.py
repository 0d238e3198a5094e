"""Products of float32 that may be rounded to bfloat16 first, and those of bfloat16."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.arithmetic.comparison import clamp
from rushlight.ops.kernels import family
from rushlight.ops.kernels.code.language.target import host
from rushlight.ops.kernels.precision import PRECISION
from rushlight.ops.memory.dtype import DTYPES

BACKENDS = torch.backends
MKLDNN = torch.backends.mkldnn
ROUNDED = family("products.pairs") is not None and host().has_pairs
conv2d = torch.nn.functional.conv2d


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    torch.set_float32_matmul_precision("highest")
    for each in (MKLDNN.matmul, MKLDNN.conv, MKLDNN.rnn, BACKENDS):
        each.fp32_precision = "none"


def _near(values: torch.Tensor) -> torch.Tensor:
    return values.bfloat16().double()


def _error(found: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((found.double() - wanted).abs().max())


@pytest.mark.parametrize("sizes", [(25, 300, 150), (64, 129, 128), (130, 257, 33)])
@pytest.mark.parametrize("is_turned", [False, True])
def test_medium_rounds_what_is_multiplied(sizes: tuple[int, int, int], is_turned: bool) -> None:
    rows, depth, columns = sizes
    a = torch.randn(rows, depth)
    b = torch.randn(columns, depth).t() if is_turned else torch.randn(depth, columns)
    bias, plain = torch.randn(columns), a @ b
    rounded, whole = _near(a) @ _near(b), a.double() @ b.double()
    torch.set_float32_matmul_precision("medium")
    assert _error(a @ b, rounded if ROUNDED else whole) < 1e-4
    assert _error(torch.addmm(bias, a, b), (rounded if ROUNDED else whole) + bias) < 1e-4
    batch = torch.stack([a, -a])
    assert torch.equal(torch.matmul(batch, b)[1], -(a @ b))
    torch.set_float32_matmul_precision("high")
    assert torch.equal(a @ b, plain)


@pytest.mark.skipif(not ROUNDED, reason="needs instructions for pairs")
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("depth", [511, 512, 1030])
def test_columns_are_rounded_where_they_are_packed(depth: int, is_turned: bool) -> None:
    a, b = torch.randn(2, 130, depth), torch.randn(97, depth).t()
    if not is_turned:
        b = b.contiguous()
    multiply = family("products.matrices").multiply
    words = multiply(a[0].bfloat16()._array, b.bfloat16()._array)
    torch.set_float32_matmul_precision("medium")
    runs: list[object] = []
    with family("calls.watching").watching(lambda *run: runs.append(run)):
        found = multiply(a[0].numpy(), b.numpy())
    assert len(runs) == 2  # rows become words, columns in the product
    assert np.array_equal(found, words)
    assert torch.equal((a @ b)[0], torch.from_numpy(found))


@pytest.mark.skipif(not ROUNDED, reason="needs instructions for pairs")
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize(("depth", "columns"), [(511, 97), (512, 800), (1030, 50), (64, 385)])
def test_many_rows_are_rounded_where_they_are_used(
    depth: int, columns: int, is_turned: bool
) -> None:
    a, b = torch.randn(531, depth + 1)[:, :depth], torch.randn(columns, depth).t()
    if not is_turned:
        b = b.contiguous()
    multiply = family("products.matrices").multiply
    words = multiply(a.bfloat16()._array, b.bfloat16()._array)
    torch.set_float32_matmul_precision("medium")
    runs: list[object] = []
    with family("calls.watching").watching(lambda *run: runs.append(run)):
        found = multiply(a._array, b._array)
    assert len(runs) == 2  # columns become words, rows in the product
    assert np.array_equal(found, words)
    before = torch.get_num_threads()
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        assert np.array_equal(multiply(a._array, b._array), words)
    torch.set_num_threads(before)
    parts = [multiply(a[start : start + 200]._array, b._array) for start in (0, 200, 400)]
    assert np.array_equal(np.concatenate(parts), words)


def test_wild_numbers_stay() -> None:
    a, b = torch.ones(64, 128), torch.ones(128, 128)
    a[0, 0], a[1, 1], a[2, 2] = float("nan"), float("inf"), 3.4e38
    torch.set_float32_matmul_precision("medium")
    found = a @ b
    assert bool(found[0].isnan().all())
    assert bool((found[1] == float("inf")).all())
    assert bool((found[2] >= 3.4e38).all())
    assert bool((found[3:] == 128).all())


SHAPES = [
    *((16, 24, 1, 1, 1), (18, 36, 3, 2, 2), (64, 8, 5, 1, 1)),
    *((17, 24, 1, 1, 1), (402, 30, 1, 1, 1), (34, 32, 1, 1, 2), (10, 33, 3, 1, 1)),
]


@pytest.mark.parametrize(("inside", "made", "size", "stride", "groups"), SHAPES)
def test_convolutions_too(inside: int, made: int, size: int, stride: int, groups: int) -> None:
    x = torch.randn(2, inside, 13, 15)
    weight, bias = torch.randn(made, inside // groups, size, size), torch.randn(made)
    settings = stride, size // 2, 1, groups
    plain = conv2d(x, weight, bias, *settings)
    rounded = conv2d(_near(x), _near(weight), bias.double(), *settings)
    torch.set_float32_matmul_precision("medium")
    assert _error(conv2d(x, weight, bias, *settings), rounded if ROUNDED else plain) < 2e-4
    MKLDNN.conv.fp32_precision = "ieee"
    assert torch.equal(conv2d(x, weight, bias, *settings), plain)
    halves = conv2d(x.bfloat16(), weight.bfloat16(), bias.bfloat16(), *settings)
    rounded = conv2d(_near(x), _near(weight), _near(bias), *settings)
    assert halves.dtype is torch.bfloat16
    torch.testing.assert_close(halves.double(), rounded, rtol=2**-8, atol=1e-3)


ALONE = [
    *((51, 60, 1, 1, 1, (7, 7)), (402, 130, 1, 1, 1, (20, 15)), (34, 320, 1, 1, 2, (9, 11))),
    *((33, 264, 3, 2, 1, (14, 14)), (24, 200, 1, 2, 1, (14, 14)), (500, 400, 1, 1, 1, (8, 12))),
]


@pytest.mark.parametrize(("inside", "made", "window", "stride", "groups", "size"), ALONE)
def test_samples_and_threads_change_no_bit(
    inside: int, made: int, window: int, stride: int, groups: int, size: tuple[int, int]
) -> None:
    x, weight = torch.randn(1, inside, *size), torch.randn(made, inside // groups, window, window)
    settings = None, stride, window // 2, 1, groups
    torch.set_float32_matmul_precision("medium")
    several = conv2d(torch.cat([x, x]), weight, *settings)
    threads = torch.get_num_threads()
    try:
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            assert torch.equal(conv2d(x, weight, *settings)[0], several[1])
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize("size", [(7, 7), (1, 33), (64, 64), (9, 11)])
def test_pixels_are_joined_as_they_lie(size: tuple[int, int]) -> None:
    x, weight = torch.randn(2, 51, *size), torch.randn(60, 51, 1, 1)
    rounded = conv2d(_near(x), _near(weight))
    plain = conv2d(x.double(), weight.double())
    torch.set_float32_matmul_precision("medium")
    assert _error(conv2d(x, weight), rounded if ROUNDED else plain) < 2e-4


SQUARES = [
    *((17, 33, 1, 1, (13, 15)), (16, 16, 1, 1, (9, 11)), (32, 48, 2, 1, (20, 23))),
    *((512, 64, 1, 1, (7, 7)), (34, 34, 1, 2, (30, 31)), (31, 16, 3, 1, (24, 24))),
]


@pytest.mark.parametrize(("inside", "made", "dilation", "groups", "size"), SQUARES)
def test_squares_are_rounded_once_they_are_combined(
    inside: int, made: int, dilation: int, groups: int, size: tuple[int, int]
) -> None:
    x = torch.randn(2, inside * groups, *size)
    weight = torch.randn(made * groups, inside, 3, 3) / (9 * inside) ** 0.5
    settings = 1, dilation, dilation, groups
    exact = conv2d(x.double(), weight.double(), None, *settings)
    rounded = conv2d(_near(x), _near(weight), None, *settings)
    torch.set_float32_matmul_precision("medium")
    found = conv2d(x, weight, None, *settings)
    error = float((found.double() - exact).square().mean().sqrt())
    assert error < 2 * float((rounded - exact).square().mean().sqrt())
    assert _error(found, exact) < 0.04
    torch.set_float32_matmul_precision("highest")
    assert torch.equal(conv2d(x, weight, None, *settings), found) is not ROUNDED


def test_squares_of_wild_numbers_stay() -> None:
    x, weight = torch.ones(1, 16, 12, 12), torch.ones(16, 16, 3, 3)
    x[0, 3, 1, 1], x[0, 5, 9, 9], x[0, 0, 1, 10] = float("inf"), float("nan"), 3e38
    wanted = conv2d(x, weight)
    torch.set_float32_matmul_precision("medium")
    found = conv2d(x, weight)
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.isinf(), wanted.isinf())
    near = wanted.isfinite()
    torch.testing.assert_close(found[near], wanted[near], rtol=2**-6, atol=0.0)


def test_few_channels_are_not_rounded() -> None:
    x, weight = torch.randn(1, 32, 30, 30), torch.randn(32, 1, 3, 3)
    plain = conv2d(x, weight, None, 1, 1, 1, 32)
    torch.set_float32_matmul_precision("medium")
    assert torch.equal(conv2d(x, weight, None, 1, 1, 1, 32), plain)


@pytest.mark.parametrize("rows", [1, 3, 24, 70])
def test_products_of_bfloat16_are_rounded_once(rows: int) -> None:
    x, weight = torch.randn(rows, 301).bfloat16(), torch.randn(129, 301).bfloat16()
    bias = torch.randn(129).bfloat16()
    wanted = _near(x) @ _near(weight).t()
    for found, sums in (
        (x @ weight.t(), wanted),
        (torch.nn.functional.linear(x, weight, bias), wanted + bias.double()),
        (torch.addmm(bias, x, weight.t().contiguous()), wanted + bias.double()),
        (torch.bmm(torch.stack([x, x]), torch.stack([weight.t(), weight.t()]))[1], wanted),
    ):
        assert found.dtype is torch.bfloat16
        torch.testing.assert_close(found.double(), sums, rtol=2**-8, atol=1e-4)


def test_one_set_of_bits() -> None:
    layer = torch.nn.Sequential(
        torch.nn.Conv2d(16, 24, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(24, 24, 1)
    ).eval()
    script, x = torch.jit.script(layer), torch.randn(1, 16, 24, 24)
    torch.set_float32_matmul_precision("medium")
    threads = torch.get_num_threads()
    try:
        found = []
        for count in (1, 2, 3):
            torch.set_num_threads(count)
            with torch.no_grad():
                found += [layer(x), script(x), script(x), script(x)]
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(found[0], each) for each in found)


def test_what_was_asked_for_is_remembered() -> None:
    get = torch.get_float32_matmul_precision
    assert get() == "highest"
    torch.set_float32_matmul_precision("medium")
    assert (get(), MKLDNN.matmul.fp32_precision, MKLDNN.conv.fp32_precision) == (
        *("medium", "bf16", "none"),
    )
    MKLDNN.matmul.fp32_precision = "tf32"
    with pytest.raises(RuntimeError, match="mix of the legacy and new APIs"):
        get()
    torch.set_float32_matmul_precision("highest")
    BACKENDS.fp32_precision = "bf16"
    assert (MKLDNN.matmul.fp32_precision, MKLDNN.conv.fp32_precision) == ("ieee", "bf16")
    assert PRECISION.convolutions_may_be_short
    assert not PRECISION.products_may_be_short


def test_what_cannot_be_asked_for() -> None:
    with pytest.warns(UserWarning, match="low is not one of 'highest', 'high', or 'medium'"):
        torch.set_float32_matmul_precision("low")
    with pytest.raises(RuntimeError, match="expects a str, but got int"):
        torch.set_float32_matmul_precision(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Unknown precision: fp8"):
        MKLDNN.matmul.fp32_precision = "fp8"
    with pytest.raises(AttributeError, match="Unknown attribute fast"):
        MKLDNN.conv.fast = True
    assert torch.get_float32_matmul_precision() == "highest"


def test_rounding_is_that_of_ml_dtypes() -> None:
    pairs = family("products.pairs")
    if pairs is None:
        pytest.skip("no native code")
    numbers = np.random.default_rng(0).integers(0, 1 << 32, 999, np.uint32).view(np.float32)
    kind = DTYPES["bfloat16"].numpy
    with np.errstate(all="ignore"):
        wanted = numbers.astype(kind)
    assert pairs.rounded(numbers, kind).tobytes() == wanted.tobytes()
    assert pairs.widened(wanted).tobytes() == wanted.astype(np.float32).tobytes()


@pytest.mark.skipif(family("calls.watching") is None, reason="no native code")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_large_short_floats_are_held_between_bounds_by_kernels(dtype: torch.dtype) -> None:
    x = torch.randn(96, 1024).to(dtype)
    x[0, :3] = torch.tensor([float("nan"), float("inf"), -float("inf")], dtype=dtype)
    for bounds in ({"min": -0.3, "max": 0.7}, {"min": 0.1}, {"max": 0.1}):
        seen: list[object] = []
        given = bounds.get("min"), bounds.get("max")
        with family("calls.watching").watching(lambda *run, seen=seen: seen.extend(run)):
            found = clamp(x._array, *given)
        assert any(getattr(each, "shape", ()) == x.shape for each in seen)
        with np.errstate(all="ignore"):
            few = [clamp(row, *given) for row in x._array.reshape(-1, 64)]
        assert found.tobytes() == b"".join(each.tobytes() for each in few)

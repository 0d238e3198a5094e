"""The first elements in order by kernels: as sorting puts them, and equal ones as they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.kernels import family
from rushlight.ops.selection import ranking

ranks = family("ordering.ranks")
pytestmark = pytest.mark.skipif(ranks is None, reason="there is no native code here")

SHAPES = [(3, 1), (2, 5), (4, 16), (3, 17), (5, 40), (1, 150)]


def sorted_places(x: Any, operation: str, nan_first: bool) -> Any:
    """Where the elements of rows stand in order."""
    is_number = x == x
    sign = -1 if operation == "max" else 1
    numbers = np.where(is_number, sign * np.where(is_number, x, 0).astype(float), 0)
    keys = numbers, is_number if nan_first else ~is_number
    return np.stack([np.lexsort([key[i] for key in keys]) for i in range(len(x))])


def drawn(shape: tuple[int, int], dtype: str, make: str) -> Any:
    random = np.random.default_rng(sum(shape))
    if make == "tied":
        return random.integers(-3, 3, shape).astype(dtype)
    numbers = 100 * random.normal(size=shape)
    x = (numbers if dtype[0] == "f" else numbers.astype("i8")).astype(dtype)
    if make == "special" and dtype[0] == "f":
        for value in (np.nan, np.inf, -np.inf):
            x[random.random(shape) < 0.15] = value
    return x


@pytest.mark.parametrize("operation", ["max", "min"])
@pytest.mark.parametrize("make", ["plain", "tied", "special"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "i2", "i1", "u1", "f2"])
def test_first_elements_stand_as_sorting_puts_them(dtype: str, make: str, operation: str) -> None:
    for shape in SHAPES:
        x = drawn(shape, dtype, make)
        wanted = sorted_places(x, operation, operation == "max")
        for k in {1, 2, 9, 30, shape[1]} & set(range(1, min(shape[1], ranks.MOST) + 1)):
            values, places = ranks.top(x, k, operation)
            assert np.array_equal(places, wanted[:, :k])
            assert values.tobytes() == np.take_along_axis(x, wanted[:, :k], 1).tobytes()
        wanted = sorted_places(x, operation, True)
        columns = np.ascontiguousarray(x.T)
        for given, axis in ((x, 1), (columns, 0), (np.stack([columns, columns]), 1)):
            values, places = ranks.extreme(given, axis, operation)
            assert np.array_equal(np.atleast_2d(places)[0], wanted[:, 0])
            assert np.array_equal(np.atleast_2d(places)[-1], wanted[:, 0])
            found = np.take_along_axis(given, np.expand_dims(places, axis), axis)
            assert values.tobytes() == found.tobytes()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int32, torch.uint8])
def test_short_numbers_are_ranked_in_all_calls_as_wide_ones(dtype: torch.dtype) -> None:
    x = (torch.arange(300) * 37 % 251).reshape(3, 100).to(dtype)
    for _ in range(70):
        found = [*x.topk(4, 1), *x.max(1), *x.min(0), x.argmax(1), x.argmin(0, True)]
    wide = x.long()
    wanted = [*wide.topk(4, 1), *wide.max(1), *wide.min(0), wide.argmax(1), wide.argmin(0, True)]
    assert all(torch.equal(one.long(), other) for one, other in zip(found, wanted, strict=True))
    assert {each.dtype for each in (found[0], found[2], found[4])} == {dtype}


@pytest.mark.parametrize("kernels", ["ordering.short_orders", "ordering.digit_orders"])
@pytest.mark.parametrize("make", ["plain", "tied", "special"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_rows_stand_as_sorting_puts_them(dtype: str, make: str, kernels: str) -> None:
    orders = family(kernels)
    for shape in (each for each in SHAPES if each[1] <= orders.LONGEST):
        x = drawn(shape, dtype, make)
        x[0, 0] = -0.0
        columns = np.ascontiguousarray(x.T)
        for descending in (False, True):
            wanted = sorted_places(x, "max" if descending else "min", descending)
            for low in {0, 1, shape[1] - 1} & set(range(shape[1])):
                for high in {low + 1, shape[1]}:
                    values, places = orders.in_order(x, 1, low, high, descending=descending)
                    assert np.array_equal(places, wanted[:, low:high])
                    assert values.tobytes() == np.take_along_axis(x, places, 1).tobytes()
                    both = np.stack([columns, columns[:, ::-1]])
                    values, places = orders.in_order(both, 1, low, high, descending=descending)
                    assert np.array_equal(places[0].T, wanted[:, low:high])
                    assert np.array_equal(places[1].T[::-1], wanted[:, low:high])
                    assert values.tobytes() == np.take_along_axis(both, places, 1).tobytes()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
def test_rows_of_all_lengths_are_sorted_alike(
    dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    given = [torch.randn(*shape) for shape in ((100,), (129, 2), (9, 130), (2, 700), (40, 60))]
    given = [(each * 50).round().to(dtype) for each in given]
    if dtype.is_floating_point:
        given = [each.masked_fill(each == 7, float("nan")) for each in given]

    def all_sorted() -> list[Any]:
        calls = [lambda x, d: (torch.argsort(x, -1, d),), lambda x, d: torch.sort(x, 0, d)]
        calls.append(lambda x, d: torch.topk(x, x.shape[0] // 2, 0, d))
        calls.append(lambda x, d: torch.kthvalue(x, x.shape[-1] // 3 + 1))
        found = (call(x, d) for call in calls for x in given for d in (False, True))
        return [part.numpy().tobytes() for parts in found for part in parts]

    by_kernels = all_sorted()
    monkeypatch.setattr(ranking, "family", lambda _: None)
    assert by_kernels == all_sorted()


@pytest.mark.parametrize("skip_nan", [False, True])
def test_medians_of_short_rows_are_those_that_sorting_finds(
    skip_nan: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    median = torch.nanmedian if skip_nan else torch.median
    monkeypatch.setattr(ranking, "family", lambda _: None)
    for shape in SHAPES[:-1]:
        x = drawn(shape, "f4", "special")
        x[-1] = np.nan
        for given, axis in ((x, 1), (np.ascontiguousarray(x.T), 0)):
            values, places = (each.numpy() for each in median(torch.from_numpy(given), axis))
            found, where = family("ordering.short_orders").middle(given, axis, skip_nan=skip_nan)
            assert np.array_equal(found.reshape(-1), values, equal_nan=True)
            assert np.array_equal(where.reshape(-1), places)


def test_extremes_of_all_calls_are_the_same() -> None:
    unit = torch.jit.CompilationUnit(
        "def ranked(x: Tensor):\n"
        "    a, b = torch.max(x, 0)\n    c, d = torch.topk(x, 3, -1, False)\n"
        "    return a, b, c, d, x.argmax(1, True), x.argmin(), x.min(1, keepdim=True)[1]\n"
    )
    x = torch.tensor([[2.0, float("nan"), -1.0, 2.0], [0.0, -0.0, 5.0, 2.0]])
    for _ in range(70):
        a, b, c, d, e, f, g = unit.ranked(x)
        assert repr(a.tolist()) == "[2.0, nan, 5.0, 2.0]"
        assert (b.tolist(), c.tolist()) == ([0, 0, 1, 0], [[-1, 2, 2], [0, 0, 2]])
        assert (d.tolist(), e.tolist()) == ([[2, 0, 3], [0, 1, 3]], [[1], [2]])
        assert (f.item(), g.tolist()) == (1, [[1], [0]])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("largest", [True, False])
def test_many_first_ones_of_a_long_row_with_nan(dtype: str, largest: bool) -> None:
    draws = np.random.default_rng(0)
    row = draws.random(20000).astype(dtype) + 1
    row[draws.integers(0, row.size, 60)] = np.nan
    for count in (100, 400, 19970):
        values, places = torch.topk(torch.tensor(row), count, largest=largest)
        order = np.sort(row)
        want = (order[::-1] if largest else order)[:count]
        assert np.array_equal(values.numpy(), want, equal_nan=True)
        assert np.array_equal(row[places.numpy()], want, equal_nan=True)


@pytest.mark.parametrize("dtype", ["f8", "i8"])
def test_numbers_of_64_bits_are_placed_as_sorting_puts_them(dtype: str) -> None:
    draws = np.random.default_rng(0)
    for shape in ((2000,), (30, 120), (3, 500, 4)):
        x = np.round(draws.standard_normal(shape), 1) * (1 << 50)
        x[draws.random(shape) < 0.05] = np.nan if dtype == "f8" else 0
        x = x.astype(dtype)
        tensor = torch.tensor(x)
        for axis, size in enumerate(shape):
            order = np.argsort(np.where(x == 0, np.zeros_like(x), x), axis, kind="stable")
            for place in (0, size // 3, size - 1):
                values, places = torch.kthvalue(tensor, place + 1, axis)
                assert np.array_equal(places.numpy(), order.take(place, axis))
                got = np.take_along_axis(x, np.expand_dims(places.numpy(), axis), axis)
                assert np.array_equal(values.numpy(), got.squeeze(axis), equal_nan=True)

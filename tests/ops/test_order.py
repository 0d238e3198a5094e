"""Orders, largest elements and medians of many elements, against a plain stable sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops.selection.unordered import library_order


def numbers(shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    """Many equal numbers; of floats NaN, infinities and zeros of either sign too."""
    random = np.random.default_rng(seed)
    made = random.integers(-40, 40, shape).astype(dtype)
    if made.dtype.kind == "f":
        edges = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-45], dtype)
        chosen = random.random(shape) < 0.2
        made[chosen] = random.choice(edges, chosen.sum())
    return made


def stable(row: Any, descending: bool) -> list[int]:
    """The places of a row in order: NaN is the largest, equal ones stay as they are."""

    def rank(place: int) -> tuple[bool, float]:
        number = row[place]
        sign = -1 if descending else 1
        if number != number:
            return not descending, 0.0
        return descending, sign * float(number)

    return sorted(range(len(row)), key=rank)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.int16])
@pytest.mark.parametrize("shape", [(2000,), (30, 70), (4, 30, 20)])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable(dtype: Any, shape: tuple[int, ...], descending: bool) -> None:
    x = numbers(shape, dtype, 1)
    tensor = torch.from_numpy(x)
    for axis in range(x.ndim):
        want = np.apply_along_axis(stable, axis, x, descending)
        values, places = tensor.sort(axis, descending)
        assert np.array_equal(places.numpy(), want)
        assert values.numpy().tobytes() == np.take_along_axis(x, want, axis).tobytes()
        count = min(x.shape[axis], 25)
        largest = tensor.topk(count, axis, largest=descending)
        first = np.take(want, range(count), axis)
        assert np.array_equal(largest.indices.numpy(), first)
        at = tensor.kthvalue(count, axis).indices.numpy()
        ascending = np.apply_along_axis(stable, axis, x, False)
        assert np.array_equal(at, np.take(ascending, count - 1, axis))


@pytest.mark.parametrize("distance", [2**32 - 1, 2**32, 2**63])
def test_whole_numbers_far_apart_are_sorted(distance: int) -> None:
    x = np.arange(3000) % 7
    x[[5, 70]] = [-(2**62), distance - 2**62 - 1]
    made = torch.from_numpy(x).sort(stable=True)
    assert np.array_equal(made.indices.numpy(), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("k", [1, 7, 100, 200])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("kind", ["random", "many NaN", "equal", "rising"])
def test_the_largest_of_one_long_row(k: int, largest: bool, kind: str) -> None:
    x = np.random.default_rng(k).standard_normal(40_007, np.float32)
    if kind == "many NaN":
        x[::3] = np.nan
    elif kind == "equal":
        x[:] = 2.5
    elif kind == "rising":
        x.sort()
    made = torch.from_numpy(x).topk(k, largest=largest)
    assert made.indices.tolist() == stable(x, largest)[:k]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_medians(dtype: Any) -> None:
    x = np.random.default_rng(2).integers(-900, 900, (41, 50)).astype(dtype)
    tensor = torch.from_numpy(x)
    assert tensor.median().item() == sorted(x.reshape(-1).tolist())[(x.size - 1) // 2]
    for axis in range(2):
        want = np.take(np.argsort(x, axis, kind="stable"), (x.shape[axis] - 1) // 2, axis)
        assert np.array_equal(tensor.median(axis).indices.numpy(), want)
    if dtype != np.int64:
        tensor[3, 4] = torch.nan
        assert tensor.median().isnan()
        assert tensor.median(1).indices[3] == 4


@pytest.mark.parametrize("count", [5, 300])
def test_the_median_of_negative_zeros_is_one(count: int) -> None:
    assert 1 / torch.full((count,), -0.0).median() == -torch.inf


def rows_with_nan(count: int, width: int, seed: int) -> Any:
    numbers = []
    for _ in range(count * width):
        seed = (seed * 1103515245 + 12345) % (1 << 31)
        number = (seed >> 16) % 7
        numbers.append(float("nan") if number == 6 else float(number // 3))
    return torch.tensor(numbers).view(count, width)


@pytest.mark.parametrize(
    ("count", "width", "seed", "wanted"),
    [
        (9, 2, 1, [2, 1, 3, 0, 5, 6, 7, 8, 4]),
        (
            40,
            2,
            2,
            [
                23,
                10,
                1,
                1,
                0,
                1,
                13,
                14,
                15,
                18,
                16,
                17,
                9,
                21,
                3,
                14,
                14,
                2,
                11,
                19,
                5,
                5,
                23,
                23,
                3,
                3,
                22,
                3,
                20,
                6,
                18,
                4,
                3,
                7,
                18,
                0,
                8,
                1,
                12,
                1,
            ],
        ),
    ],
)
def test_unique_rows_with_nan_stand_where_torch_has_them(
    count: int, width: int, seed: int, wanted: list[int]
) -> None:
    rows = rows_with_nan(count, width, seed)
    found, back, counts = torch.unique(rows, dim=0, return_inverse=True, return_counts=True)
    assert back.tolist() == wanted
    assert counts.tolist() == [wanted.count(i) for i in range(len(found))]
    assert torch.equal(found[back].nan_to_num(7.0), rows.nan_to_num(7.0))


def test_an_order_of_what_has_one_is_that_of_sorting() -> None:
    numbers = [(7919 * i) % 3001 for i in range(3000)]
    for count in (0, 1, 2, 16, 17, 40, 3000):
        for some in (numbers[:count], sorted(numbers[:count])[::-1], [3] * count):
            order = library_order(count, lambda a, b: some[a] < some[b])  # noqa: B023
            assert sorted(order) == list(range(count))
            assert [some[i] for i in order] == sorted(some)

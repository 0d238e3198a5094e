"""Native kernels along one dimension, against what they mean, element by element."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.ops import kernels
from rushlight.ops.kernels.code.calls.run import run
from rushlight.ops.kernels.code.language.target import Target, host
from rushlight.ops.kernels.code.loading import elf
from rushlight.ops.kernels.code.rows.scans import scan_text
from rushlight.ops.linear_algebra.distance import cosine_similarity

pytestmark = pytest.mark.skipif(kernels.family("rows.scans") is None, reason="no native code here")

PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")
MANY_ROWS = Target("many rows", True, False, True, "haswell", "")
SHAPES = [(1,), (50,), (3, 7), (20, 33), (33, 3, 40), (2, 5, 600), (4, 1, 3)]


def numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    """Few different numbers, some of them NaN, infinite or zeros of either sign."""
    random = np.random.default_rng(sum(shape))
    made = random.integers(-4, 5, shape).astype(dtype)
    if made.dtype.kind == "f" and made.size > 20:
        made.flat[[3, 11, 9, 5]] = [-0.0, np.inf, -np.inf, np.nan if made.size % 2 else 0.5]
    return made


def running_extreme(x: Any, axis: int, operation: str) -> tuple[Any, Any]:
    rows = np.moveaxis(x, axis, -1)
    values, places = np.empty_like(rows), np.zeros(rows.shape, np.int64)
    for row in np.ndindex(rows.shape[:-1]):
        best, place = rows[row][0], 0
        for i, new in enumerate(rows[row]):
            if (new >= best if operation == "max" else new <= best) or new != new:
                best, place = new, i
            values[row][i], places[row][i] = best, place
    return np.moveaxis(values, -1, axis), np.moveaxis(places, -1, axis)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_scans_go_through_rows_in_order(dtype: Any) -> None:
    scans = kernels.family("rows.scans")
    for shape in SHAPES:
        x = numbers(shape, dtype)
        wide = x.astype(np.float64) if x.dtype.kind == "f" else x
        for axis in range(x.ndim):
            with np.errstate(invalid="ignore"):
                sums = np.add.accumulate(wide, axis).astype(dtype)
                products = np.multiply.accumulate(wide, axis).astype(dtype)
            assert np.array_equal(scans.running(x, axis, "sum"), sums, equal_nan=dtype != np.int64)
            made = scans.running(x, axis, "product")
            assert np.array_equal(made, products, equal_nan=dtype != np.int64)
            for operation in ("max", "min"):
                values, places = scans.running_extreme(x, axis, operation)
                want, where = running_extreme(x, axis, operation)
                assert values.tobytes() == np.ascontiguousarray(want).tobytes()
                assert np.array_equal(places, where)


def test_scans_of_other_dtypes_are_left_to_numpy() -> None:
    scans = kernels.family("rows.scans")
    assert scans.running(np.ones(5, np.int32), 0, "sum") is None
    assert scans.running_extreme(np.ones(5, np.bool_), 0, "max") is None


FOLD: dict[str, Any] = {
    "sum": np.add.reduce,
    "product": np.multiply.reduce,
    "max": np.maximum.reduce,
    "min": np.minimum.reduce,
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("shape", [*SHAPES, (70_000,), (2, 33_000), (1, 9, 16), (2, 9000, 3)])
def test_folds_are_right_over_neighbouring_dimensions(shape: Any, dtype: Any) -> None:
    folds, x = kernels.family("rows.folds"), numbers(shape, dtype)
    for first, last in combinations(range(x.ndim + 1), 2):
        for name, reduce in FOLD.items():
            made = folds.fold(x, first, last, name)
            with np.errstate(all="ignore"):
                want = reduce(x, tuple(range(first, last)))
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, want)  # sums of small whole numbers are exact


@pytest.mark.parametrize("dtype", ["int32", "int16", "int8", "uint8", "bool", "float16"])
@pytest.mark.parametrize("shape", [(9000,), (2_300, 2), (70, 31), (5, 4, 17), (7, 3)])
def test_folds_of_short_numbers_are_right(shape: Any, dtype: str) -> None:
    """Sums of whole numbers in int64, of 16-bit floats in them, or in float32; extremes in each."""
    folds = kernels.family("rows.folds")
    x = np.random.default_rng(4).integers(0, 3, shape).astype(dtype)
    is_half = dtype == "float16"
    if "int" in dtype:  # where both ends of the dtype are among them
        x.flat[2:4] = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    for first, last in combinations(range(x.ndim + 1), 2):
        axes = tuple(range(first, last))
        want = np.add.reduce(x, axes, np.float32 if is_half else np.int64)
        np.testing.assert_array_equal(folds.fold(x, first, last, "sum", wide=True), want)
        top = folds.fold(x, first, last, "max")
        if dtype == "bool":
            assert top is None
            continue
        assert top.dtype == x.dtype
        np.testing.assert_array_equal(top, np.maximum.reduce(x, axes))
        low = folds.fold(x, first, last, "min")
        np.testing.assert_array_equal(low, np.minimum.reduce(x, axes))
        if not is_half:
            continue
        narrow = folds.fold(x, first, last, "sum")
        assert narrow.dtype == x.dtype
        np.testing.assert_array_equal(narrow, want.astype(x.dtype))


def test_what_is_turned_is_folded_as_it_lies() -> None:
    x = torch.randn(30, 40, 50).permute(2, 0, 1)
    for dims in ((0,), (1,), (0, 2), (1, 2)):
        assert torch.equal(x.sum(dims), x.contiguous().sum(dims)) or torch.allclose(
            x.sum(dims).double(), x.double().sum(dims), atol=1e-4
        )
        assert x.sum(dims).is_contiguous()


def test_folds_depend_on_no_threads() -> None:
    from rushlight.ops.kernels import threads

    x = np.random.default_rng(1).standard_normal((3, 100_003), np.float32)
    before, found = threads.get_threads(), set()
    for count in (1, 2, 3):
        threads.set_threads(count)
        folds = [
            torch.from_numpy(x).sum(),
            torch.from_numpy(x).sum(0),
            torch.from_numpy(x).norm(2, 1),
        ]
        found.add(b"".join(each.numpy().tobytes() for each in folds))
    threads.set_threads(before)
    assert len(found) == 1


@pytest.mark.parametrize("size", [2, 3, 7, 16])
@pytest.mark.parametrize("operation", ["sum", "product", "max", "squares"])
def test_short_rows_are_folded_in_the_lanes_of_long_ones(operation: str, size: int) -> None:
    """A row that is filled up with what changes nothing, beyond the size of short ones."""
    folds, random = kernels.family("rows.folds"), np.random.default_rng(3)
    x = random.normal(size=(37, size)).astype(np.float32)
    x[random.random(x.shape) < 0.2] = random.choice([np.nan, np.inf, 0.0, -0.0])
    neutral = {"sum": 0.0, "product": 1.0, "max": -np.inf, "squares": 0.5}[operation]
    filled = np.full((37, 17), np.float32(neutral))
    filled[:, :size] = x
    made, wanted = (folds.fold(each, 1, 2, operation, 0.5) for each in (x, filled))
    assert made.tobytes() == wanted.tobytes()


def test_sums_over_dimensions_apart() -> None:
    x = np.random.default_rng(1).standard_normal((8, 5, 40, 50), np.float32)
    made = torch.from_numpy(x).sum((0, 2, 3), keepdim=True).numpy()
    np.testing.assert_allclose(
        made, x.astype(np.float64).sum((0, 2, 3), keepdims=True), rtol=0, atol=2e-5
    )
    assert torch.full((9000,), 1e20).norm() == torch.inf


@pytest.mark.parametrize("sizes", [(3, 10, 1, 7, 2), (2, 9, 5, 33, 2), (2, 9, 600, 4, 4)])
def test_slices_are_summed_with_weights(sizes: tuple[int, ...]) -> None:
    outer, size, inner, count, taps = sizes
    random = np.random.default_rng(count)
    x = random.standard_normal((outer, size, inner)).astype(np.float32)
    places = random.integers(0, size, (taps, count))
    weights = random.standard_normal((taps, count)).astype(np.float32)
    terms = x[:, places].astype(np.float64) * weights[None, :, :, None]
    made = kernels.family("windows.resamples").resample(x, places, weights)
    np.testing.assert_allclose(made, terms.sum(1), rtol=1e-5, atol=1e-6)
    for wrong in (-1, size):
        places[-1, -1] = wrong
        with pytest.raises(ValueError, match="are not there"):
            kernels.family("windows.resamples").resample(x, places, weights)


COMBINE: dict[str, Any] = {
    "sum": np.add.at,
    "product": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}


def _put(target: Any, key: Any, values: Any) -> None:
    target[key] = values


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
@pytest.mark.parametrize("shape", [(50,), (3, 7), (20, 33), (3, 5, 40), (2, 5, 600), (4, 1, 3)])
@pytest.mark.parametrize("is_whole", [True, False])
def test_places_are_taken_and_combined_in_order(shape: Any, dtype: Any, is_whole: bool) -> None:
    places, x = kernels.family("indexing.places"), numbers(shape, dtype)
    random = np.random.default_rng(x.size)
    for axis in range(x.ndim):
        wide = (*shape[:axis], 21, *shape[axis + 1 :])
        index = random.integers(0, shape[axis], wide if is_whole else 21)
        key: tuple[Any, ...] = (*[slice(None)] * axis, index)
        if is_whole:
            key = tuple(np.indices(wide, sparse=True))
            key = (*key[:axis], index, *key[axis + 1 :])
        assert np.array_equal(places.take(x, axis, index), x[key], equal_nan=dtype == np.float32)
        values = numbers(wide, dtype)
        for name, at in {"put": _put, **COMBINE}.items():
            made, want = x.copy(), x.copy()
            done = places.combine(made, axis, index, values, name)
            if name in ("max", "min") and dtype == np.int8:
                assert done is None
                continue
            with np.errstate(invalid="ignore"):
                at(want, key, values)
            assert done is True
            assert np.array_equal(made, want, equal_nan=dtype == np.float32)


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize("target", [PLAIN, HASWELL, MANY_ROWS])
def test_cpus_with_shorter_vectors_scan_alike(target: Target) -> None:
    """They go through fewer rows at a time, some of which stand for rows that are not there."""
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    text = scan_text(target, "max", "float", "rows")
    scan = placed(assembled(text, target), ("scan",))["scan"]
    for rows, size in ((17, 45), (4, 16), (15, 33), (25, 7)):
        x = numbers((rows, size), np.float32)
        values, places = np.empty_like(x), np.empty(x.shape, np.int64)
        run(scan, rows, rows + 1, size, 1, x, values, places)
        want, where = running_extreme(x, 1, "max")
        assert values.tobytes() == want.tobytes()
        assert np.array_equal(places, where)


@pytest.mark.parametrize("name", [*FOLD, "total"])
def test_folds_write_nothing_where_another_dimension_is_empty(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folds = kernels.family("rows.folds")
    monkeypatch.setattr(folds, "run", None)  # would write a number for each of the first dimension
    made = folds.fold(np.empty((8, 3, 0, 5), np.float32), 1, 2, name)
    assert made.shape == (8, 0, 5)


@pytest.mark.parametrize("shape", [(8, 0), (0, 8), (8, 3, 0, 5), (0,)])
def test_the_way_through_an_empty_array_visits_nothing(shape: Any) -> None:
    arrays = kernels.family("elementwise.arrays")
    x = np.empty(shape)
    assert arrays.way_of(shape, x.strides, ((8, x.strides),)).size == 0
    assert arrays.cast(x, np.dtype(np.float32)).shape == shape


@pytest.mark.parametrize("shape", [(2, 17), (300, 40), (3, 5, 300), (33,), (3, 33_000)])
def test_cosines_of_rows_have_the_bits_of_operators_one_by_one(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = np.random.default_rng(sum(shape))
    a, b = (draw.standard_normal(shape).astype(np.float32) for _ in range(2))
    if len(a) == 300:
        a[1], b[0, 3], a[2, 4], a[3], a[5] = 0, np.nan, np.inf, 1e-30, 3e30
    made = cosine_similarity(a, b, -1, 1e-8)
    monkeypatch.setattr(kernels.family("rows.expressions"), "cosines", lambda *given: None)
    other = cosine_similarity(a, b, -1, 1e-8)
    assert made.shape == other.shape == shape[:-1]
    assert made.tobytes() == other.tobytes()


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize("target", [PLAIN, HASWELL])
@pytest.mark.parametrize("columns", [17, 100, 515])
def test_folds_of_rows_by_other_cpus(target: Target, columns: int) -> None:
    module = kernels.family("rows.expressions")
    step = module.RowStep
    program = module.RowProgram(
        ("fx", "fw", "D"),
        (
            *(step("fold", "max", "f", (0,)), step("rows", "subtract", "f", (0, 3))),
            *(step("rows", "multiply", "f", (4, 1)), step("fold", "sum", "f", (5,))),
            *(step("row", "add", "f", (6, 2)), step("rows", "divide", "f", (5, 7))),
        ),
        ((5, "f"), (3, "f")),
    )
    x, w = numbers((33, columns), np.float32), numbers((columns,), np.float32)
    from rushlight.ops.kernels.code.loading.assemble import assembled, placed

    made = []
    for each in (host(), target):
        name, text = "row_expression", module.row_text(each, program)
        address = placed(assembled(text, each), (name,))[name]
        made.append([np.empty_like(x), np.empty(33, np.float32)])
        run(address, 33, 40, columns, x, w, 0.5, *made[-1])
    for one, other in zip(*made, strict=True):
        assert np.array_equal(one, other, equal_nan=True)

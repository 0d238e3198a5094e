"""Native kernels along one dimension, against what they mean, element by element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rushlight.ops import kernels
from rushlight.ops.kernels.code import elf
from rushlight.ops.kernels.code.run import run
from rushlight.ops.kernels.code.scans import scan_text
from rushlight.ops.kernels.code.target import Target, host

pytestmark = pytest.mark.skipif(kernels.family("scans") is None, reason="no native code here")

PLAIN = Target("plain", False, False, False, "x86-64", "+sse2")
HASWELL = Target("haswell", True, False, False, "haswell", "")
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
    scans = kernels.family("scans")
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
    scans = kernels.family("scans")
    assert scans.running(np.ones(5, np.int32), 0, "sum") is None
    assert scans.running_extreme(np.ones(5, np.bool_), 0, "max") is None


@pytest.mark.skipif(not elf.is_known() or not host().has_fma, reason="code for x86-64")
@pytest.mark.parametrize("target", [PLAIN, HASWELL])
def test_cpus_with_shorter_vectors_scan_alike(target: Target) -> None:
    from rushlight.ops.kernels.code.assemble import assembled, placed

    x = numbers((17, 45), np.float32)
    text = scan_text(target, "max", "float", "rows")
    scan = placed(assembled(text, target), ("scan",))["scan"]
    values, places = np.empty_like(x), np.empty(x.shape, np.int64)
    run(scan, 17, 18, 45, 1, x, values, places)
    want, where = running_extreme(x, 1, "max")
    assert values.tobytes() == want.tobytes()
    assert np.array_equal(places, where)

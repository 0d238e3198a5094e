"""Result dtypes against torch's."""

from __future__ import annotations

import numpy as np
import pytest
from recorded import TORCH, load

from rushlight.ops.memory.dtype import DTYPES
from rushlight.ops.table.promotion import result_dtype

TABLE = load("promotion.json")
NUMBERS = {"bool": True, "int64": 1, "float32": 1.5, "complex64": 1j}


def operand(text: str) -> object:
    kind, dtype = text.split()
    if kind == "n":
        return NUMBERS[dtype]
    return np.ones(2 if kind == "t" else (), DTYPES[dtype].numpy)


@pytest.mark.parametrize(("row", "left"), list(enumerate(TABLE["operands"])))
def test_result_dtypes_are_torchs(row: int, left: str) -> None:
    found = ""
    for right in TABLE["operands"]:
        dtype = result_dtype([operand(left), operand(right)])  # type: ignore[list-item]
        found += "abcdefghijklm"[TABLE["dtypes"].index(dtype.name)]
    assert found == TABLE["rows"][row]


def test_the_default_dtype_is_what_python_floats_become() -> None:
    assert (TORCH.ones(2, dtype=TORCH.int64) / 2).dtype is TORCH.float32
    TORCH.set_default_dtype(TORCH.float64)
    try:
        assert (TORCH.ones(2, dtype=TORCH.int64) * 0.5).dtype is TORCH.float64
        assert TORCH.tensor(1.5).dtype is TORCH.float64
    finally:
        TORCH.set_default_dtype(TORCH.float32)


def test_numbers_wrap_into_narrow_dtypes() -> None:
    small = TORCH.ones(2, dtype=TORCH.int8) + 300
    assert small.dtype is TORCH.int8
    assert small.tolist() == [45, 45]


def test_half_is_computed_in_float32() -> None:
    big = TORCH.full((2,), 300.0, dtype=TORCH.float16)
    assert (big * 70000 / 70000).tolist() == [float("inf")] * 2
    assert (big / 70000).tolist() == [pytest.approx(300 / 70000, rel=1e-3)] * 2

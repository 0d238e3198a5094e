"""Sums and products in a dtype that is asked for have it, and wrap around in it."""

from __future__ import annotations

import pytest

import rushlight as torch

X = torch.tensor([[200, 7], [3, 4]])


@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "int32", "float32"])
def test_results_have_the_dtype(name: str) -> None:
    dtype = getattr(torch, name)
    for function, all_of, rows in (
        (torch.sum, 214, [207, 7]),
        (torch.prod, 16800, [1400, 12]),
    ):
        whole, lines = function(X, dtype=dtype), function(X, 1, dtype=dtype)
        assert whole.dtype is lines.dtype is dtype
        small = X.to(dtype).to(torch.int64)
        wide = function(small).to(dtype), function(small, 1).to(dtype)
        assert torch.equal(whole, wide[0])
        assert torch.equal(lines, wide[1])
        if name in ("int16", "int32", "float32"):
            assert whole.item() == all_of
            assert lines.tolist() == rows

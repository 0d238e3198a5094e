"""`torch._trilinear`, of which dimensions are new in all three operands."""

from __future__ import annotations

import pytest

import rushlight as torch

X = torch.arange(1.0, 5.0).reshape(2, 2)


@pytest.mark.parametrize(
    ("summed", "unrolled", "sizes", "total"),
    [
        ([2], 0, [2, 0], 0.0),
        ([], 1, [2, 0, 2], 0.0),
        ([1], 0, [2, 2], 100.0),
        ([1], 1, [2, 2], 0.0),
        ([0, 1, 2], 0, [], 100.0),
        ([0, 1, 2], 1, [], 0.0),
    ],
)
def test_a_dimension_that_is_new_in_all_has_no_elements_where_it_stays_or_is_unrolled(
    summed: list[int], unrolled: int, sizes: list[int], total: float
) -> None:
    made = torch._trilinear(X, X, X, [1], [1], [1], summed, unrolled)
    assert list(made.shape) == sizes
    assert made.sum().item() == total

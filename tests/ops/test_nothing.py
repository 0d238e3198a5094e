"""Tensors without elements and without dimensions, as torch 2.13 treats them."""

from __future__ import annotations

import pytest

import rushlight as torch

NOTHING = torch.empty(0, 1, dtype=torch.int64)
ZEROS = torch.zeros(2, dtype=torch.int64)


def test_no_elements_are_divided_by_zero() -> None:
    for divide in (torch.floor_divide, torch.remainder, torch.fmod):
        assert divide(NOTHING, ZEROS).shape == (0, 2)
        assert divide(NOTHING, 0).shape == (0, 1)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(torch.ones(1, dtype=torch.int64), ZEROS)
    assert torch.div(NOTHING, ZEROS, rounding_mode="trunc").shape == (0, 2)


@pytest.mark.parametrize("unique", [torch.unique, torch.unique_consecutive])
def test_slices_of_nothing_that_are_unique(unique: object) -> None:
    assert callable(unique)
    assert unique(torch.empty(3, 0), dim=1).shape == (3, 0)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        unique(torch.tensor(1.0), dim=0)
    with pytest.raises(RuntimeError, match="0 sized dimensions, and they aren't selected"):
        unique(torch.empty(0, 3), dim=1)
    with pytest.raises(RuntimeError, match="Number of zero sized dimensions is more than one"):
        unique(torch.empty(0, 0), dim=1)


def test_no_losses_have_a_mean_that_is_nan() -> None:
    functional = torch.nn.functional
    for loss in (functional.mse_loss, functional.l1_loss, functional.huber_loss):
        for dtype in (torch.float32, torch.float64, torch.bfloat16):
            x = torch.zeros(0, dtype=dtype)
            assert loss(x, x).isnan()
            assert loss(x, x, reduction="sum") == 0

"""Maxima of windows at random places: what samples they take, as in torch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.nn import functional

PLANES = torch.arange(72.0).reshape(1, 2, 6, 6)


def pooled(shape: tuple[int, ...], size: Any = 3, kernel: int = 2) -> Any:
    samples = torch.full(shape, 0.3)
    return functional.fractional_max_pool2d(PLANES, kernel, size, _random_samples=samples)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 2), "Expect _random_samples to have 3 dimensions, got 2"),
        ((), "Expect _random_samples to have 3 dimensions, got 0"),
        ((0, 2, 2), "Expect _random_samples.size.0. no less then input batch size."),
        ((1, 1, 2), "Expect _random_samples.size.1. equals to input channel size."),
        ((1, 2, 3), "Expect _random_samples.size.2. equals to 2; got 3."),
    ],
)
def test_samples_are_numbers_of_each_plane(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        pooled(shape)


def test_there_may_be_samples_for_more() -> None:
    assert pooled((5, 2, 2)).equal(pooled((1, 2, 2)))


def test_sizes() -> None:
    with pytest.raises(RuntimeError, match=r"negative dimension -1: \[1, 2, -1, -1\]"):
        pooled((1, 2, 2), -1)
    with pytest.raises(RuntimeError, match="output_size must either be a single Int or tuple"):
        pooled((1, 2, 2), (3, 3, 3))
    solid, samples = torch.ones(1, 6, 6, 6), torch.full((1, 1, 3), 0.3)
    with pytest.raises(RuntimeError, match=r"_out.*: pool time 2 too large relative to input time"):
        functional.fractional_max_pool3d(solid, 2, 5, _random_samples=samples)


def test_windows_without_elements() -> None:
    values, places = torch.ops.aten.fractional_max_pool2d(
        PLANES, [0, 0], [3, 3], torch.full((1, 2, 2), 0.7)
    )
    assert values.eq(-torch.inf).all()
    assert places[0, 0].tolist() == [[0, 3, 6], [18, 21, 24], [36, 39, 42]]

"""Masks of uint8 choose elements with a warning, and take no single number, as in torch 2.13."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch
from rushlight.ops.memory import warned

ROWS = torch.tensor([1, 0], dtype=torch.uint8)
PLANE = torch.tensor([[1, 0], [0, 1]], dtype=torch.uint8)
OLD = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."


def seen(call: Callable[[], object]) -> list[tuple[str, str]]:
    """The warnings of a call, with the files they point at."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [(str(each.message), each.filename) for each in caught]


def test_reading_warns_where_the_user_is() -> None:
    x = torch.arange(4).reshape(2, 2)
    assert seen(lambda: x[ROWS]) == [(OLD, __file__)]
    assert seen(lambda: x[:, ROWS]) == [(OLD, __file__)]
    assert x[torch.tensor(1, dtype=torch.uint8)].shape == (1, 2, 2)


@pytest.mark.parametrize("key", [ROWS, PLANE, (slice(None), ROWS), (..., ROWS), (ROWS, 0)])
@pytest.mark.parametrize("value", [1.0, torch.tensor([2])])
def test_one_number_is_not_set(key: Any, value: Any) -> None:
    x = torch.zeros(2, 2)
    with pytest.raises(RuntimeError, match="but got mask with dtype unsigned char"):
        x[key] = value
    assert not x.any()


def test_a_wrong_shape_comes_first() -> None:
    with pytest.raises(IndexError, match=r"The shape of the mask \[2\] at index 0"):
        torch.zeros(3)[ROWS] = 1.0


def test_a_plane_of_bytes_stands_for_two_dimensions() -> None:
    x = torch.zeros(2, 2, 3)
    assert seen(lambda: x.__setitem__((PLANE, torch.tensor([0, 2])), torch.ones(2)))
    assert x[0, 0, 0] == x[1, 1, 2] == 1
    assert x.sum() == 2


def test_values_have_gradients() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x.index_put((torch.tensor([1, 1], dtype=torch.uint8),), y).sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert y.grad.tolist() == [1, 1]


def test_a_condition_of_bytes_warns_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warned, "GIVEN", set())
    ((told, file),) = seen(lambda: [torch.where(ROWS, 1.0, 2.0), torch.where(ROWS, 1.0, 2.0)])
    assert told.startswith("where received a uint8 condition tensor.")
    assert file == __file__

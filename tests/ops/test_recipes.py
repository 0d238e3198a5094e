"""What is remembered of eager calls: the same types take the same way, others do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.ops.eager.recipes import key_of
from rushlight.ops.kernels import LARGE
from rushlight.ops.table import noticing


def test_equal_types_with_other_values() -> None:
    x = torch.arange(6.0).view(2, 3)
    for low, high in ((0, 1), (2, 3), (1, 1)):
        assert torch.clamp(x, low, high).tolist() == np.clip(x.numpy(), low, high).tolist()
    for sizes in ((2, 3), (0, 4), (5, 1)):
        assert torch.zeros(*sizes).shape == torch.zeros(sizes).shape == sizes
    for dim in (0, 1, -1):
        assert torch.cat([x, x], dim=dim).tolist() == np.concatenate([x, x], dim).tolist()


def test_names_and_order_of_arguments() -> None:
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    for _ in range(2):
        assert torch.add(x, y, alpha=2).tolist() == [21.0, 42.0]
        assert torch.add(input=x, other=y).tolist() == [11.0, 22.0]
        assert torch.add(other=y, input=x, alpha=3).tolist() == [31.0, 62.0]
        assert torch.sub(other=x, input=y).tolist() == [9.0, 18.0]
        assert x.clamp(max=1.5).tolist() == [1.0, 1.5]
        assert x.clamp(min=1.5).tolist() == [1.5, 2.0]


def test_a_value_that_does_not_fit_is_refused_after_one_that_did() -> None:
    x = torch.ones(2, 2)
    for _ in range(2):
        assert torch.add(x, torch.tensor(1), alpha=2).tolist() == [[3.0, 3.0], [3.0, 3.0]]
        with pytest.raises(RuntimeError):
            torch.add(x, torch.ones(3), alpha=2)
        with pytest.raises(TypeError):
            torch.add(x, "1", alpha=2)
        with pytest.raises(IndexError):
            x.sum(5)
        assert x.sum(1).tolist() == [2.0, 2.0]


def test_defaults_are_not_shared() -> None:
    first = torch.stack([torch.zeros(2), torch.ones(2)])
    second = torch.stack([torch.ones(3), torch.ones(3)], 1)
    assert (first.shape, second.shape) == ((2, 2), (3, 2))
    assert torch.zeros(2, dtype=torch.int64).dtype is torch.int64
    assert torch.zeros(2, dtype=torch.bool).dtype is torch.bool
    assert torch.zeros(2).dtype is torch.float32


def test_gradients_are_followed() -> None:
    x = torch.ones(2, 2)
    assert not torch.clamp(x, 0, 1).requires_grad
    x.requires_grad_(True)
    assert torch.clamp(x, 0, 1).requires_grad
    assert torch.cat([x, x]).requires_grad


def test_tensors_in_the_place_of_numbers_are_converted_each_time() -> None:
    count = torch.tensor(5)
    for _ in range(3):
        made = torch.arange(count)
        assert made.dtype is torch.int64
        assert made.tolist() == [0, 1, 2, 3, 4]


def test_what_decides_the_overload() -> None:
    """Types alone, and how many elements lists have of which one type."""
    x = torch.ones(2)
    for args in ((x, 1), (x, [1, 2]), (x, (1.5,)), ([x, x], 0), (x, []), (x, torch.Size((2, 3)))):
        assert key_of(args, {}) == key_of(args, {}) is not None
    assert key_of((x, [1, 2]), {}) != key_of((x, [1, 2, 3]), {})
    assert key_of((x, [1, 2]), {}) != key_of((x, (1, 2)), {})
    assert key_of((x, (2, 3)), {}) == key_of((x, torch.Size((2, 3))), {})
    assert key_of((x,), {"dim": 1}) != key_of((x, 1), {})
    for args in ((x, [1, 2.5]), (x, ["a"]), (x, {1: 2}), (x, [[1]])):
        assert key_of(args, {}) is None


def test_operands_are_made_one_piece_where_that_is_cheap() -> None:
    whole, turned = np.ones((3, 4)), np.ones((3, 4)).T
    large = np.broadcast_to(np.float32(1), (LARGE,))
    given = [whole, turned, (turned, 2), [large], "a"]
    made, copies = noticing._in_one_piece(given)
    assert (made[0] is whole, made[3][0] is large, made[4]) == (True, True, "a")
    assert made[1].flags.c_contiguous
    assert made[2][0].flags.c_contiguous
    assert [(old is turned, new.shape) for old, new in copies] == [(True, (4, 3))] * 2


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: F.avg_pool1d(x, (n,)),
        lambda x, n: F.pad(x, (n, n), mode="replicate"),
        lambda x, n: F.interpolate(x, size=[n]),
        lambda x, n: x.movedim((n - n,), (n - n,)),
        lambda x, n: x.unsqueeze(0).squeeze((n - n,)),
    ],
)
def test_sizes_that_are_tensors_in_a_list(call: Any) -> None:
    """They are numbers, also once such a call has come often, and others may come between."""
    x = torch.arange(16.0).reshape(1, 2, 8)
    wanted = {n: call(x, n) for n in (2, 3)}
    for _ in range(60):
        for n, expected in wanted.items():
            assert torch.equal(call(x, torch.tensor(n)), expected)
    assert torch.equal(F.pad(x, (torch.tensor([2]), 1)), F.pad(x, (2, 1)))

"""`Tensor.data`: the same memory, whose writes gradients do not notice."""

from __future__ import annotations

import pytest

import rushlight as torch


def test_gradients_do_not_notice() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.data[1] = 7
    y.data[:1].add_(1)
    z.sum().backward()
    assert y._version == 0
    assert x.grad.tolist() == [12.0, 28.0, 8.0]


def test_what_detach_gives_is_noticed() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = y * y
    y.detach()[1] = 7
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        z.sum().backward()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_both_count_for_themselves_and_their_views(dtype: str) -> None:
    x = torch.ones(4, dtype=getattr(torch, dtype))
    data = x.data
    data[::2].add_(1)
    x[:1].mul_(3)
    x.zero_()
    assert (x._version, data._version) == (2, 1)
    assert data.tolist() == [0.0] * 4
    assert data.is_set_to(x)


@pytest.mark.parametrize("sizes", [(1, 3), (0, 3)])
def test_strides_stay(sizes: tuple[int, int]) -> None:
    assert torch.empty_strided(sizes, (7, 1)).data.stride() == (7, 1)


def test_a_tensor_given_other_data_goes_on_counting() -> None:
    x, y = torch.ones(2), torch.zeros(2)
    x += 1
    for _ in range(3):
        y += 1
    x.data = y
    assert x._version == 1
    x += 1
    x[0].add_(1)
    assert x._version == 3
    assert y._version == 3
    assert y.tolist() == [5.0, 4.0]

"""What eager calls give back once they are written out, and what plain keys name."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import rushlight as torch

CALLS = 20  # after a few, calls of arguments of the same types are written out


@pytest.mark.parametrize("requires_grad", [False, True])
def test_views_know_their_base_however_often_they_are_asked_for(requires_grad: bool) -> None:
    x = torch.arange(12.0).reshape(3, 4).clone().requires_grad_(requires_grad)
    for _ in range(CALLS):
        with torch.no_grad():
            views = [*x.chunk(2, -1), *x.split(2), *x.unbind(0), x.view(4, 3), x[1:, 2], x.t()]
        assert all(each._base is x for each in views)
        assert all(each.requires_grad == requires_grad for each in views)
        assert x.contiguous() is x
        assert x.float() is x
        assert x.to(torch.float32) is x
        assert (x.dim(), x.size(-1), x.numel(), x.is_contiguous()) == (2, 4, 12, True)
    assert isinstance(x.chunk(2), tuple)
    parts = x.chunk(2)
    assert all(each.requires_grad == requires_grad for each in parts)


def test_casts_of_views_warn_of_nothing() -> None:
    x = torch.tensor([float("nan"), 1e30, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(CALLS):
            assert x.int()[2] == 2
            assert x.to(torch.int32)[2] == 2
            assert x.to(torch.float8_e4m3fn).float()[2] == 2


KEYS: list[Any] = [
    *(0, -1, (1, 2), (1, 2, 3), slice(1, None), (slice(None, None, 2), 1), None, ...),
    *((..., 1), (1, ..., 1), (None, 0, None), (..., slice(0, 0)), (slice(9, 2), slice(-2, None))),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_plain_keys_name_views(key: Any) -> None:
    array = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    x = torch.from_numpy(array.copy())
    part, want = x[key], array[key]
    assert part.shape == want.shape
    assert np.array_equal(part.numpy(), want)
    assert part._base is x
    x[key] = 7.0
    array[key] = 7.0
    assert np.array_equal(x.numpy(), array)
    assert np.array_equal(part.numpy(), array[key])


def test_keys_that_numpy_takes_otherwise() -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    whole = x[()]
    whole.unsqueeze_(0)
    assert (whole.shape, x.shape) == ((1, 2, 3, 4), (2, 3, 4))
    assert x[..., ..., 0].shape == (2, 3)
    assert x[True].shape == (1, 2, 3, 4)
    assert x[torch.tensor(1), torch.tensor(0) :].shape == (3, 4)
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(IndexError, match="index 2 is out of bounds for dimension 0 with size 2"):
        x[2]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 3"):
        x[0, 0, 0, 0]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        x[0, 0, 0][0]


def test_sizes_one_by_one_are_taken_as_in_the_first_call() -> None:
    for _ in range(CALLS):
        assert torch.zeros(2, 3).dtype == torch.float32
        assert torch.zeros(2, 3, dtype=torch.int64).tolist() == [[0, 0, 0], [0, 0, 0]]
        assert torch.ones(2, requires_grad=True).requires_grad
        assert torch.empty(2, 0, 3, device="cpu").shape == (2, 0, 3)
        assert torch.ones(1, 3).expand(2, 3).stride() == (0, 1)
        with torch.device("meta"):
            assert torch.zeros(2, 3).device.type == "meta"
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(2, 3).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.zeros(2, -3)
    torch.manual_seed(1)
    first = [torch.randn(2, 3) for _ in range(CALLS)]
    torch.manual_seed(1)
    again = [torch.randn([2, 3]) for _ in range(CALLS)]
    assert all(map(torch.equal, first, again))


def test_functions_in_classes_are_no_methods() -> None:
    """As those of torch, which are written in C: `act = torch.relu` is called with the input.

    Methods are bound to tensors alone.
    """

    class Holder:
        act = torch.relu
        view = torch.Tensor.view

    x = torch.tensor([-1.0, 2.0])
    assert Holder().act(x).tolist() == [0.0, 2.0]
    assert Holder.view(x, 2, 1).tolist() == [[-1.0], [2.0]]
    assert x.view(2, 1).shape == (2, 1)
    assert torch.Tensor.view(x, 2, 1).shape == (2, 1)


def test_nothing_is_made_where_a_tensor_is_there_already() -> None:
    x = torch.ones(3)
    for place in ("cpu", torch.device("cpu"), x.device):
        assert x.to(place) is x
    assert x.to("cpu", copy=True) is not x
    for device in (
        torch.device("cpu"),
        torch.device("cpu", None),
        torch.device(torch.device("cpu")),
    ):
        assert (device.type, device.index) == ("cpu", None)
    assert torch.device("cpu", 0) != torch.device("cpu")
    nowhere = torch.ones(3, device="meta")
    for place in ("cpu", torch.device("cpu")):
        with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor"):
            nowhere.to(place)


def test_places_that_are_not_zero_lie_one_behind_the_other() -> None:
    for x in (torch.tensor([[0.0, 1.0], [2.0, 3.0]]), torch.eye(3)[None], torch.zeros(2, 3)):
        for _ in range(70):
            parts = x.nonzero(as_tuple=True)
        assert type(parts) is tuple
        assert [each.tolist() for each in parts] == torch.nonzero(x).t().tolist()
        assert [each.stride() for each in parts] == [(1,)] * x.dim()
        assert [each.tolist() for each in torch.where(x)] == [each.tolist() for each in parts]
    for _ in range(70):
        assert torch.where(torch.tensor(2.0))[0].tolist() == [0]


def test_equal_looks_at_every_element() -> None:
    for size in (0, 1, 5, 16, 300, 5000):
        x = torch.arange(float(size))
        assert torch.equal(x, x.clone())
        if size:
            y = x.clone()
            y[-1] = float("nan")
            assert not torch.equal(x, y)
            assert not torch.equal(y, y)
            assert torch.equal(x * 0, -x * 0)
    assert torch.equal(torch.tensor(1), torch.tensor(1.0))

"""Indices into tensors without elements, and which of two shapes that do not fit is told first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

FAR = torch.tensor([0, 5])


def test_torch_does_not_look_at_indices_of_no_elements() -> None:
    x = torch.zeros(1, 0)
    assert x[FAR].shape == (2, 0)
    x[FAR] = 2.0
    x.index_put_([FAR], torch.tensor(1.0), accumulate=True)
    with pytest.raises(RuntimeError, match="shape mismatch: value tensor of shape"):
        x[FAR] = torch.ones(2)
    for key in (FAR, (FAR, FAR)):
        with pytest.raises(IndexError, match="index is out of bounds for dimension with size 0"):
            torch.zeros(0, 1)[key]
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        torch.zeros(3, 2)[FAR] = 1.0


def test_indices_are_counted_as_given() -> None:
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 2"):
        torch.zeros(3, 2)[:, FAR]
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 1 with size 2"):
        torch.zeros(3, 2)[torch.tensor([0, 9]), torch.tensor([3, 9])] = 1.0


def test_rows_of_nothing() -> None:
    with pytest.raises(RuntimeError, match="self indexing axis dim should be positive"):
        torch.zeros(0, 1).index_select(0, FAR)
    with pytest.raises(
        RuntimeError, match="INDICES element is out of DATA bounds, id=5 axis_dim=1"
    ):
        torch.zeros(0, 1).index_select(1, FAR)
    with pytest.raises(RuntimeError, match="out of DATA bounds, id=5 axis_dim=2"):
        torch.zeros(3, 2).index_select(1, FAR)
    with pytest.raises(IndexError, match="index out of range in self"):
        torch.zeros(3, 2).index_select(0, FAR)
    with pytest.raises(IndexError, match="tried to take from an empty tensor"):
        torch.zeros(0).take(FAR)
    for dim in (-2, 1):
        with pytest.raises(RuntimeError, match="out of DATA bounds, id=5 axis_dim=3"):
            torch.zeros(2, 3, 4).index_select(dim, FAR)
    for sizes, dim in (((3, 2), -2), ((2, 3, 4), -3), ((2, 3, 4), 2), ((2, 3, 4), -1)):
        with pytest.raises(IndexError, match="index out of range in self"):
            torch.zeros(sizes).index_select(dim, FAR)


@pytest.mark.parametrize(
    ("call", "a", "b"),
    [
        (lambda x, y: x.masked_fill(y > 0, 1), 4, 3),
        (lambda x, y: x.masked_fill(y > 0, torch.tensor(1)), 4, 3),
        (lambda x, y: x.masked_fill_(y > 0, 1), 3, 4),
        (lambda x, y: x.masked_select(y > 0), 4, 3),
        (lambda x, y: x.masked_scatter(y > 0, torch.zeros(9)), 4, 3),
        (lambda x, y: torch.where(x > 0, y, 1.0), 3, 4),
        (lambda x, y: torch.where(x > 0, x, y), 3, 4),
        (lambda x, y: x.lerp(y, 0.5), 3, 4),
        (lambda x, y: x.lerp(y, x), 3, 4),
    ],
)
def test_the_order_of_shapes(call: Callable[[Any, Any], Any], a: int, b: int) -> None:
    told = rf"size of tensor a \({a}\) must match the size of tensor b \({b}\)"
    with pytest.raises(RuntimeError, match=told):
        call(torch.zeros(3), torch.zeros(4))


def masked(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return x[mask]


def test_masks_of_more_dimensions() -> None:
    with pytest.raises(RuntimeError, match=r"too many indices for tensor of dimension 0 \(got 1\)"):
        torch.jit.script(masked)(torch.tensor(1.0), torch.ones(2, 3) > 0)


def test_sources_of_other_dtypes() -> None:
    x, source = torch.zeros(3), torch.zeros(2, dtype=torch.uint8)
    told = r"_\(\): self \(Float\) and source \(Byte\) must have the same scalar type"
    with pytest.raises(RuntimeError, match=f"index_add{told}"):
        x.index_add(0, torch.tensor([0, 0]), source)
    with pytest.raises(RuntimeError, match=f"index_reduce{told}"):
        x.index_reduce(0, torch.tensor([0, 0]), source, "prod")
    with pytest.raises(
        RuntimeError, match=r"index_copy_\(\): self and source expected to have the"
    ):
        x.index_copy(0, torch.tensor([0, 0]), source)


def test_dimensions_of_numbers() -> None:
    one, two = torch.tensor(1.0), torch.tensor([0, 0])
    for dim in (0, 1, -1):
        with pytest.raises(IndexError, match=f"Dimension specified as {dim} but tensor has no dim"):
            one.size(dim)
    with pytest.raises(IndexError, match="Dimension specified as 0 but tensor has no dimensions"):
        torch.zeros(3).index_add(0, two, one)
    with pytest.raises(
        IndexError, match=r"source is scalar, index should have one element \(got 2\)"
    ):
        torch.zeros(3).index_copy(0, two, one)


def test_rolled_tensors_are_contiguous() -> None:
    x = torch.arange(6.0).view(3, 2).t()
    for rolled in (x.roll(1), x.roll(1, 0), x.roll((1, 1), (0, 1))):
        assert rolled.stride() == (3, 1)


FIRST, LAST = torch.tensor([0]), torch.tensor([0, 5])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: torch.zeros(0, 3).index_fill_(0, FIRST, 1.0), r"setStorage: sizes \[1, 3\], str"),
        (lambda: torch.zeros(0, 3).index_copy_(0, LAST, torch.ones(2, 3)), "sizes .2, 3., strides"),
        (lambda: torch.ones(4, 3)[:0].index_fill_(0, LAST, 1), "^index 0 is out of bounds for dim"),
        (lambda: torch.ones(3, 3).index_fill_(0, LAST, 1), "^index 5 is out of bounds for dimensi"),
        (lambda: torch.ones(3).index_add_(0, LAST, torch.ones(2)), "^index out of range in self"),
        (lambda: torch.ones(3, 2).index_add_(0, LAST, torch.ones(2, 2)), "^index 5 is out of bou"),
        (lambda: torch.ones(3, 2).index_add_(0, LAST, torch.ones(2, 2), alpha=2), "^index out of"),
        (
            lambda: torch.ones(0, 2).index_reduce_(0, FIRST, torch.ones(1, 2), "prod"),
            r"^select\(\): ",
        ),
        (lambda: torch.ones(2, 2).index_reduce_(0, LAST, torch.ones(2, 2), "prod"), "^index out o"),
        (lambda: torch.zeros(0).put_(FIRST, torch.ones(1)), "put elements into an empty tensor"),
        (lambda: torch.zeros(3).take(LAST), "tried to access index 5 on a tensor of 3 elements"),
        (lambda: torch.tensor(1.0).index_select(0, LAST), "can have only 1 value, got 2 value"),
    ],
)
def test_what_is_told_of_slices_that_are_none(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(RuntimeError, match=told):
        call()


def test_no_slices_are_written_to_nothing() -> None:
    for x in (torch.zeros(0, 3), torch.zeros(2, 0), torch.ones(2, 3)[:, :0]):
        assert x.index_add_(0, LAST, torch.ones(2, x.shape[1])).shape == x.shape
    assert torch.zeros(2, 0).index_fill_(0, LAST, 1.0).shape == (2, 0)
    assert torch.zeros(2, 0).index_copy_(0, LAST, torch.ones(2, 0)).shape == (2, 0)


SHARED = "some elements of the input tensor and the written-to tensor refer to a single memory"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda x: x.index_put_([FIRST], x.reshape(-1)), SHARED),  # before its shape
        (lambda x: x.__setitem__(FIRST, x), SHARED),
        (lambda x: x.index_copy_(0, FIRST, x.reshape(-1)), SHARED),
        (lambda x: x.index_add_(0, FIRST, x), "Number of indices"),
        (lambda x: x.index_add_(0, torch.tensor([0, 1]), x.view(2, 3)), SHARED),
        (lambda x: x.scatter_(0, torch.zeros(2, 3, dtype=torch.int64), x), SHARED),
        (
            lambda x: x.scatter_add_(0, torch.zeros(2, 3, dtype=torch.int64), x.reshape(3, 2)),
            "no l",
        ),
        (lambda x: x.put_(FIRST, x), "same number of elements"),
        (lambda x: x.put_(FIRST, x[0, :1]), SHARED),
    ],
)
def test_which_of_shapes_and_shared_memory_is_told(
    call: Callable[[torch.Tensor], Any], told: str
) -> None:
    with pytest.raises(RuntimeError, match=told):
        call(torch.zeros(2, 3))


def test_a_part_is_written_to_the_whole() -> None:
    x = torch.arange(6.0).view(2, 3)
    x[:] = x[1:]
    assert x.tolist() == [[3.0, 4.0, 5.0]] * 2
    y = torch.zeros(1, 3).expand(2, 3)
    y[:] = y
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        y[:] = torch.zeros(2, 3)

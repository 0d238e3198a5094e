"""The bytes of a tensor as numbers of another type, and views of what is complex or empty."""

from __future__ import annotations

import copy

import pytest

import rushlight as torch

BYTES = torch.arange(256, dtype=torch.uint8).view(4, 64)


def test_the_last_dimension_grows_and_shrinks_with_the_bytes_of_an_element() -> None:
    wide = BYTES.view(torch.int32)
    assert wide.shape == (4, 16)
    assert wide.stride() == (16, 1)
    assert wide[0, 0].item() == 0x03020100
    assert torch.equal(wide.view(torch.uint8), BYTES)
    assert BYTES.expand(2, 4, 64).view(torch.int16).stride() == (0, 32, 1)


@pytest.mark.parametrize(
    ("tensor", "dtype", "message"),
    [
        (BYTES[:, ::2], torch.int16, "self.stride(-1) must be 1 to view Byte as Short"),
        (BYTES[:, :63], torch.int16, "self.size(-1) must be divisible by 2 to view Byte as Short"),
        (BYTES[:, 1:63], torch.int16, "self.storage_offset() must be divisible by 2 to view"),
        (torch.zeros(3, 3, dtype=torch.uint8)[:, :2], torch.int16, "self.stride(0) must be div"),
        (BYTES[0, 0], torch.float32, "self.dim() cannot be 0 to view Byte as Float (different el"),
        (torch.zeros(4, 6).T, torch.int8, "self.stride(-1) must be 1 to view Float as Char"),
    ],
)
def test_what_cannot_be_read_so_says_which_part_is_in_the_way(
    tensor: torch.Tensor, dtype: torch.dtype, message: str
) -> None:
    with pytest.raises(RuntimeError) as raised:
        tensor.view(dtype)
    assert str(raised.value).startswith(message)


def test_gradients_do_not_follow_bytes() -> None:
    seen = torch.zeros(4, requires_grad=True).view(torch.complex64)
    assert not seen.requires_grad
    assert seen._base is None


def test_the_conjugate_transpose_of_real_numbers_is_a_view() -> None:
    square = torch.ones(2, 2)
    for turned in (square.T, square.H, square.mT, square.mH):
        assert turned._base is square


def test_no_pairs_are_seen_as_no_complex_numbers() -> None:
    nothing = torch.zeros(0, 2)
    assert torch.view_as_complex(nothing)._base is nothing


@pytest.mark.parametrize(("value", "count"), [(2.0, 1), (0.0, 0)])
def test_a_number_by_coordinates_has_one_element_or_none(value: float, count: int) -> None:
    sparse = torch.tensor(value).to_sparse()
    assert sparse._nnz() == count
    assert sparse.indices().shape == (0, count)
    assert sparse.to_dense().item() == value


def test_a_copied_operator_is_the_operator() -> None:
    for operator in (torch.ops.aten.slice.Tensor, torch.ops.aten.slice):
        assert copy.deepcopy([operator])[0] is operator


def test_a_mask_of_numbers_selects_nothing() -> None:
    with pytest.raises(RuntimeError) as raised:
        torch.zeros(3).masked_select(torch.ones(3, dtype=torch.uint8))
    assert str(raised.value) == "masked_select: expected BoolTensor for mask"

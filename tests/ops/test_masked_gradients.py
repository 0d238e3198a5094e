"""Gradients through functions of masked tensors."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck

MASK = torch.tensor([[True, False, True], [True, True, False]])


@pytest.mark.parametrize(
    "name", ["sum", "prod", "cumsum", "amax", "mean", "var", "softmax", "logsumexp", "normalize"]
)
def test_elements_that_count_have_gradients(name: str) -> None:
    x = torch.tensor([[0.5, 1.5, -1.0], [2.0, 0.3, 0.7]], dtype=torch.float64, requires_grad=True)

    def reduced(x: Any) -> Any:
        function = getattr(torch.masked, name)
        found = function(x, 2.0, 1, mask=MASK) if name == "normalize" else function(x, 1, mask=MASK)
        return found.nan_to_num(0.0, 0.0, 0.0)

    assert reduced(x).requires_grad
    assert gradcheck(reduced, [x], atol=1e-4)


@pytest.mark.parametrize("counting", [None, MASK])
def test_a_product_over_no_dimension_leaves_all_elements(counting: Any) -> None:
    x = torch.arange(1.0, 7.0).reshape(2, 3)
    kept = x if counting is None else torch.where(counting, x, 1.0)
    for keepdim in (False, True):
        assert torch.equal(torch.masked.prod(x, [], keepdim=keepdim, mask=counting), kept)
    assert torch.masked.prod(x, (), mask=counting) == torch.masked.prod(x, mask=counting)
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.masked.prod(torch.tensor(3.0), 1)


@pytest.mark.parametrize("dims", [None, (), (0, 1), [0]])
def test_a_median_goes_along_the_first_dimension_that_is_named(dims: Any) -> None:
    x = torch.tensor([[4.0, 1.0, 2.0], [3.0, 5.0, 0.0]])
    assert torch.masked.median(x, dims, mask=MASK).tolist() == [3.0, 5.0, 2.0]


@pytest.mark.parametrize("name", ["sum", "amax", "mean", "var", "softmax", "median"])
def test_masks_may_be_sparse(name: str) -> None:
    x, function = torch.arange(1.0, 7.0).reshape(2, 3), getattr(torch.masked, name)
    expected = function(x, 1, mask=MASK)
    for mask in (MASK.to_sparse(), MASK.to_sparse_csr()):
        assert torch.equal(function(x, 1, mask=mask), expected)


@pytest.mark.parametrize(
    ("name", "called"), [("cumsum", "cumsum"), ("var", "std/var"), ("softmax", "softmax")]
)
def test_sparse_tensors_are_refused(name: str, called: str) -> None:
    said = rf"masked {called} expects strided tensor \(got torch.sparse_coo tensor\)"
    with pytest.raises(ValueError, match=said):
        getattr(torch.masked, name)(torch.eye(2).to_sparse(), 1)


@pytest.mark.parametrize("name", ["sum", "amax", "mean", "std", "softmax", "cumprod"])
def test_masked_functions_of_slices(name: str) -> None:
    x, function = torch.arange(1.0, 7.0).reshape(2, 3), getattr(torch.masked, name)
    found = torch.func.vmap(lambda row, mask: function(row, 0, mask=mask))(x, MASK)
    assert torch.equal(found, function(x, 1, mask=MASK))
    for of_one in (lambda row: function(row, 0, mask=MASK[0]), lambda row: function(row, 0)):
        assert torch.equal(torch.func.vmap(of_one)(x), torch.stack([of_one(row) for row in x]))

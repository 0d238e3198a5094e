"""Signs between tensors and NumPy's arrays; biases of several dimensions; folded laws."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch
from rushlight.nn import functional as F


def test_equality_with_an_array_is_by_elements() -> None:
    tensor, array = torch.arange(3.0), np.array([0.0, 1.0, 5.0])
    assert (tensor == array).tolist() == [True, True, False]
    assert (array == tensor).tolist() == [True, True, False]
    assert (tensor == np.array(2)).tolist() == [False, False, True]
    assert (tensor.requires_grad_() == array[::-1]).tolist() == [False, True, False]
    assert (tensor == np.array(["a", "b", "c"])) is False


def test_equality_with_an_array_of_another_size_is_refused() -> None:
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.arange(3.0) == np.ones(2)  # noqa: B015


def test_an_array_is_divided_by_a_tensor() -> None:
    found = np.array([1.0, 5.0]) / torch.tensor([2.0, 4.0])
    assert found.tolist() == [0.5, 1.25]
    assert found.dtype is torch.float64


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (1, 3), (1,), (), (4, 2, 3)])
def test_gradients_of_a_bias_have_its_sizes(sizes: tuple[int, ...]) -> None:
    for shape in ((2, 5), (4, 2, 5))[len(sizes) > 2 :]:
        input, weight = torch.ones(shape), torch.ones(3, 5, requires_grad=True)
        bias = torch.ones(sizes, requires_grad=True)
        result = F.linear(input, weight, bias)
        result.sum().backward()
        assert bias.grad is not None
        assert bias.grad.shape == bias.shape
        assert bias.grad.sum() == result.numel()
        assert torch.equal(weight.grad, torch.full((3, 5), input.numel() / 5))


@pytest.mark.parametrize("law", [torch.distributions.HalfCauchy, torch.distributions.HalfNormal])
def test_a_folded_law_expands(law: type[torch.distributions.HalfNormal]) -> None:
    found = law(torch.tensor([1.0, 2.0])).expand([3, 2])
    assert found.batch_shape == (3, 2)
    assert found.scale.tolist() == [[1.0, 2.0]] * 3
    assert type(found) is law

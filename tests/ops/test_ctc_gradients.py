"""The gradient of `ctc_loss` in its own form is that of the way through operators."""

from __future__ import annotations

import numpy as np
import pytest

import rushlight as torch

F = torch.nn.functional


def both_ways(loss, x):
    """The gradient as it is computed, and as it is where it can be differentiated again."""
    (found,) = torch.autograd.grad(loss().sum(), x)
    (other,) = torch.autograd.grad(loss().sum(), x, create_graph=True)
    return found.numpy(), other.detach().numpy()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_lengths_of_all_kinds(reduction: str, zero_infinity: bool) -> None:
    torch.manual_seed(3)
    for steps, count, classes, most in ((7, 3, 4, 3), (4, 2, 3, 3), (9, 1, 5, 2), (2, 4, 2, 2)):
        x = torch.randn(steps, count, classes, dtype=torch.float64, requires_grad=True)
        targets = torch.randint(1, classes, (count, most))
        lengths = torch.randint(1, steps + 1, (count,))
        sizes = torch.randint(0, most + 1, (count,))

        def loss(x=x, targets=targets, lengths=lengths, sizes=sizes):
            return F.ctc_loss(
                x.log_softmax(-1),
                targets,
                lengths,
                sizes,
                reduction=reduction,
                zero_infinity=zero_infinity,
            )

        found, other = both_ways(loss, x)
        np.testing.assert_allclose(found, other, atol=1e-10, rtol=1e-8)


def test_probabilities_too_small_for_floats() -> None:
    x = torch.tensor([[[0.0, -900.0]], [[0.0, -900.0]]], dtype=torch.float64, requires_grad=True)
    one = torch.tensor([[1]])
    found, other = both_ways(lambda: F.ctc_loss(x, one, torch.tensor([2]), torch.tensor([1])), x)
    np.testing.assert_allclose(found, other)


def test_labels_that_are_no_classes_are_refused() -> None:
    logs = torch.zeros(4, 1, 3, requires_grad=True)
    for label in (3, -1, 2**40):
        with pytest.raises(IndexError):
            torch.nn.functional.ctc_loss(logs, torch.tensor([[label]]), [4], [1]).backward()

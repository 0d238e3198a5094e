"""Gradients in which the phases of complex vectors count are refused: they are anyone's choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import rushlight as torch

linalg = torch.linalg


def _matrix(rows: int, columns: int) -> Any:
    torch.manual_seed(1)
    return torch.randn(rows, columns, dtype=torch.complex128, requires_grad=True)


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: linalg.svd(x, full_matrices=False)[0].sum(),
        lambda x: linalg.svd(x[:2]).Vh.sum(),
        lambda x: torch.svd(x)[2].sum(),
        lambda x: linalg.svd(x)[1].sum() + linalg.svd(x).Vh.sum(),
        lambda x: linalg.eigh(x + x.mH).eigenvectors.sum(),
        lambda x: linalg.eig(x).eigenvectors.sum(),
    ],
)
def test_what_depends_on_phases(loss: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="ill-defined"):
        loss(_matrix(3, 3)).abs().backward()


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: linalg.svd(x, full_matrices=False)[0].abs().sum(),
        lambda x: (lambda found: (found[0] @ found[2]).abs().sum())(linalg.svd(x)),
        lambda x: linalg.svd(x)[1].sum(),
        lambda x: linalg.eigh(x + x.mH).eigenvectors.abs().sum(),
        lambda x: linalg.svd(x.real)[0].sum(),
    ],
)
def test_what_does_not(loss: Callable[[Any], Any]) -> None:
    x = _matrix(3, 3)
    loss(x).backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()

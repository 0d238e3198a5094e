"""Singular values by random projections; numbers from torch 2.13."""

from __future__ import annotations

import pytest

import rushlight as torch

ROWS = torch.arange(12.0).reshape(4, 3).cos()


def test_singular_values_of_a_matrix_of_low_rank() -> None:
    for matrix in (ROWS, ROWS.mT, torch.stack([ROWS, -ROWS])):
        U, S, V = torch.svd_lowrank(matrix, q=2)
        torch.testing.assert_close((U * S[..., None, :]) @ V.mT, matrix)
        torch.testing.assert_close(S[..., :2], torch.linalg.svdvals(matrix)[..., :2])


def test_a_matrix_is_subtracted_and_gradients_flow() -> None:
    x = ROWS.double().requires_grad_()
    mean = torch.ones(3, dtype=torch.float64)
    values = torch.svd_lowrank(x, q=3, M=mean)[1]
    torch.testing.assert_close(values, torch.linalg.svdvals(x - mean))
    (found,) = torch.autograd.grad(values[:2].sum(), x)
    (wanted,) = torch.autograd.grad(torch.linalg.svdvals(x - mean)[:2].sum(), x)
    torch.testing.assert_close(found, wanted)


def test_principal_components_eager_and_in_script() -> None:
    torch.manual_seed(0)
    for pca in (torch.pca_lowrank, torch.jit.script(torch.pca_lowrank)):
        found = pca(ROWS + 5, 2)[1]
        torch.testing.assert_close(found, torch.linalg.svdvals(ROWS - ROWS.mean(0))[:2])


def test_what_principal_components_refuse() -> None:
    with pytest.raises(ValueError, match=r"q\(=4\) must be .* not greater than min\(m, n\)=3"):
        torch.pca_lowrank(ROWS, q=4)
    with pytest.raises(ValueError, match=r"niter\(=-1\) must be non-negative integer"):
        torch.pca_lowrank(ROWS, niter=-1)


@pytest.mark.parametrize("center", [True, False])
def test_principal_components_of_a_sparse_matrix(center: bool) -> None:
    torch.manual_seed(0)
    rows = torch.where(ROWS > 0, ROWS, 0.0)
    wanted = torch.linalg.svdvals(rows - rows.mean(0) if center else rows)[:2]
    for pca in (torch.pca_lowrank, torch.jit.script(torch.pca_lowrank)):
        for sparse in (rows.to_sparse(), rows.to_sparse_csr()):
            torch.testing.assert_close(pca(sparse, 3, center)[1][:2], wanted)
    with pytest.raises(ValueError, match="input is expected to be 2-dimensional tensor"):
        torch.pca_lowrank(torch.ones(2, 3, 3).to_sparse())

"""Matrices that functions of linear algebra refuse, and segments with NaN, as in torch."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import pytest

import rushlight as torch

I2 = torch.eye(2)
INF = inf


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: I2.int().addr(I2.int()[0], I2.int()[0], beta=1.5),
            RuntimeError,
            "argument beta must",
        ),
        (
            lambda: I2.int().addr(I2.int()[0], I2.int()[0], alpha=0.5),
            RuntimeError,
            "alpha must not",
        ),
        (
            lambda: torch.cholesky_inverse(torch.stack([I2, I2 - 1])),
            torch.linalg.LinAlgError,
            r"cholesky_inverse: \(Batch element 1\): The diagonal element 1 is zero",
        ),
        (lambda: torch.linalg.cond(I2, p=7), RuntimeError, "cond got an invalid norm type: 7"),
        (lambda: torch.linalg.matrix_norm(I2[:0], -2), IndexError, "reduction dim -1 to have non"),
        (lambda: torch.linalg.matrix_norm(I2[:0], -INF), IndexError, "reduction dim 0 to have non"),
        (
            lambda: torch.ormqr(I2.expand(3, 2, 2), I2, I2.expand(3, 2, 2)),
            RuntimeError,
            r"batch dimensions of tau to be equal to input.shape\[:-2\], but got \[2\]",
        ),
        (lambda: torch.ormqr(I2, I2[0, :1], I2), RuntimeError, r"tau.shape\[-1\] must be equal to"),
        (lambda: torch.einsum("i...->...i...", I2), RuntimeError, "output but an ellipsis"),
        (lambda: torch.einsum("i->i..", I2[0]), RuntimeError, "output that is not part of any"),
        (
            lambda: torch.linalg.multi_dot([I2[None], I2]),
            RuntimeError,
            "first tensor must be 1D or",
        ),
        (lambda: torch.linalg.multi_dot([I2, I2[0], I2]), RuntimeError, "tensor 1 must be 2D but"),
    ],
)
def test_refusals_as_torch_words_them(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("mode", "message"),
    [("complete", "^The QR decomposition is not"), ("r", "depends on Q, which is")],
)
def test_decompositions_without_gradients(mode: str, message: str) -> None:
    matrix = torch.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match=message):
        torch.linalg.qr(matrix, mode=mode)[1].sum().backward()


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [
        ("max", [1, 1, 0, 0, 0.5, 0.5]),
        ("min", [1, 1, 0, 1, 0, 0]),
        ("prod", [1, 3, inf, 25, 20, 20]),
    ],
)
def test_gradients_of_segments_with_nan(reduce: str, expected: list[float]) -> None:
    """The NaN is the extreme; of a product it alone moves by what the others make. (inf: NaN)"""
    x = torch.tensor([1.0, float("nan"), 3.0, 4.0, 5.0, 5.0], requires_grad=True)
    torch.segment_reduce(x, reduce, lengths=torch.tensor([1, 2, 3])).sum().backward()
    assert x.grad is not None
    assert [inf if isnan(each) else each for each in x.grad.tolist()] == expected


FITTING = "Expected size for first two dimensions of batch2 tensor to be: {} but got: {}."


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ((1, 0, 2), (1, 3, 4), FITTING.format([1, 2], [1, 3])),
        ((0, 2), (1, 3, 4), FITTING.format([1, 2], [1, 3])),
        ((4, 1, 0, 2), (1, 2, 3, 4), FITTING.format([8, 2], [8, 3])),
        ((4, 2), (2, 5, 3, 3), FITTING.format([10, 2], [10, 3])),
        ((2,), (0, 3, 4), "size mismatch, got input (0), mat (0x3), vec (2)"),
        ((1, 0, 2), (3,), "size mismatch, got input (0), mat (0x2), vec (3)"),
        ((0, 2), (3, 4), "mat1 and mat2 shapes cannot be multiplied (0x2 and 3x4)"),
    ],
)
def test_batches_whose_inner_sizes_differ(
    one: tuple[int, ...], other: tuple[int, ...], told: str
) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.ones(one) @ torch.ones(other)
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("shapes", "told"),
    [
        (((1, 9, 2), (1, 3), (1, 3, 3)), "cannot be multiplied (9x2 and 3x1)"),
        (((1, 9, 2), (1, 3, 3), (1, 3, 3)), FITTING.format([1, 2], [1, 3])),
        (((9, 2), (4, 2), (3, 3)), "cannot be multiplied (9x4 and 3x3)"),
    ],
)
def test_attention_of_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...]], told: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        torch.nn.functional.scaled_dot_product_attention(*map(torch.ones, shapes))
    assert told in str(caught.value)


LU, PIVOTS = torch.linalg.lu_factor(torch.stack([I2, I2, I2]))


@pytest.mark.parametrize(("pivot", "said"), [(0, "greater or equal to 1"), (3, "smaller or equal")])
def test_pivots_that_no_factorisation_has_are_refused(pivot: int, said: str) -> None:
    pivots = PIVOTS.clone()
    pivots[1, 0] = pivot
    with pytest.raises(RuntimeError, match=f"lu_solve must all be {said}"):
        torch.linalg.lu_solve(LU, pivots, LU)
    with pytest.raises(RuntimeError, match=r"lu_unpack must be between 1 and LU.size"):
        torch.lu_unpack(LU, pivots)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: torch.linalg.lu_solve(LU, PIVOTS[0], LU), r"with shape \[2\] instead"),
        (lambda: torch.linalg.lu_solve(I2, PIVOTS[0, :1], I2), "Number of pivots per batch should"),
        (lambda: torch.orgqr(I2, I2[0].double()), "tau dtype Double does not match input dtype"),
        (lambda: torch.orgqr(LU, I2[0]), "Expected tau to have one dimension less than input"),
        (lambda: torch.orgqr(LU, I2), r"of tau to be equal to input.shape\[:-2\], but got \[2\]"),
        (lambda: torch.ormqr(I2, I2[0], LU), "other to have the same number of dimensions as"),
        (lambda: torch.ormqr(LU, PIVOTS.float(), LU[:1]), r"of other to be .*, but got \[1\]"),
        (lambda: torch.ormqr(I2, I2[0].double(), I2), "dtypeFloat and tau has dtype Double"),
        (lambda: torch.ormqr(I2, I2[0], I2.double()), "dtypeFloat and other has dtype Double"),
        (lambda: torch.linalg.pinv(I2, atol=torch.tensor(1j)), "atol tensor of complex type is"),
        (lambda: torch.linalg.matrix_rank(I2, tol=torch.tensor(1j)), "matrix_rank: atol tensor of"),
        (lambda: torch.linalg.norm(I2, 1j), "matrix_norm: Expected a non-complex scalar"),
        (lambda: torch.linalg.norm(I2[0], 1j), "vector_norm: Expected a non-complex scalar"),
        (lambda: torch.triangular_solve(I2, torch.eye(3)), "each A matrix is 3 by 3 but each b"),
        (lambda: torch.geqrf(I2[0]), "torch.geqrf: input must have at least 2 dimensions."),
    ],
)
def test_operands_of_other_batches_or_dtypes_are_refused(call: Any, said: str) -> None:
    with pytest.raises(RuntimeError, match=said):
        call()

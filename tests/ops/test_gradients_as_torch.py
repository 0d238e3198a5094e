"""Gradients where finite differences say nothing: ties, zeros, bags with padding."""

from __future__ import annotations

from typing import Any

import pytest

import rushlight as torch

X = [[2.0, 0.0, 3.0], [0.0, -1.0, 2.0]]
SRC = [[0.0, 0.0, 2.0], [0.0, 3.0, 2.0]]
INDEX = [[0, 1, 0], [0, 0, 1]]
G = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]

SCATTERED: dict[tuple[str, bool], Any] = {
    ("prod", True): ([[0.0, 6.0, 6.0], [4.0, 0.0, 12.0]], [[0.0, -5.0, 9.0], [0.0, 0.0, 12.0]]),
    ("prod", False): ([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]], [[0.0, 5.0, 3.0], [0.0, 2.0, 6.0]]),
    ("amax", True): ([[1.0, 0.0, 3.0], [4.0, 0.0, 3.0]], [[0.0, 5.0, 0.0], [0.0, 2.0, 3.0]]),
    ("mean", False): ([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]], [[0.5, 5.0, 3.0], [0.5, 2.0, 6.0]]),
}
"""By reduction and `include_self`: the gradients of `self` and of `src`."""


@pytest.mark.parametrize(("reduce", "include"), SCATTERED)
def test_scatter_reduce(reduce: str, include: bool) -> None:
    x = torch.tensor(X, requires_grad=True)
    src = torch.tensor(SRC, requires_grad=True)
    found = torch.scatter_reduce(x, 0, torch.tensor(INDEX), src, reduce, include_self=include)
    found.backward(torch.tensor(G))
    assert (x.grad.tolist(), src.grad.tolist()) == SCATTERED[reduce, include]


def test_a_gradient_that_does_not_fit_is_told_by_its_node() -> None:
    x, src = torch.zeros(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    with pytest.raises(
        RuntimeError,
        match=r"Function ScatterReduceBackward0 returned an invalid gradient at index 1 "
        r"- got \[2\] but expected shape compatible with \[3\]",
    ):
        torch.scatter_reduce(x, 0, torch.tensor([0, 1]), src, "sum").sum().backward()


@pytest.mark.parametrize(
    ("mode", "by_frequency", "rows"),
    [
        (0, False, [2.0, 3.0, 0.0]),
        (1, False, [1.0, 2.0, 0.0]),
        (0, True, [1.0, 1.5, 0.0]),
        (2, False, [1.0, 2.0, 0.0]),
    ],
)
def test_bags_with_padding_counted_from_the_end(
    mode: int, by_frequency: bool, rows: list[float]
) -> None:
    table = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    indices, starts = torch.tensor([0, 2, 0, 1, 1, 2]), torch.tensor([0, 3])
    result = torch.embedding_bag(table, indices, starts, by_frequency, mode, False, None, False, -1)
    result[0].backward(torch.tensor([[1.0], [1.5 if mode == 0 else 2.0]]))
    assert table.grad.reshape(-1).tolist() == rows


@pytest.mark.parametrize("padding", [None, 1, -1])
def test_weighted_bags_with_and_without_padding(padding: int | None) -> None:
    table = torch.arange(12.0).reshape(4, 3).requires_grad_()
    shares = torch.tensor([2.0, 3.0, 5.0, 7.0, 11.0])
    indices, starts = torch.tensor([3, 1, 0, 1, 3]), torch.tensor([0, 2, 5, 5])
    result = torch.embedding_bag(table, indices, starts, False, 0, False, shares, True, padding)
    result[0].backward(torch.tensor([[1.0], [10.0], [100.0]]).expand(3, 3))
    rows = [50.0, 3.0 + 70.0, 0.0, 2.0 + 110.0]
    if padding is not None:
        rows[padding] = 0.0
    assert table.grad[:, 0].tolist() == rows


def test_random_numbers_around_tensors_are_recorded() -> None:
    for number, (mean, std) in enumerate(((True, False), (False, True), (True, True)), 1):
        middle: Any = torch.zeros(3, requires_grad=True) if mean else 0.0
        spread: Any = torch.ones(2, 3, requires_grad=True) if std else 1.0
        drawn = torch.normal(middle, spread)
        assert drawn.grad_fn.name() == f"NormalBackward{number}"
        drawn.sum().backward()
        given = [x for x in (middle, spread) if isinstance(x, torch.Tensor)]
        assert all(x.grad.abs().sum() == 0 for x in given)


def test_complex_sinc() -> None:
    z = torch.tensor([0.3 - 0.5j, 0j], dtype=torch.complex128, requires_grad=True)
    (torch.sinc(z) * (1 + 2j)).sum().real.backward()
    expected = -4.737314351384243 + 1.7804294312803466j
    assert z.grad[0].item() == pytest.approx(expected)
    assert z.grad[1].item() == 0
    real = torch.tensor([0.3 - 0.5j], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(torch.sinc, [real])


def test_squeezed_is_a_new_tensor() -> None:
    x = torch.ones(1, 2)
    for found in (x.squeeze((1,)), x.squeeze(()), x.squeeze(1)):
        assert found is not x
        assert found.data_ptr() == x.data_ptr()

"""Complex numbers of two halves (complex32): their parts, and random ones."""

from __future__ import annotations

import pytest

import rushlight as torch


def test_parts_are_views_of_halves() -> None:
    x = torch.tensor([1 + 2j, 3 - 4j], dtype=torch.complex32)
    assert (x.real.dtype, x.imag.dtype) == (torch.float16, torch.float16)
    assert (torch.real(x).tolist(), torch.imag(x).tolist()) == ([1, 3], [2, -4])
    x.imag.add_(1)
    x.real = torch.tensor([5.0, 6.0])
    assert x.tolist() == [5 + 3j, 6 - 3j]
    pairs = torch.view_as_real(x)
    assert (pairs.dtype, pairs.tolist()) == (torch.float16, [[5, 3], [6, -3]])
    assert torch.view_as_complex(pairs).data_ptr() == x.data_ptr()
    assert x.conj().tolist() == [5 - 3j, 6 + 3j]
    assert torch.isreal(torch.tensor([1 + 0j, 1j], dtype=torch.chalf)).tolist() == [True, False]


def test_gradients_pass_the_parts() -> None:
    x = torch.ones(2, dtype=torch.chalf).requires_grad_()
    total = (x * 2).real.sum()
    assert (total.dtype, total.item()) == (torch.float16, 4.0)
    real = torch.tensor([1.5, -2.0], requires_grad=True)
    product = real.chalf() * torch.tensor([1 + 2j, 3 - 1j], dtype=torch.chalf)
    given = torch.tensor([1 + 1j, 2 - 1j], dtype=torch.chalf)
    assert torch.autograd.grad(product, real, given)[0].tolist() == [3.0, 7.0]


def test_they_are_complex() -> None:
    x = torch.tensor([[1 + 2j, 3 - 1j]], dtype=torch.chalf)
    assert x.is_complex()
    assert torch.is_complex(x)
    assert x.mH.tolist() == x.adjoint().tolist() == [[1 - 2j], [3 + 1j]]


@pytest.mark.parametrize("fill", [torch.rand, torch.randn], ids=["rand", "randn"])
def test_random_ones_are_those_of_singles_rounded(fill) -> None:
    torch.manual_seed(3)
    wide = fill(5, dtype=torch.complex64)
    torch.manual_seed(3)
    halves = fill(5, dtype=torch.complex32)
    assert halves.dtype == torch.complex32
    torch.testing.assert_close(halves.to(torch.complex64), wide, rtol=1e-3, atol=1e-3)


def test_filling_in_place_draws_both_parts() -> None:
    for x in (torch.zeros(64, dtype=torch.chalf).normal_(), torch.rand(64, dtype=torch.chalf)):
        assert (x.imag.float().abs() > 0).sum() > 50
    like = torch.randn_like(torch.zeros(4, dtype=torch.chalf))
    assert like.dtype == torch.complex32

"""Arguments that nobody means seriously end in errors of torch's kinds and read nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import rushlight as torch
from rushlight.ops.memory.errors import OperatorError

INF = float("inf")
F = torch.nn.functional
FAR = [-(2**63), -(2**31), 2**31, 2**62]

ABSURD: dict[str, Callable[[], object]] = {
    "eye": lambda: torch.eye(2**62),
    "vander": lambda: torch.vander(torch.ones(3), N=2**62),
    "arange": lambda: torch.arange(0.0, 1e300, 1e-300),
    "diag": lambda: torch.diag(torch.ones(3), 2**62),
    "diag_embed": lambda: torch.diag_embed(torch.ones(3), 2**62),
    "histc": lambda: torch.histc(torch.ones(3), 2**62),
    "window": lambda: torch.hann_window(2**62),
    "fft": lambda: torch.fft.fft(torch.ones(3), n=2**62),
    "pad": lambda: F.pad(torch.ones(3), (2**62, 2**62)),
    "interpolate": lambda: F.interpolate(torch.ones(1, 1, 3), scale_factor=INF),
    "interpolate by nan": lambda: F.interpolate(torch.ones(1, 1, 3), scale_factor=float("nan")),
}


@pytest.mark.parametrize("name", ABSURD)
def test_what_stumbles_is_an_operators_error(name: str) -> None:
    with pytest.raises(OperatorError):
        ABSURD[name]()


def test_errors_raised_on_purpose_keep_their_class() -> None:
    with pytest.raises(TypeError, match="must be tuple of ints"):
        torch.zeros("2")
    with pytest.raises(IndexError, match="out of range"):
        torch.ones(2).select(0, 5)


@pytest.mark.parametrize("offset", FAR)
def test_diagonals_far_outside_are_empty(offset: int) -> None:
    x = torch.ones(2, 4)
    assert torch.diag(x, offset).shape == (0,)
    assert torch.linalg.diagonal(x, offset=offset).shape == (0,)
    assert torch.equal(x.tril(offset), x if offset > 0 else torch.zeros(2, 4))
    assert torch.equal(x.triu(offset), x if offset < 0 else torch.zeros(2, 4))


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("lengths", [[2**62] * 3 + [2**62 + 4], [-4, 8], [3, 3], [2**63 - 1, 5]])
def test_segments_lie_in_the_data(lengths: list[int], unsafe: bool) -> None:
    with pytest.raises(RuntimeError, match="length"):
        torch.segment_reduce(torch.ones(4), "sum", lengths=torch.tensor(lengths), unsafe=unsafe)
    offsets = torch.tensor([0, 2**63 - 1, -(2**63), 4])
    with pytest.raises(RuntimeError, match="length"):
        torch.segment_reduce(torch.ones(4), "sum", offsets=offsets, unsafe=unsafe)


def test_decompositions_of_infinite_elements_come_to_an_end() -> None:
    matrices = torch.eye(2).repeat(2, 1, 1)
    matrices[0, 0, 1] = INF
    found = torch.linalg.pinv(matrices)
    assert found[0].isnan().all()
    assert torch.equal(found[1], torch.eye(2))
    assert torch.linalg.lstsq(matrices[0], torch.eye(2)).solution.isnan().all()
    with pytest.raises(torch.linalg.LinAlgError, match="non-finite"):
        torch.linalg.pinv(matrices.fill_(float("nan")))


@pytest.mark.parametrize("times", [[2**62, -1, 0, 2], [2**62, 0, 1], [0, 2**62]])
@pytest.mark.parametrize("name", ["tile", "repeat"])
def test_repeating_nothing_does_not_count_what_it_would_repeat(name: str, times: list[int]) -> None:
    x = torch.ones(4, 2)
    with pytest.raises(OperatorError):
        getattr(x, name)(times)
    assert getattr(x, name)([2**40, 0]).shape == (2**42, 0)
    assert torch.ones(3, 0).repeat_interleave(2**40, 0).shape == (3 * 2**40, 0)


@pytest.mark.parametrize("letter", "tuvw")
def test_polynomials_of_endless_degree_end(letter: str) -> None:
    x = torch.tensor([0.5, 1.0, 2.0])
    found = getattr(torch.special, f"chebyshev_polynomial_{letter}")(x, torch.tensor(2.0**62))
    assert found.isnan().tolist() == [False, False, True]


def test_blocks_that_cannot_slide_are_refused_though_their_number_fits() -> None:
    with pytest.raises(RuntimeError, match=r"sliding blocks as \(-4, -3\), which is too small"):
        torch.nn.functional.fold(torch.zeros(1, 12, 12), (4, 5), (2, 2), dilation=8)

"""Ways to fill parameters, against numbers of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rushlight as torch

init = torch.nn.init


@pytest.mark.parametrize(
    ("fill", "wanted"),
    [
        (
            lambda: init.trunc_normal_(torch.empty(6)),
            [0.6614, 0.2669, 0.0617, 0.6213, -0.4519, -0.1661],
        ),
        (
            lambda: init.trunc_normal_(torch.empty(5), 0.0, 1.0, 1.0, 3.0),
            [1.0386, 1.5586, 1.1385, 1.5687, 1.0586],
        ),
        (
            lambda: init.orthogonal_(torch.empty(2, 3)),
            [0.9239, 0.3729, 0.0862, 0.3812, -0.8768, -0.2931],
        ),
        (
            lambda: init.sparse_(torch.empty(4, 2), 0.5),
            [0.0066, 0.0, 0.0, 0.0, 0.0, -0.0017, -0.0152, 0.0038],
        ),
    ],
)
def test_random_fillings_are_torchs(fill: Callable[[], Any], wanted: list[float]) -> None:
    torch.manual_seed(1)
    assert np.allclose(fill().flatten().tolist(), wanted, atol=6e-5)


def test_an_orthogonal_matrix_has_orthonormal_rows() -> None:
    matrix = init.orthogonal_(torch.empty(3, 2, 4), gain=2.0).reshape(3, 8)
    assert np.allclose((matrix @ matrix.t()).numpy(), 4 * np.eye(3), atol=1e-5)


def test_a_dirac_weight_hands_on_its_input() -> None:
    x = torch.randn(1, 2, 5)
    weight = init.dirac_(torch.empty(2, 2, 3))
    assert torch.equal(torch.conv1d(x, weight, padding=1), x)
    grouped = init.dirac_(torch.empty(4, 2, 3), groups=2)
    assert grouped.nonzero().tolist() == [[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 1, 1]]


def test_the_identity_is_written_in_place() -> None:
    parameter = torch.nn.Parameter(torch.zeros(2, 3))
    assert init.eye_(parameter) is parameter
    assert parameter.tolist() == [[1, 0, 0], [0, 1, 0]]


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 dimensions"):
        init.eye_(torch.zeros(3))
    with pytest.raises(ValueError, match="divisible by groups"):
        init.dirac_(torch.zeros(3, 1, 1), groups=2)


def test_tensors_without_elements_stay_as_they_are() -> None:
    for fill in (torch.nn.init.kaiming_uniform_, torch.nn.init.kaiming_normal_):
        with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
            assert fill(torch.empty(0, 1)).shape == (0, 1)


@pytest.mark.parametrize(
    ("shape", "fans"), [((4, 3), (3, 4)), ((4, 3, 5), (15, 20)), ((4, 3, 5, 2, 7), (210, 280))]
)
def test_weights_of_windows_fan_out_by_their_size(
    shape: tuple[int, ...], fans: tuple[int, int]
) -> None:
    assert init._calculate_fan_in_and_fan_out(torch.empty(shape)) == fans
    torch.manual_seed(0)
    bound = init.xavier_uniform_(torch.empty(shape)).abs().max().item()
    assert bound <= (6 / sum(fans)) ** 0.5

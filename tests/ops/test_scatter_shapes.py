"""Scattering where a tensor has no dimensions, or another number of them: as torch 2.13 does it."""

from __future__ import annotations

import pytest

import rushlight as torch

LACKS = "Expected index [3] to be no larger than self {} apart from dimension 0 and to be no larger"
RANKS = "Index tensor must have the same number of dimensions as {} tensor"


def _scattered(self: list[int], index: list[int], source: list[int]) -> object:
    places = torch.zeros(index, dtype=torch.int64)
    return torch.ones(self).scatter_add(0, places, torch.full(source, 3.0)).tolist()


@pytest.mark.parametrize(
    ("self", "index", "source", "result"),
    [
        ([], [], [], 4.0),
        ([], [], [3], 4.0),
        ([], [1], [], 4.0),
        ([], [2], [2], 7.0),
        ([3], [], [3], [4.0, 1.0, 1.0]),
        ([3], [], [], [4.0, 1.0, 1.0]),
        ([3], [1], [], [4.0, 1.0, 1.0]),
        ([3], [2], [3], [7.0, 1.0, 1.0]),
        ([2, 1], [2, 1], [2, 2], [[7.0], [1.0]]),
    ],
)
def test_sums(self: list[int], index: list[int], source: list[int], result: object) -> None:
    assert _scattered(self, index, source) == result


@pytest.mark.parametrize(
    ("self", "index", "source", "error", "text"),
    [
        ([3], [3], [], RuntimeError, LACKS.format("[3]")),
        ([], [3], [1], RuntimeError, LACKS.format("[]")),
        ([3], [3], [2, 2], RuntimeError, RANKS.format("src")),
        ([2, 1], [2, 2], [3], RuntimeError, RANKS.format("src")),
        ([2, 2], [3], [3], RuntimeError, RANKS.format("self")),
        ([2, 2], [2, 2], [3], IndexError, "Dimension out of range"),
    ],
)
def test_refusals(
    self: list[int], index: list[int], source: list[int], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        _scattered(self, index, source)
    assert str(caught.value).startswith(text)


def test_replacing_takes_the_first_of_more_numbers() -> None:
    place = torch.tensor(1)
    replaced = torch.zeros(3).scatter(0, place, torch.tensor([5.0, 6.0, 7.0]))
    assert replaced.tolist() == [0.0, 5.0, 0.0]

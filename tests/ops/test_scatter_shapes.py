"""Scattering where a tensor has no dimensions, or another number of them: as torch 2.13 does it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import rushlight as torch
from rushlight.ops import kernels

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


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "prod"])
@pytest.mark.parametrize("include_self", [True, False])
def test_an_expanded_index_is_like_its_copy(axis: int, reduce: str, include_self: bool) -> None:
    sizes, view = [3, 4, 5], [1, 1, 1]
    x = torch.randn(sizes)
    sizes[axis] = view[axis] = 9
    named = torch.randint(0, 3, (9,)).view(view).expand(sizes)
    whole, source = named.clone(), torch.randn(sizes)

    def scattered(index: torch.Tensor) -> torch.Tensor:
        return x.scatter_reduce(axis, index, source, reduce, include_self=include_self)

    assert torch.equal(scattered(named), scattered(whole))
    assert torch.equal(x.gather(axis, named), x.gather(axis, whole))
    assert torch.equal(x.scatter(axis, named, 2.0), x.scatter(axis, whole, 2.0))
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.scatter_add(axis, named + 5, source)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("wanted", [(2, 4, 5), (3, 2, 5), (3, 4, 2), (1, 2, 3), (2, 4, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int16, torch.int64])
def test_an_index_may_reach_a_part_alone(
    axis: int, wanted: tuple[int, ...], dtype: torch.dtype
) -> None:
    sizes = [3, 4, 5]
    lengths = [*wanted]
    lengths[axis] = 6
    places = torch.randint(0, 3, lengths)
    x = torch.arange(60).reshape(sizes).to(dtype) % 7
    source = torch.arange(1, 217).reshape(6, 6, 6).to(dtype) % 5
    for call in (
        lambda x: x.scatter(axis, places, source),
        lambda x: x.scatter(axis, places, 3),
        lambda x: x.scatter_add(axis, places, source),
        lambda x: x.clone().scatter_(axis, places, source),
        lambda x: x.scatter_reduce(axis, places, source, "amax"),
        lambda x: x.scatter_reduce(axis, places, source, "mean", include_self=False),
        lambda x: x.scatter_reduce(axis, places, source, "prod", include_self=False),
        lambda x: x.permute(2, 0, 1).clone().permute(1, 2, 0).scatter_(axis, places, 2),
    ):
        with plainly():
            expected = call(x)
        made = [call(x) for _ in range(70)]
        assert all(torch.equal(each, expected) for each in made)
    beyond = places.clone()
    beyond[0, 0, 0] = 9
    for _ in range(70):
        y = x.clone()
        with pytest.raises(RuntimeError, match="index 9 is out of bounds"):
            y.scatter_(axis, beyond, source)
        assert torch.equal(x, y)


@contextmanager
def plainly() -> Iterator[None]:
    """A block without kernels that combine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(kernels._FAMILIES, "indexing.places", None)
        yield

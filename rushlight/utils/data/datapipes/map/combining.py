"""Several mappings of samples as one."""

from __future__ import annotations

from typing import Any

from ..datapipe import MapDataPipe, Sample
from ..decorators import functional_datapipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]


class _Several(MapDataPipe[Sample]):
    """Pipes with lengths.

    Raises:
        TypeError: something that is no pipe, or has no length.
        ValueError: no pipes.
    """

    def __init__(self, *datapipes: MapDataPipe[Sample]) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `MapDataPipe`")
        if not all(hasattr(type(pipe), "__len__") for pipe in datapipes):
            raise TypeError("Expected all inputs to be `Sized`")
        self.datapipes = datapipes


@functional_datapipe("concat")
class ConcaterMapDataPipe(_Several[Sample]):
    """The samples of one pipe, then those of the next (functional name: ``concat``).

    Keys are numbers from 0."""

    def __getitem__(self, index: int) -> Sample:
        place = index
        for pipe in self.datapipes:
            if place < len(pipe):
                found: Sample = pipe[place]
                return found
            place -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(_Several[tuple[Any, ...]]):
    """Tuples of the samples of a key in each pipe (functional name: ``zip``)."""

    def __getitem__(self, index: object) -> tuple[Any, ...]:
        found = []
        for pipe in self.datapipes:
            try:
                found.append(pipe[index])
            except IndexError as error:
                raise IndexError(
                    f"Index {index} is out of range for one of the input MapDataPipes {pipe}."
                ) from error
        return tuple(found)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))

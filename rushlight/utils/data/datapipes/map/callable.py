"""What a function makes of samples, by key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..datapipe import MapDataPipe
from ..decorators import functional_datapipe
from ..utils.common import checked_function

__all__ = ["MapperMapDataPipe", "default_fn"]


def default_fn(data: object) -> object:
    """The sample itself; pickle can write this function."""
    return data


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe[Any]):
    """What a function makes of samples when they are asked for (functional name: ``map``)."""

    def __init__(
        self, datapipe: MapDataPipe[object], fn: Callable[[Any], object] = default_fn
    ) -> None:
        super().__init__()
        self.datapipe, self.fn = datapipe, checked_function(fn)

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getitem__(self, index: object) -> Any:
        return self.fn(self.datapipe[index])

"""Streams of what Python iterates over."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator

from ..datapipe import IterDataPipe, Sample
from ..utils.common import length_of

__all__ = ["IterableWrapperIterDataPipe"]


class IterableWrapperIterDataPipe(IterDataPipe[Sample]):
    """The elements of something that is iterated over.

    Args:
        deepcopy: each iterator goes through a copy, so that what is done with samples in place
            leaves the next one alone.
    """

    def __init__(self, iterable: Iterable[Sample], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Sample]:
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place "
                    "modification would affect source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        return length_of(self, [self.iterable])[0]

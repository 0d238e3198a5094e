"""Samples in sequences and dicts."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence

from ..datapipe import MapDataPipe, Sample

__all__ = ["SequenceWrapperMapDataPipe"]


class SequenceWrapperMapDataPipe(MapDataPipe[Sample]):
    """The elements of a sequence or a mapping; of a copy, unless `deepcopy` is False."""

    def __init__(
        self, sequence: Sequence[Sample] | Mapping[int, Sample], deepcopy: bool = True
    ) -> None:
        if deepcopy:
            try:
                sequence = copy.deepcopy(sequence)
            except TypeError:
                warnings.warn(
                    "The input sequence can not be deepcopied, please be aware of in-place "
                    "modification would affect source data",
                    stacklevel=2,
                )
        self.sequence = sequence

    def __getitem__(self, index: int) -> Sample:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)

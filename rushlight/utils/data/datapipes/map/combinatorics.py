"""Streams of samples by keys in a random order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Self

from ...sampler import drawn_seed
from ..datapipe import IterDataPipe, MapDataPipe, Sample

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(IterDataPipe[Sample]):
    """All samples in a random order (functional name: ``shuffle``), which Python's generator draws.

    Args:
        indices: the keys; numbers from 0 unless they are given.
    """

    def __init__(self, datapipe: MapDataPipe[Sample], *, indices: list[Any] | None = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.indices = list(range(len(self.datapipe))) if indices is None else indices
        self._enabled, self._rng = True, random.Random()
        self._seed: int | None = None
        self._shuffled_indices = self.indices

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Whether the order is another one."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """What the next iterator draws from; without one it draws a seed from torch's generator."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Sample]:
        if not self._enabled:
            yield from (self.datapipe[key] for key in self.indices)
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def reset(self) -> None:
        """Draw the order anew."""
        drawn = drawn_seed() if self._enabled and self._seed is None else self._seed
        self._rng.seed(drawn)
        self._seed = None
        self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __len__(self) -> int:
        return len(self.datapipe)

    def __getstate__(self) -> object:
        return self.state_of(
            (
                self.datapipe,
                self.indices,
                self._enabled,
                self._seed,
                self._rng.getstate(),
                self._shuffled_indices,
                self._valid_iterator_id,
                self._number_of_samples_yielded,
            )
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.datapipe, self.indices, self._enabled, self._seed = state[:4]
        self._rng = random.Random()
        self._rng.setstate(state[4])
        self._shuffled_indices, self._valid_iterator_id, self._number_of_samples_yielded = state[5:]


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)

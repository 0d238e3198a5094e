"""Streams in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Self

from ...sampler import Sampler, SequentialSampler, drawn_seed
from ..datapipe import IterDataPipe, Sample
from ..decorators import functional_datapipe
from ..utils.common import length_of

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe[Sample]):
    """What a sampler gives for a pipe.

    Args:
        datapipe: what the sampler is told of; it needs a length.
        sampler, sampler_args, sampler_kwargs: its class, and what that is called with besides.

    Raises:
        AssertionError: a pipe without a length.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Sample],
        sampler: type[Sampler[int]] = SequentialSampler,
        sampler_args: tuple[object, ...] | None = None,
        sampler_kwargs: dict[str, object] | None = None,
    ) -> None:
        if not hasattr(type(datapipe), "__len__"):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        super().__init__()
        self.datapipe, self.sampler_args = datapipe, sampler_args or ()
        self.sampler_kwargs = {} if sampler_kwargs is None else sampler_kwargs
        self.sampler_kwargs["data_source"] = datapipe
        self.sampler: Any = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.sampler)

    def __len__(self) -> int:
        return length_of(self, [self.sampler])[0]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe[Sample]):
    """Samples in a random order (functional name: ``shuffle``), drawn by Python's generator.

    Args:
        buffer_size: so many samples are read ahead, and one of them is drawn each time.
        unbatch_level: lists in the source are taken apart so many levels deep first.

    Raises:
        AssertionError: a buffer of no samples.
    """

    def __init__(
        self, datapipe: IterDataPipe[Sample], *, buffer_size: int = 10000, unbatch_level: int = 0
    ) -> None:
        super().__init__()
        self._buffer: list[Sample] = []
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe.unbatch(unbatch_level=unbatch_level) if unbatch_level else datapipe
        self.buffer_size, self._enabled = buffer_size, True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> Self:
        """Whether the order is another one."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> Self:
        """What the next iterator draws from; without one it draws a seed from torch's generator."""
        self._seed = seed
        return self

    def __iter__(self) -> Iterator[Sample]:
        buffer = self._buffer
        for sample in self.datapipe:
            if not self._enabled:
                yield sample
            elif len(buffer) < self.buffer_size:
                buffer.append(sample)
            else:
                place = self._rng.randint(0, len(buffer) - 1)
                sample, buffer[place] = buffer[place], sample
                yield sample
        while buffer:
            yield buffer.pop(self._rng.randint(0, len(buffer) - 1))

    def __len__(self) -> int:
        return length_of(self, [self.datapipe])[0]

    def reset(self) -> None:
        """Forget what was read ahead, and begin to draw anew."""
        self._buffer = []
        if self._enabled:
            self._rng.seed(drawn_seed() if self._seed is None else self._seed)
            self._seed = None

    def __getstate__(self) -> object:
        return self.state_of(
            (
                self.datapipe,
                self.buffer_size,
                self._enabled,
                self._seed,
                self._buffer,
                self._rng.getstate(),
                self._valid_iterator_id,
                self._number_of_samples_yielded,
            )
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.datapipe, self.buffer_size, self._enabled, self._seed, self._buffer = state[:5]
        self._rng = random.Random()
        self._rng.setstate(state[5])
        self._valid_iterator_id, self._number_of_samples_yielded = state[6:]

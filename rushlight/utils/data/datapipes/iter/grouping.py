"""Streams of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..batches import Batches
from ..datapipe import DataChunk, IterDataPipe, Sample
from ..decorators import functional_datapipe
from ..utils.common import checked_function

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(Batches, IterDataPipe[DataChunk[Sample]]):
    """So many samples together (functional name: ``batch``). See `Batches`."""

    def __iter__(self) -> Iterator[DataChunk[Sample]]:
        batch: list[Sample] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Sample]):
    """The elements of lists (functional name: ``unbatch``), some levels deep; -1 for all levels."""

    def __init__(self, datapipe: IterDataPipe[object], unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Sample]:
        for element in self.datapipe:
            yield from self._apart(element, self.unbatch_level)

    def _apart(self, element: Any, levels: int) -> Iterator[Sample]:
        if levels < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        if levels == 0 or (levels == -1 and not isinstance(element, list)):
            yield element
        elif isinstance(element, list):
            for item in element:
                yield from self._apart(item, max(levels - 1, -1))
        else:
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[DataChunk[Sample]]):
    """Samples together whose keys are equal (functional name: ``groupby``).

    Args:
        group_key_fn: the key of a sample.
        keep_key: give pairs of the key and the group.
        buffer_size: how many samples are kept; when there are so many, the largest group is given.
        group_size: a group of so many is given at once.
        guaranteed_group_size: how many samples the largest group must then have, `group_size`
            unless it is said.
        drop_remaining: leave that group out if it has fewer; otherwise it is an error.

    Raises:
        AssertionError: sizes that do not fit each other.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Sample],
        group_key_fn: Callable[[Sample], object],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        self.datapipe, self.group_key_fn = datapipe, checked_function(group_key_fn)
        self.keep_key, self.max_buffer_size, self.group_size = keep_key, buffer_size, group_size
        if group_size is not None and buffer_size is not None and not 0 < group_size <= buffer_size:
            raise AssertionError("group_size must be > 0 and <= buffer_size")
        if guaranteed_group_size is not None and not (
            group_size is not None and 0 < guaranteed_group_size <= group_size
        ):
            raise AssertionError(
                "guaranteed_group_size must be > 0 and <= group_size and group_size must be set"
            )
        guaranteed = guaranteed_group_size or (group_size if buffer_size is not None else None)
        self.guaranteed_group_size, self.drop_remaining = guaranteed, drop_remaining
        self.wrapper_class: Callable[[list[Sample]], object] = DataChunk
        self.reset()

    def _largest(self) -> list[Sample] | None:
        """Take out the largest group, the first of several; None if it is left out.

        Raises:
            RuntimeError: it has too few samples.
        """
        key = max(self.buffer_elements, key=lambda each: len(self.buffer_elements[each]))
        group = self.buffer_elements[key]
        complete = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        if not complete and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        del self.buffer_elements[key]
        self.curr_buffer_size -= len(group)
        return group if complete else None

    def _given(self, key: object, group: list[Sample]) -> Any:
        made = self.wrapper_class(group)
        return (key, made) if self.keep_key else made

    def __iter__(self) -> Iterator[DataChunk[Sample]]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            group = self.buffer_elements.setdefault(key, [])
            group.append(sample)
            self.curr_buffer_size += 1
            if len(group) == self.group_size:
                yield self._given(key, group)
                self.curr_buffer_size -= len(group)
                del self.buffer_elements[key]
            if self.curr_buffer_size == self.max_buffer_size:
                largest = self._largest()
                if largest is not None:
                    yield self._given(key, largest)
        for key in tuple(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._given(key, group)

    def reset(self) -> None:
        """Forget the samples that were read ahead."""
        self.curr_buffer_size = 0
        self.buffer_elements: dict[object, list[Sample]] = {}

    def __getstate__(self) -> object:
        return self.state_of(
            (
                self.datapipe,
                self.group_key_fn,
                self.keep_key,
                self.max_buffer_size,
                self.group_size,
                self.guaranteed_group_size,
                self.drop_remaining,
                self.wrapper_class,
                self._valid_iterator_id,
                self._number_of_samples_yielded,
            )
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.datapipe, self.group_key_fn, self.keep_key, self.max_buffer_size = state[:4]
        self.group_size, self.guaranteed_group_size, self.drop_remaining = state[4:7]
        self.wrapper_class, self._valid_iterator_id, self._number_of_samples_yielded = state[7:]
        self.curr_buffer_size, self.buffer_elements = 0, {}

"""Streams made of several, and several made of one."""

from __future__ import annotations

import copy as copying
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ..datapipe import Item, IterDataPipe, Sample
from ..decorators import functional_datapipe
from ..single_iterator import _SnapshotState
from ..utils.common import StreamWrapper, checked_function, length_of

__all__ = [
    *("ConcaterIterDataPipe", "DemultiplexerIterDataPipe", "ForkerIterDataPipe"),
    *("MultiplexerIterDataPipe", "ZipperIterDataPipe"),
]


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe[Sample]):
    """All samples of one pipe, then all of the next (functional name: ``concat``).

    Raises:
        TypeError: something that is no pipe.
        ValueError: no pipes.
    """

    def __init__(self, *datapipes: IterDataPipe[Sample]) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Sample]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(length_of(self, self.datapipes))


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe[tuple[Sample, ...]]):
    """Tuples of a sample of each pipe, until one ends (functional name: ``zip``).

    Raises:
        TypeError: something that is no pipe.
    """

    def __init__(self, *datapipes: IterDataPipe[Sample]) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__()
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[tuple[Sample, ...]]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(length_of(self, self.datapipes))


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe[Sample]):
    """Samples of each pipe in turn, in whole rounds (functional name: ``mux``)."""

    def __init__(self, *datapipes: IterDataPipe[Sample]) -> None:
        self.datapipes = datapipes
        self.buffer: list[Sample] = []

    def __iter__(self) -> Iterator[Sample]:
        for samples in zip(*self.datapipes, strict=False):
            self.buffer = list(samples)
            yield from self.buffer
        self.buffer = []

    def __len__(self) -> int:
        return min(length_of(self, self.datapipes)) * len(self.datapipes)

    def reset(self) -> None:
        """Forget the round that was begun."""
        self.buffer = []

    def __getstate__(self) -> object:
        return self.state_of(
            (self.datapipes, self._valid_iterator_id, self._number_of_samples_yielded)
        )

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.datapipes, self._valid_iterator_id, self._number_of_samples_yielded = state
        self.buffer = []


class _Shared(IterDataPipe[Sample]):
    """What the pipes made of one pipe share: its iterator, and what was read for others."""

    _what = ""

    def __init__(
        self, datapipe: IterDataPipe[Sample], num_instances: int, buffer_size: int
    ) -> None:
        self.main_datapipe, self.num_instances = datapipe, num_instances
        self.buffer_size = buffer_size
        if buffer_size < 0:
            warnings.warn(
                f"Unlimited buffer size is set for `{self._what}`, "
                "please be aware of OOM at random places",
                UserWarning,
                stacklevel=3,
            )
        self._forget()

    def _forget(self) -> None:
        self._datapipe_iterator: Iterator[Sample] | None = None
        self._ended = False
        self._child_stop = [True] * self.num_instances
        self.child_buffers: list[deque[Sample]] = [deque() for _ in range(self.num_instances)]

    def reset(self) -> None:
        """Forget what was read, and begin with the source anew."""
        self._forget()

    def _begun(self, instance_id: int) -> None:
        """Begin with the source, unless another child has."""
        if self._datapipe_iterator is None and self._child_stop[instance_id]:
            self._datapipe_iterator = iter(self.main_datapipe)
            self._snapshot_state, self._ended = _SnapshotState.Iterating, False
            self._child_stop = [False] * self.num_instances

    def _read(self) -> Sample:
        """The next sample of the source.

        Raises:
            StopIteration: there is none.
        """
        if self._ended:
            raise StopIteration
        if self._datapipe_iterator is None:
            raise ValueError(
                "_datapipe_iterator has not been set, likely because this private method is called "
                "directly without invoking get_next_element_by_instance() first."
            )
        try:
            return next(self._datapipe_iterator)
        except StopIteration:
            self._datapipe_iterator, self._ended = None, True
            raise

    def get_next_element_by_instance(self, instance_id: int) -> Iterator[Sample]:
        """The samples of one child."""
        self._begun(instance_id)
        buffer = self.child_buffers[instance_id]
        try:
            while not self._child_stop[instance_id]:
                try:
                    sample = buffer.popleft() if buffer else self._find_next(instance_id)
                except StopIteration:
                    return
                yield self._given(sample)
        finally:
            self._end(instance_id)

    def _find_next(self, instance_id: int) -> Sample:
        """Read the source until there is a sample for a child; others' are kept for them."""
        raise NotImplementedError

    def _given(self, sample: Sample) -> Sample:  # type: ignore[misc]  # one of its own
        return sample

    def _end(self, instance_id: int) -> None:
        """One child reads no more: what was kept for it is dropped."""
        self._child_stop[instance_id] = True
        if all(self._child_stop):
            self._datapipe_iterator = None
        dropped = self.child_buffers[instance_id]
        while dropped:
            self._dropped(dropped.popleft())

    def _dropped(self, sample: object) -> None:
        StreamWrapper.close_streams(sample)

    def is_every_instance_exhausted(self) -> bool:
        """Whether the source has ended, and all children have read what there was."""
        return self._ended and all(self._child_stop)

    def get_length_by_instance(self, instance_id: int) -> int:
        """How many samples a child has.

        Raises:
            TypeError: nobody knows.
        """
        raise TypeError

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._forget()

    def __getstate__(self) -> object:
        made = ("_datapipe_iterator", "_ended", "_child_stop", "child_buffers")
        return self.state_of({k: v for k, v in vars(self).items() if k not in made})

    def __del__(self) -> None:
        for buffer in vars(self).get("child_buffers", ()):
            StreamWrapper.close_streams(list(buffer))


class _ForkerIterDataPipe(_Shared[Sample]):
    """The same samples for every child: what one reads is kept for all others."""

    _what = "fork"

    def __init__(
        self, datapipe: IterDataPipe[Sample], num_instances: int, buffer_size: int, copy: str | None
    ) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        ways = {None: _itself, "shallow": copying.copy, "deep": copying.deepcopy}
        if copy not in ways:
            raise ValueError(
                f"Unknown copy method `{copy}` requested, choose one of None, `shallow` or `deep`."
            )
        self.copy_fn: Callable[[Sample], Sample] = ways[copy]

    def __len__(self) -> int:
        return len(self.main_datapipe)

    def _find_next(self, instance_id: int) -> Sample:
        sample = self._read()
        for child, buffer in enumerate(self.child_buffers):
            if child == instance_id:
                continue
            buffer.append(sample)
            if 0 <= self.buffer_size < len(buffer):
                raise BufferError(
                    "ForkerIterDataPipe buffer overflow,"
                    f"buffer size {self.buffer_size} is insufficient."
                )
        return sample

    def _given(self, sample: Sample) -> Sample:  # type: ignore[misc]  # one of its own
        return self.copy_fn(sample)

    def _dropped(self, sample: object) -> None:
        """Close its streams, if no other child reads it."""
        if all(self._child_stop):
            super()._dropped(sample)

    def get_length_by_instance(self, instance_id: int) -> int:
        """As many samples as the source has."""
        return len(self)


def _itself(sample: Item) -> Item:
    return sample


@functional_datapipe("fork")
class ForkerIterDataPipe(IterDataPipe[Sample]):
    """Several pipes of the same samples (functional name: ``fork``).

    Args:
        num_instances: how many.
        buffer_size: how many samples one may be ahead of another; -1 for any number.
        copy: "shallow" or "deep" gives each of them copies of the samples.

    Raises:
        ValueError: no pipes, or another way to copy.
    """

    def __new__(
        cls,
        datapipe: IterDataPipe[Sample],
        num_instances: int,
        buffer_size: int = 1000,
        copy: str | None = None,
    ) -> Any:
        _check_number(num_instances)
        if num_instances == 1:
            return datapipe
        shared = _ForkerIterDataPipe(datapipe, num_instances, buffer_size, copy)
        return [_ChildDataPipe(shared, child) for child in range(num_instances)]


def _check_number(num_instances: int) -> None:
    if num_instances < 1:
        raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")


class _DemultiplexerIterDataPipe(_Shared[Sample]):
    """Each sample for one child."""

    _what = "demux"

    def __init__(
        self,
        datapipe: IterDataPipe[Sample],
        num_instances: int,
        classifier_fn: Callable[[Sample], int | None],
        drop_none: bool,
        buffer_size: int,
    ) -> None:
        super().__init__(datapipe, num_instances, buffer_size)
        self.classifier_fn, self.drop_none = classifier_fn, drop_none

    @property
    def current_buffer_usage(self) -> int:
        """How many samples are kept."""
        return sum(map(len, self.child_buffers))

    def _find_next(self, instance_id: int) -> Sample:
        while True:
            sample = self._read()
            child = self.classifier_fn(sample)
            if child == instance_id:
                return sample
            if child is None and self.drop_none:
                StreamWrapper.close_streams(sample)
                continue
            if child is None or not 0 <= child < self.num_instances:
                raise ValueError(
                    "Output of the classification fn should be between 0 and "
                    f"{self.num_instances - 1}. {child} is returned."
                )
            self.child_buffers[child].append(sample)
            if 0 <= self.buffer_size < self.current_buffer_usage:
                raise BufferError(
                    "DemultiplexerIterDataPipe buffer overflow, "
                    f"buffer size {self.buffer_size} is insufficient."
                )


@functional_datapipe("demux")
class DemultiplexerIterDataPipe(IterDataPipe[Sample]):
    """Several pipes, each of the samples that a function gives it (functional name: ``demux``).

    Args:
        num_instances: how many.
        classifier_fn: the number of the pipe that a sample is for.
        drop_none: leave out samples for which it gives None.
        buffer_size: how many samples are kept for pipes that have not read them; -1 for any number.

    Raises:
        ValueError: no pipes.
    """

    def __new__(
        cls,
        datapipe: IterDataPipe[Sample],
        num_instances: int,
        classifier_fn: Callable[[Sample], int | None],
        drop_none: bool = False,
        buffer_size: int = 1000,
    ) -> Any:
        _check_number(num_instances)
        shared = _DemultiplexerIterDataPipe(
            datapipe, num_instances, checked_function(classifier_fn), drop_none, buffer_size
        )
        return [_ChildDataPipe(shared, child) for child in range(num_instances)]


class _ChildDataPipe(IterDataPipe[Sample]):
    """One of the pipes made of one: a new iterator of it ends all iterators of its generation."""

    _is_child_datapipe = True

    def __init__(self, main_datapipe: _Shared[Sample], instance_id: int) -> None:
        if not isinstance(main_datapipe, _Shared):
            raise AssertionError("main_datapipe must implement _ContainerTemplate")
        self.main_datapipe, self.instance_id = main_datapipe, instance_id

    def __iter__(self) -> Iterator[Sample]:
        return self.main_datapipe.get_next_element_by_instance(self.instance_id)

    def __len__(self) -> int:
        return self.main_datapipe.get_length_by_instance(self.instance_id)

    def _set_main_datapipe_valid_iterator_id(self) -> int | None:
        """Join the generation of the others, or begin a new one if this pipe is in it already."""
        shared = self.main_datapipe
        if shared._valid_iterator_id is None:
            shared._valid_iterator_id = 0
        elif shared._valid_iterator_id == self._valid_iterator_id:
            shared._valid_iterator_id += 1
            if not shared.is_every_instance_exhausted():
                warnings.warn(
                    "Some child DataPipes are not exhausted when __iter__ is called. We are "
                    "resetting the buffer and each child DataPipe will read from the start again.",
                    UserWarning,
                    stacklevel=2,
                )
            shared.reset()
        self._valid_iterator_id = shared._valid_iterator_id
        return self._valid_iterator_id

    def _check_valid_iterator_id(self, iterator_id: int) -> bool:
        """Whether an iterator of that generation goes on."""
        return iterator_id == self._valid_iterator_id == self.main_datapipe._valid_iterator_id

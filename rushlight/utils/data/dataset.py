"""Sets of samples: anything with `__getitem__`, or something to iterate over."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, Protocol, TypeVar

from ...module_names import names_of
from ...ops.eager.dispatch import eager_function
from ...ops.random_numbers.random import Generator
from ...ops.tensors.tensor import Tensor

__all__ = [
    *("ChainDataset", "ConcatDataset", "Dataset", "IterableDataset", "StackDataset", "Subset"),
    *("TensorDataset", "random_split"),
]

Sample = TypeVar("Sample", covariant=True)


class Indexed(Protocol[Sample]):
    """What has samples by number: a `Dataset`, or a list."""

    def __getitem__(self, index: int, /) -> Sample: ...


def _length(dataset: object) -> int:
    return len(dataset)  # type: ignore[arg-type]  # a set may have one


class Dataset(Generic[Sample]):
    """Samples by their number; subclasses define `__getitem__` and mostly `__len__`."""

    def __getitem__(self, index: Any) -> Sample:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[Sample]) -> ConcatDataset[Sample] | ChainDataset[Sample]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[Sample]):
    """Samples that come one after the other; subclasses define `__iter__`."""

    def __iter__(self) -> Iterator[Sample]:
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")

    def __add__(self, other: Dataset[Sample]) -> ChainDataset[Sample]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Tensors of the same first size; a sample is a row of each."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: object) -> tuple[Tensor, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Several sets side by side: samples are tuples, or dicts of named sets."""

    def __init__(self, *args: Indexed[object], **kwargs: Indexed[object]) -> None:
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        if args and kwargs:
            raise ValueError("Supported either ``tuple``- or ``dict``- like construction.")
        self.datasets: tuple[Indexed[object], ...] | dict[str, Indexed[object]] = args or kwargs
        lengths = {_length(each) for each in (args or kwargs.values())}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __getitems__(self, indices: Sequence[int]) -> Sequence[object]:
        """Several samples at once, asked of each set in the same way where it can."""
        sets = self.datasets
        parts = sets.values() if isinstance(sets, dict) else sets
        rows = list(zip(*(_items(each, indices) for each in parts), strict=True))
        if isinstance(sets, dict):
            return [dict(zip(sets, row, strict=True)) for row in rows]
        return rows

    def __len__(self) -> int:
        return self._length


def _items(dataset: Indexed[object], indices: Sequence[int]) -> Sequence[object]:
    """Samples of a set.

    Raises:
        ValueError: it gave another number of them.
    """
    at_once = getattr(dataset, "__getitems__", None)
    if not callable(at_once):
        return [dataset[index] for index in indices]
    items: Sequence[object] = at_once(indices)
    if len(items) != len(indices):
        raise ValueError(
            f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}"
        )
    return items


class ConcatDataset(Dataset[Sample]):
    """Several sets, one after the other."""

    def __init__(self, datasets: Iterable[Indexed[Sample]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Indexed[Sample]]) -> list[int]:
        """How many samples there are up to the end of each set."""
        return list(accumulate(map(_length, sequence)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Sample:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset[Sample]):
    """Several sets to iterate over, one after the other."""

    def __init__(self, datasets: Iterable[Dataset[Sample]]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Sample]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(map(_length, self._streams()))

    def _streams(self) -> Iterator[IterableDataset[Sample]]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset


class Subset(Dataset[Sample]):
    """The samples of a set at given numbers.

    Raises:
        NotImplementedError: a subclass gives samples in a way of its own, but not several.
    """

    def __init__(self, dataset: Indexed[Sample], indices: Sequence[int]) -> None:
        own = type(self)
        if own.__getitem__ is not Subset.__getitem__ and own.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{own.__name__} overrides __getitem__ but not __getitems__. When subclassing "
                "Subset and overriding __getitem__, you must also override __getitems__ to ensure "
                "DataLoader works correctly with your custom logic. A simple implementation:\n\n"
                "def __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )
        self.dataset: Any = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> Sequence[Sample]:
        """Samples, all at once where the set gives several."""
        keys = [self.indices[index] for index in indices]
        at_once = getattr(self.dataset, "__getitems__", None)
        found: Sequence[Sample] = (
            at_once(keys) if callable(at_once) else list(map(self.dataset.__getitem__, keys))
        )
        return found

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Indexed[Sample], lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Sample]]:
    """A set cut at random into parts of given lengths, or given fractions of the whole.

    Raises:
        ValueError: the lengths do not sum up to that of the set.
    """
    size = _length(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        if any(part < 0 or part > 1 for part in lengths):
            raise ValueError("Fraction at index 0 is not between 0 and 1")
        counts = [math.floor(size * part) for part in lengths]
        for i in range(size - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = [int(part) for part in lengths]
    if sum(counts) != size:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    for place, count in enumerate(counts):
        if not count:
            warnings.warn(
                f"Length of split at index {place} is 0. This might result in an empty dataset.",
                stacklevel=2,
            )
    order = eager_function("aten::randperm")(size, generator=generator).tolist()
    ends = accumulate(counts)
    return [Subset(dataset, order[end - n : end]) for end, n in zip(ends, counts, strict=True)]


__getattr__ = names_of(__name__)

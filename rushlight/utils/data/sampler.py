"""The order in which samples come; random orders are those that torch draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Generic, TypeVar

from ...ops.eager.dispatch import eager_function
from ...ops.memory.dtype import DTYPES
from ...ops.random_numbers.random import Generator
from ...ops.tensors.construct import as_tensor

__all__ = [
    *("BatchSampler", "RandomSampler", "Sampler", "SequentialSampler", "SubsetRandomSampler"),
    *("WeightedRandomSampler", "drawn_seed"),
]

Index = TypeVar("Index", covariant=True)


def drawn_seed(generator: Generator | None = None) -> int:
    """A random whole number of 63 bits."""
    empty = eager_function("aten::empty")((), dtype=DTYPES["int64"])
    return int(empty.random_(generator=generator).item())


class Sampler(Generic[Index]):
    """Gives numbers of samples, or lists of them."""

    def __iter__(self) -> Iterator[Index]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All numbers in order."""

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _check_count(count: int, *, or_bool: bool = True) -> None:
    if not isinstance(count, int) or (isinstance(count, bool) and not or_bool) or count <= 0:
        raise ValueError(
            f"num_samples should be a positive integer value, but got num_samples={count}"
        )


def _check_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")


class RandomSampler(Sampler[int]):
    """The numbers in random order; with replacement, or more of them than there are, if asked."""

    def __init__(
        self,
        data_source: list[int],
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many numbers come."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(drawn_seed())
        size = len(self.data_source)
        if self.replacement:
            for count in (*[32] * (self.num_samples // 32), self.num_samples % 32):
                drawn = eager_function("aten::randint")(
                    high=size, size=(count,), dtype=DTYPES["int64"], generator=generator
                )
                yield from drawn.tolist()
            return
        whole, rest = divmod(self.num_samples, size) if size else (0, 0)
        for count in (*[size] * whole, rest):  # the last order is drawn even if nothing is left
            order = eager_function("aten::randperm")(size, generator=generator)
            yield from order.tolist()[:count]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given numbers in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        order = eager_function("aten::randperm")(len(self.indices), generator=self.generator)
        yield from (self.indices[i] for i in order.tolist())

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Numbers drawn with given weights."""

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        _check_count(num_samples, or_bool=False)
        _check_flag("replacement", replacement)
        self.weights = as_tensor(weights, dtype=DTYPES["float64"])
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement = num_samples, replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = eager_function("aten::multinomial")(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from drawn.tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the numbers of another sampler."""

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        _check_flag("drop_last", drop_last)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(islice(numbers, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        whole = count // self.batch_size
        return whole if self.drop_last else whole + (count % self.batch_size > 0)

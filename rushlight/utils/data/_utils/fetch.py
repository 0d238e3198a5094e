"""`torch.utils.data._utils.fetch`: what loads the batch of some keys, or the next of a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .rows import rows_at_once

__all__ = ["_BaseDatasetFetcher", "_IterableDatasetFetcher", "_MapDatasetFetcher"]


class _BaseDatasetFetcher:
    """Loads samples, put together if `auto_collation`.

    Args:
        collate_fn: makes a batch of a list of samples, or something of a single one.
        drop_last: whether a last batch of a stream that is not full is left out.
    """

    def __init__(
        self,
        dataset: Any,
        auto_collation: bool,
        collate_fn: Callable[[Any], object],
        drop_last: bool,
    ) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: object) -> object:
        """What there is for a key, or for a list of them.

        Raises:
            StopIteration: a stream has ended.
        """
        raise NotImplementedError


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Loads samples that come one after the other."""

    def __init__(
        self,
        dataset: Iterable[object],
        auto_collation: bool,
        collate_fn: Callable[[Any], object],
        drop_last: bool,
    ) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter, self.ended = iter(dataset), False

    def fetch(self, possibly_batched_index: Any) -> object:
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        batch = []
        for _ in possibly_batched_index:
            try:  # `iter()` is asked once: sets that are their own iterators begin anew by it
                batch.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and self.ended):
            raise StopIteration
        return self.collate_fn(batch)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Loads samples by their keys."""

    def fetch(self, possibly_batched_index: Any) -> object:
        keys, dataset, collate = possibly_batched_index, self.dataset, self.collate_fn
        if not self.auto_collation:
            return collate(dataset[keys])
        rows = rows_at_once(dataset, keys, collate)
        if rows is not None:
            return rows
        if hasattr(dataset, "__getitems__") and dataset.__getitems__:
            return collate(dataset.__getitems__(keys))
        return collate([dataset[key] for key in keys])

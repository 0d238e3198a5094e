"""Streams of what a function makes of samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..._utils.collate import default_collate
from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe
from ..utils.common import checked_function, length_of, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe", "of_columns"]

R = TypeVar("R")


def of_columns(fn: Callable[..., R], data: Any, columns: object) -> R:
    """What a function makes of a sample, or of some columns of it."""
    if columns is None:
        return fn(data)
    if isinstance(columns, list | tuple):
        return fn(*(data[column] for column in columns))
    return fn(data[columns])


def _with_result(data: Any, result: object, inputs: Any, output: Any) -> object:
    """A sample with a result put in the place of its inputs, at an output, or at the end (-1)."""
    changed = list(data) if isinstance(data, tuple) else data
    if output == -1:
        changed.append(result)
    elif output is not None:
        changed[output] = result
    elif isinstance(inputs, list | tuple):
        changed[inputs[0]] = result
        for column in sorted(inputs[1:], reverse=True):
            del changed[column]
    else:
        changed[inputs] = result
    return tuple(changed) if isinstance(data, tuple) else changed


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """What a function makes of each sample (functional name: ``map``).

    Args:
        fn: the function.
        input_col: the column (number or key) that it is given, or several; None: the sample.
        output_col: where its result goes: -1 for a new last column, None for the first of
            `input_col`, the others of which are left out. Lists and dicts are written in place.

    Raises:
        ValueError: an output without an input, several outputs, or a function of other arguments.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[object],
        fn: Callable[..., object],
        input_col: object = None,
        output_col: object = None,
    ) -> None:
        super().__init__()
        self.datapipe, self.fn, self.input_col = datapipe, checked_function(fn), input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, list | tuple):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: object) -> object:
        result = of_columns(self.fn, data, self.input_col)
        if self.input_col is None:
            return result
        return _with_result(data, result, self.input_col, self.output_col)

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        return length_of(self, [self.datapipe])[0]


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as tensors (functional name: ``collate``): what a function makes of each of them.

    Args:
        conversion, collate_fn: the function, `default_collate` unless one is given.

    Raises:
        NotImplementedError: a dict of functions of columns, which torch has for data frames.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[object],
        conversion: Callable[..., object] = default_collate,
        collate_fn: Callable[..., object] | None = None,
    ) -> None:
        function = conversion if collate_fn is None else collate_fn
        if not callable(function):
            raise NotImplementedError(
                "collate: functions of columns are for torcharrow's data frames, of which there "
                "are none here; pass one function of a batch"
            )
        super().__init__(datapipe, fn=function)

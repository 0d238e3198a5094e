"""Streams of some of the samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..datapipe import IterDataPipe, Sample
from ..decorators import functional_datapipe
from ..utils.common import StreamWrapper, checked_function, validate_input_col
from .callable import of_columns

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Sample]):
    """The samples for which a function gives True (functional name: ``filter``).

    Args:
        filter_fn: the function.
        input_col: the column (number or key) that it is given, or several; None: the sample.

    Raises:
        ValueError: a function of other arguments, or, while it runs, of another result.
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Sample],
        filter_fn: Callable[..., object],
        input_col: object = None,
    ) -> None:
        super().__init__()
        self.datapipe, self.filter_fn = datapipe, checked_function(filter_fn)
        self.input_col = input_col
        validate_input_col(filter_fn, input_col)

    def __iter__(self) -> Iterator[Sample]:
        for data in self.datapipe:
            wanted = of_columns(self.filter_fn, data, self.input_col)
            if not isinstance(wanted, bool):
                raise ValueError(
                    "Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                    type(wanted),
                )
            if wanted:
                yield data
            else:
                StreamWrapper.close_streams(data)

"""Streams of what other streams hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe

__all__ = ["StreamReaderIterDataPipe"]


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[tuple[str, Any]]):
    """Names with what their streams hold (functional name: ``read_from_stream``).

    The streams are closed.

    Args:
        chunk: so much of it at a time; None for all.
    """

    def __init__(self, datapipe: IterDataPipe[tuple[str, Any]], chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for name, stream in self.datapipe:
            while read := stream.read(self.chunk):
                yield name, read
            stream.close()

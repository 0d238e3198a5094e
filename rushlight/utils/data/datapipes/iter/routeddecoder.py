"""Streams of decoded files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe
from ..utils.common import length_of
from ..utils.decoder import Decoder, Handler, basichandlers, extension_extract_fn, imagehandler

__all__ = ["RoutedDecoderIterDataPipe"]


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe[tuple[str, Any]]):
    """Paths with what their contents mean (functional name: ``routed_decode``).

    Args:
        datapipe: paths with contents or streams.
        handlers: decoders, the first of which goes before the others; those of common files and of
            images unless some are given.
        key_fn: the key of a path that they are told: its extension.
    """

    def __init__(
        self,
        datapipe: Iterable[tuple[str, object]],
        *handlers: Handler,
        key_fn: Callable[[str], str] = extension_extract_fn,
    ) -> None:
        super().__init__()
        self.datapipe = datapipe
        usual = (basichandlers, imagehandler("torch"))
        self.decoder = Decoder(*(handlers or usual), key_fn=key_fn)
        warnings.warn(
            f"`{type(self).__name__}()` and its functional API `.routed_decode()` are deprecated "
            "since 1.12 and will be removed in 1.13.\n"
            "See https://github.com/pytorch/data/issues/163 for details.",
            FutureWarning,
            stacklevel=2,
        )

    def add_handler(self, *handler: Handler) -> None:
        """Ask these decoders before the others."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        for data in self.datapipe:
            yield data[0], self.decoder(data)[data[0]]

    def __len__(self) -> int:
        return length_of(self, [self.datapipe])[0]

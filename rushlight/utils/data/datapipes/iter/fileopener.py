"""Streams of open files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..datapipe import IterDataPipe
from ..decorators import functional_datapipe
from ..utils.common import StreamWrapper, get_file_binaries_from_pathnames, without_length

__all__ = ["FileOpenerIterDataPipe"]


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[tuple[str, StreamWrapper]]):
    """Paths with their open files (functional name: ``open_files``).

    Args:
        mode: `"r"`, `"rt"` or `"t"` for text, `"rb"` or `"b"` for bytes.
        encoding: of text.
        length: what `len` gives, if it is known; -1 if not.

    Raises:
        ValueError: another mode, or an encoding of bytes.
    """

    def __init__(
        self,
        datapipe: Iterable[str],
        mode: str = "r",
        encoding: str | None = None,
        length: int = -1,
    ) -> None:
        super().__init__()
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length

    def __iter__(self) -> Iterator[tuple[str, StreamWrapper]]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise without_length(self)
        return self.length

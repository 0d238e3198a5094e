"""Files written whole or not at all; what cannot be written is told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..serialization.atomic_file import atomic_file
from .failure import CommandError

__all__ = ["replacing"]


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A file to write, which takes its place at `path` when the block ends without an error.

    Raises:
        CommandError: the file cannot be written.
    """
    try:
        with atomic_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None

"""Files written whole or not at all, and over others only by force; what cannot be written is told
in one line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..serialization.files.atomic_file import atomic_file
from .failure import CommandError

__all__ = ["refuse_existing", "replacing"]


def refuse_existing(paths: Iterable[str | os.PathLike[str]], force: bool) -> None:
    """Refuse to replace files.

    Raises:
        CommandError: one is there, and there is no `force`.
    """
    for path in paths:
        if not force and os.path.isfile(path):
            raise CommandError(f"{os.fspath(path)}: there is such a file; --force replaces it")


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, which takes its place at `path` when the block ends without an error.

    Raises:
        CommandError: the file cannot be written.
    """
    try:
        with atomic_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None

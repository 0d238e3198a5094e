"""The files that debuggers show: a program's own, or a copy of the text where it lies in none."""

from __future__ import annotations

import hashlib
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath

from ...frontend.source import Source
from ...ops.kernels.cache_folder import cache_folder

__all__ = ["file_of"]


def file_of(source: Source) -> str:
    """The name of a file that holds a source, at its line.

    Code of an archive is written to the user's cache, so that editors, debuggers and coverage find
    it; text that a shell or notebook keeps goes by the name that it has there.

    Raises:
        OSError: the copy cannot be written.
    """
    name = source.filename or "<string>"
    if source.function is not None or name.startswith("<") or Path(name).is_file():
        return name
    return _copy(source.text, source.first_line, name)


@cache
def _copy(text: str, first_line: int, name: str) -> str:
    digest = hashlib.sha256(f"{name}\n{first_line}\n{text}".encode()).hexdigest()[:16]
    base = cache_folder() or _temporary()
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..", "\\")]
    file = base.joinpath("sources", digest, *parts)
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n" * (first_line - 1) + text, encoding="utf-8")
    return str(file)


@cache
def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="rushlight-"))

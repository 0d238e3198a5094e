"""The files that debuggers show: a program's own, or a copy of the text where it lies in none."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from functools import cache
from pathlib import Path, PurePosixPath
from threading import get_ident
from typing import Final

from ...frontend.sources.source import Source
from ...ops.kernels.cache_folder import cache_folder

__all__ = ["file_of"]

_LONGEST: Final = 100
"""Characters of a file's name; the last ones, which say what it is."""


def file_of(source: Source) -> str:
    """The name of a file that holds a source, at its line.

    Code of an archive is written to the user's cache, so that editors, debuggers and coverage find
    it; text that a shell or notebook keeps goes by the name that it has there.

    Raises:
        OSError: the copy cannot be written.
    """
    name = source.filename or "<string>"
    if source.function is not None or name.startswith("<") or os.path.isfile(name):
        return name
    return _copy(source.text, source.first_line, name)


@cache
def _copy(text: str, first_line: int, name: str) -> str:
    whole = f"{name}\n{first_line}\n{text}".encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(whole).hexdigest()[:16]
    base = cache_folder() or _temporary()
    parts = [_part(part) for part in PurePosixPath(name).parts if part not in ("/", "..")]
    file = base.joinpath("sources", digest, *parts or ["code"])
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        begun = file.with_name(f"{digest}.{os.getpid()}.{get_ident()}")
        written = "\n" * (first_line - 1) + text
        begun.write_text(written, encoding="utf-8", errors="replace")
        begun.replace(file)  # which others may be reading
    return str(file)


def _part(name: str) -> str:
    """A name that a file may have, from what an archive says."""
    return re.sub(r"[^\w.+ -]", "_", name, flags=re.ASCII)[-_LONGEST:]


@cache
def _temporary() -> Path:
    return Path(tempfile.mkdtemp(prefix="rushlight-"))

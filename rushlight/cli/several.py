"""Commands over several files and folders: each is told of before the next is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from ..serialization.files.identify import (
    MOBILE,
    MOBILE_FLATBUFFER,
    SCRIPT_PACKAGE,
    TORCHSCRIPT,
    FileKind,
    identify,
)
from .failure import BAD_INPUT, CommandError, diagnostics_of, one_line, report
from .progress import progress
from .speech import complain, tell_lines

__all__ = ["ARCHIVES", "each_file", "files_in"]

ARCHIVES: Final = (TORCHSCRIPT, MOBILE, MOBILE_FLATBUFFER, SCRIPT_PACKAGE)
"""The kinds of files that hold programs."""


def files_in(words: Sequence[str], kinds: Collection[FileKind] | None = None) -> list[str]:
    """The files that are named, and those of some kinds (any, if None) in folders, each once.

    Hidden files and folders are passed over.

    Raises:
        CommandError: a folder holds no such file.
    """
    found: dict[str, None] = {}
    for word in words:
        inside = list(_in_folder(word, kinds)) if os.path.isdir(word) else [word]
        if not inside:
            raise CommandError(f"{word}: there is no such file in this folder")
        found.update(dict.fromkeys(inside))
    return list(found)


def _in_folder(top: str, kinds: Collection[FileKind] | None) -> Iterator[str]:
    for folder, inner, names in os.walk(top):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            path = os.path.join(folder, name)
            if not name.startswith(".") and (kinds is None or _kind(path) in kinds):
                yield path


def _kind(path: str) -> FileKind | None:
    try:
        return identify(path)
    except (OSError, RuntimeError):
        return None  # what cannot be read is of no kind that is wanted


def each_file(
    words: Sequence[str],
    work: Callable[[str], int],
    kinds: Collection[FileKind] | None = None,
    *,
    headed: bool = False,
) -> int:
    """Do something for each file named or in a folder; the result is the worst exit status.

    Of several files one that cannot be read is told, and the next is read.  `headed` puts the name
    of each above what is told of it, if there are several.
    """
    files = files_in(words, kinds)
    if list(words) == files and len(files) == 1:
        return work(files[0])
    status = 0
    for number, path in enumerate(progress(files, "reading", beside_output=True)):
        if headed:
            tell_lines([""] * (number > 0) + [f"{path}:"])
        try:
            status = max(status, work(path))
        except Exception as error:
            status = max(status, _tell(path, error))
        if sys.stdout is not None:
            sys.stdout.flush()
    return status


def _tell(path: str, error: Exception) -> int:
    """Tell what is wrong with one file of several; anything else goes on."""
    if isinstance(error, CommandError):
        complain(one_line(error))
    elif isinstance(error, OSError) and error.filename is not None:
        complain(f"{os.fsdecode(error.filename)}: {error.strerror or error}")
    elif diagnostics_of(error):
        complain(f"{path}:")
        report(error)
    else:
        raise error
    return BAD_INPUT

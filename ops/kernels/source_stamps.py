"""What tells the files of this library from those of its other versions.

Files are told apart by their names, sizes and times of change, as Python does for byte code.  What
they hold is read once, and its digest kept by those: reading all of it takes ten times as long as
looking, in each process anew.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Final

from .cache_folder import cache_folder
from .kept_files import keep, read_kept

__all__ = ["digest_of_contents", "digest_of_times"]

_SETTLED: Final = 2_000_000_000
"""Nanoseconds after which a file that is changed once more has another time."""


def digest_of_times(folders: Iterable[Path], without: Path | None = None) -> str:
    """By the names, sizes and times of change of all files in some folders, `without` those of one
    of them."""
    told, left_out = list[str](), str(without)
    for folder in folders:
        _look(str(folder), "", [], told, left_out)
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def digest_of_contents(folder: Path) -> str:
    """By the names of all files in a folder, and all that they hold."""
    files, told = list[str](), [str(folder)]
    latest = _look(str(folder), "", files, told)
    cache, name = cache_folder(), hashlib.sha256("\n".join(told).encode()).hexdigest()[:32]
    file = None if cache is None else cache / f"source-{name}.digest"
    kept = read_kept(file)
    if kept is not None:
        return kept.hex()
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.encode())
        digest.update((folder / path).read_bytes())
    if latest < time.time_ns() - _SETTLED:
        keep(file, digest.digest())
    return digest.hexdigest()


def _look(folder: str, inside: str, files: list[str], told: list[str], left_out: str = "") -> int:
    """Find the files in a folder, by their paths, and what tells them apart; gives the latest time.

    Byte code comes and goes: another process may be writing some; so does what editors put there.
    """
    latest = 0
    with os.scandir(folder) as found:
        entries = sorted(found, key=attrgetter("name"))
    for each in entries:
        path = inside + each.name
        if each.name == "__pycache__" or each.name.startswith("."):
            continue
        if each.is_dir():
            if each.path != left_out:
                latest = max(latest, _look(each.path, path + "/", files, told, left_out))
        else:
            about = each.stat()
            files.append(path)
            told.append(f"{path} {about.st_size} {about.st_mtime_ns}")
            latest = max(latest, about.st_mtime_ns)
    return latest

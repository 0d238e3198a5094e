"""The folder that native code is kept in between processes.

It is the user's own (`RUSHLIGHT_CACHE` names another, `off` switches it off).  It holds machine
code, so a folder that others may write to is not used.
"""

from __future__ import annotations

import os
import stat
import sys
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["CACHE_VARIABLE", "cache_folder", "made_folder"]

CACHE_VARIABLE: Final = "RUSHLIGHT_CACHE"


@cache
def cache_folder() -> Path | None:
    """The folder that compiled kernels are kept in; None if there is no safe one."""
    given = os.environ.get(CACHE_VARIABLE, "")
    if given.lower() == "off":
        return None
    if given:
        folder = Path(given)
    elif sys.platform == "win32":
        folder = Path(os.environ.get("LOCALAPPDATA", Path.home())) / "rushlight" / "kernels"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base) / "rushlight" / "kernels"
    return made_folder(folder)


def made_folder(folder: Path) -> Path | None:
    """A folder that is there from now on, for what is run; None if others may write to it, or it
    cannot be made."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if _is_safe(folder) else None
    except OSError:
        return None


def _is_safe(folder: Path) -> bool:
    """Whether the folder is ours and nobody else can write to it."""
    if not hasattr(os, "getuid"):
        return os.access(folder, os.W_OK)
    found = folder.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

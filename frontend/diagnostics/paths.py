"""How file names are shown: short where that loses nothing."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

__all__ = ["PACKAGE", "is_library_file", "is_own_file", "shown"]

PACKAGE = Path(__file__).resolve().parent.parent.parent
"""The directory that holds the parts: the installed package, or a checkout."""

_PARTS = "frontend typecheck ops ir interpreter serialization rushlight grammar".split()


@lru_cache(maxsize=4096)
def is_own_file(filename: str) -> bool:
    """Whether a file is one of rushlight's own."""
    if not (PACKAGE / "rushlight").is_dir():  # installed: everything here is ours
        return filename.startswith(str(PACKAGE) + os.sep)
    return any(filename.startswith(str(PACKAGE / part) + os.sep) for part in _PARTS)


@lru_cache(maxsize=1)
def _libraries() -> tuple[str, ...]:
    """The folders of Python's own modules and of installed ones, the longest first."""
    import sysconfig  # only errors need it

    names = ("purelib", "platlib", "stdlib", "platstdlib")
    found = {sysconfig.get_path(name) + os.sep for name in names}
    return tuple(sorted(found, key=len, reverse=True))


def is_library_file(filename: str | None) -> bool:
    """Whether a file belongs to Python, an installed package or rushlight: not to the user."""
    if filename is None:
        return False
    # Python 3.14 finds the source of modules that it has built in, under such names.
    return filename.startswith(("<frozen ", *_libraries())) or is_own_file(filename)


def shown(filename: str | None) -> str:
    """A file name for a message: relative to the working directory, the package or the library."""
    if filename is None:
        return "<string>"
    if not os.path.isabs(filename):
        return filename
    if is_own_file(filename):
        inside = Path(filename).relative_to(PACKAGE).as_posix()
        return "<rushlight>/" + inside.removeprefix("rushlight/")
    here = os.getcwd() + os.sep
    if filename.startswith(here):
        return filename[len(here) :]
    for library in _libraries():
        if filename.startswith(library):
            return filename[len(library) :].replace(os.sep, "/")
    return filename

"""`torch._utils_internal`: where files lie, and switches of a workplace that is not this one."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = [
    *("get_file_path_2", "get_writable_path", "is_fb_unit_test", "justknobs_check"),
    *("justknobs_getval_int", "resolve_library_path"),
]


def resolve_library_path(path: str) -> str:
    """The file that a path leads to, links followed."""
    return str(Path(path).resolve())


def get_file_path_2(*path_components: str) -> str:
    """The path of some parts."""
    return os.path.join(*path_components)


def get_writable_path(path: str) -> str:
    """A path if that may be written, else a new folder."""
    writable = os.access(path, os.W_OK)
    return path if writable else tempfile.mkdtemp(suffix=Path(path).name)


def justknobs_check(name: str, default: bool = True) -> bool:
    """Whether a switch is on: as is given for where there are none."""
    return default


def justknobs_getval_int(name: str) -> int:
    """The number of a switch: none is set."""
    return 0


def is_fb_unit_test() -> bool:
    """Whether tests of that workplace run: they never do."""
    return False

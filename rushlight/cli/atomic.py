"""Files written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from .failure import CommandError

__all__ = ["replace_file"]


def replace_file(path: str, write: Callable[[BinaryIO], object]) -> None:
    """Write a file beside the target and put it in its place at the end; a file that is there
    keeps its permissions.

    Raises:
        CommandError: the file cannot be written.
    """
    target = Path(path).resolve()
    temporary = ""
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CommandError(f"{path}: {error.strerror or error}") from None
        raise


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask

"""`save` and `load`."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from ..frontend.exceptions import trimmed
from ..serialization.limits import DEFAULT_LIMITS, Limits
from ..serialization.load import load_archive
from .function import ScriptFunction
from .module import ScriptModule, wrap

__all__ = ["check_location", "load", "save"]

File = str | Path | IO[bytes]


def save(
    m: ScriptModule | ScriptFunction, f: File, _extra_files: dict[str, Any] | None = None
) -> None:
    """Write a scripted module or function as a TorchScript archive.

    A file that is there is replaced when all is written, or stays as it was.

    Raises:
        OSError: the file cannot be written.
    """
    with trimmed():
        m.save(f, _extra_files)


def load(
    f: File,
    map_location: object = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
    *,
    trust: str = "full",
    limits: Limits = DEFAULT_LIMITS,
    mmap: bool | None = None,
) -> Any:
    """Open a TorchScript archive: a path, or a file object opened for reading bytes.

    Nothing in the file is executed or imported.  `_extra_files` names extra records to read; their
    contents are put into it.

    With `trust="none"` all code is compiled at once, operators that reach files, processes or
    networks are refused, and every call is bounded (`limits.running`: instructions, memory,
    seconds).  `limits` bounds what the file may ask for in any case.

    With `mmap`, which large files at a path get by default, the weights stay in the file until they
    are used; the file must not be changed in place meanwhile (writing it anew does no harm).

    Raises:
        RuntimeError: it is no TorchScript archive (the message says what it is), is damaged, or
            uses operators that do not exist here (all are named).
        ValueError: there is no such file.
    """
    if trust not in ("full", "none"):
        raise ValueError(f'trust is "full" or "none", not {trust!r}')
    check_location(map_location)
    with trimmed():
        if isinstance(f, str | Path) and not Path(f).exists():
            raise ValueError(f"The provided filename {f} does not exist")
        return wrap(load_archive(f, _extra_files, limits, trust != "none", mmap))


def check_location(map_location: object) -> None:
    """Accept what means the CPU: None, a name, a device, a dict or a function of locations.

    Raises:
        RuntimeError: it means another device.
    """
    if map_location is None or callable(map_location):
        return
    wanted = map_location.values() if isinstance(map_location, dict) else (map_location,)
    for location in wanted:
        if str(location).partition(":")[0] != "cpu":
            raise RuntimeError(f"map_location {map_location!r}: only 'cpu' exists here")
